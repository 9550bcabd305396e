"""The one HTTP client, against real servers on loopback."""

import logging
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.tls import TLSStream

from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.errors import InvalidInput, Refused, Unavailable
from outrider.core.http import Headers, HttpClient, HttpResponse, RequestLimits
from support.fakes.hostile_server import TRICKS, Trick, send_pieces, serve_hostile
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
PUBLIC = "93.184.215.14"


def serve_bytes(answer: Callable[[bytes], bytes]) -> Trick:
    """A server that answers each request with the bytes for its head."""

    async def trick(head, writer):
        writer.write(answer(head))

    return trick


def build_response(text: str, *headers: str) -> bytes:
    lines = [f"Content-Length: {len(text.encode())}", *headers]
    return ("HTTP/1.1 200 OK\r\n" + "\r\n".join(lines) + "\r\n\r\n" + text).encode()


def build_redirect(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


echo = serve_bytes(lambda head: build_response(head.decode()))


async def resolve_to_loopback(host):
    return ["127.0.0.1"]


@asynccontextmanager
async def open_client(*allow: str, resolve=resolve_to_loopback) -> AsyncGenerator[HttpClient]:
    http = HttpClient(EgressGuard(EgressSettings(allow=list(allow or ["127.0.0.1:*"])), resolve))
    try:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            yield http
    finally:
        await http.close()


def port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


async def test_a_reply_reports_its_address_redirects_and_headers():
    def answer(head):
        if b"/old" in head:
            return build_redirect("/new?x=1#part")
        return build_response(
            "{}", "Content-Type: Application/JSON ; Charset='UTF-8'", "Set-Cookie: a=1", "Set-Cookie: b=2"
        )

    async with serve_hostile(serve_bytes(answer)) as url, open_client() as http:
        reply = await http.get(f"{url}/old#top")
    assert (reply.url, reply.status, reply.body) == (f"{url}/new?x=1", 200, b"{}")
    assert reply.redirects == (f"{url}/old",)
    assert (reply.content_type, reply.charset, reply.is_truncated) == ("application/json", "utf-8", False)
    assert reply.headers["SET-COOKIE"] == "a=1, b=2"
    assert reply.headers.get_all("set-cookie") == ["a=1", "b=2"]
    assert reply.json() == {}


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 404, 418, 429, 500, 503, 599])
async def test_no_status_is_an_error(status):
    head = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()
    async with serve_hostile(send_pieces([head], close=False)) as url, open_client() as http:
        assert (await http.get(url)).status == status


async def test_a_redirect_status_without_a_location_is_a_reply():
    async with (
        serve_hostile(send_pieces([b"HTTP/1.1 302 X\r\nContent-Length: 2\r\n\r\nhi"])) as url,
        open_client() as http,
    ):
        assert (await http.get(url)).body == b"hi"


def test_undeclared_properties_of_a_reply_are_empty():
    reply = HttpResponse("https://example.com/", 200, Headers(), b"<p>")
    assert (reply.content_type, reply.charset) == ("", None)
    with pytest.raises(Unavailable) as caught:
        reply.json()
    assert caught.value.code == "bad_json"
    assert "example.com" in caught.value.message


async def test_parameters_headers_and_json_are_sent():
    async with serve_hostile(echo) as url, open_client() as http:
        seen = (
            await http.request(
                "post",
                f"{url}/a?z=0",
                params={"q": "tea & milk", "n": 3, "none": None, "l": ["a", "b"], "t": True},
                headers={"X-Key": "v", "Host": "evil.example", "Content-Length": "9"},
                json={"ü": 1},
            )
        ).body.decode()
    assert seen.startswith("POST /a?z=0&q=tea+%26+milk&n=3&l=a&l=b&t=true HTTP/1.1\r\n")
    assert f"host: 127.0.0.1:{port_of(url)}\r\n" in seen
    assert "evil" not in seen
    assert "x-key: v\r\n" in seen
    assert "content-type: application/json\r\n" in seen
    assert "content-length: 8\r\n" in seen


@pytest.mark.parametrize(
    "headers", [{"X": "a\r\nY: b"}, {"X\n": "a"}, {"X": "€"}, {"X y": "a"}, {"": "a"}, {"X": "a\x00"}]
)
async def test_a_header_that_cannot_be_sent_is_named_without_its_value(headers):
    async with open_client() as http:
        with pytest.raises(InvalidInput) as caught:
            await http.get("http://127.0.0.1/", headers=headers)
    assert caught.value.code == "bad_header"
    assert "b" not in caught.value.message.replace("be", "")


# Method and status of a redirect, and the method afterwards, as in browsers.
METHODS = [
    ("POST", 301, "GET"),
    ("POST", 302, "GET"),
    ("POST", 303, "GET"),
    ("POST", 307, "POST"),
    ("POST", 308, "POST"),
    ("PUT", 301, "PUT"),
    ("PUT", 303, "GET"),
    ("GET", 303, "GET"),
    ("HEAD", 303, "HEAD"),
    ("HEAD", 302, "HEAD"),
]


@pytest.mark.parametrize(("method", "status", "then"), METHODS)
async def test_the_method_after_a_redirect_is_the_one_browsers_use(method, status, then):
    seen = []

    def answer(head):
        seen.append(head.decode())
        return build_redirect("/new", status) if b"/old" in head else b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    content = None if method in ("GET", "HEAD") else ""
    async with serve_hostile(serve_bytes(answer)) as url, open_client() as http:
        await http.request(method, f"{url}/old", content=content, headers={"content-type": "text/plain"})
    assert seen[-1].startswith(f"{then} /new ")
    assert ("content-type" in seen[-1]) == (then == method)


async def test_credentials_stay_with_their_origin():
    secrets = {"Authorization": "Bearer s3cret", "X-Api-Key": "s3cret", "Cookie": "s3cret", "Accept": "text/html"}
    async with serve_hostile(echo) as other, open_client() as http:
        hop = serve_bytes(lambda head: build_redirect(f"{other}/there") if b"/out" in head else build_redirect("/out"))
        async with serve_hostile(hop) as url:
            there = (await http.get(f"{url}/?key=s3cret", headers=secrets)).body.decode()
        here = (await http.get(other, headers=secrets)).body.decode()
    assert here.count("s3cret") == 3
    assert "s3cret" not in there
    assert "accept: text/html" in there


async def test_cookies_do_not_persist():
    async with (
        serve_hostile(serve_bytes(lambda head: build_response(head.decode(), "Set-Cookie: id=1"))) as url,
        open_client() as http,
    ):
        await http.get(url)
        assert b"cookie" not in (await http.get(url)).body.lower()


async def test_proxies_of_the_environment_are_ignored(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serve_hostile(echo) as url, open_client() as http:
        assert (await http.get(url)).status == 200


async def test_a_private_address_is_refused_without_a_connection():
    seen = []
    async with (
        serve_hostile(serve_bytes(lambda head: seen.append(head) or build_response(""))) as url,
        open_client("10.0.0.1") as http,
    ):
        for address in (url, f"http://localhost:{port_of(url)}", f"http://rebound.example:{port_of(url)}"):
            with pytest.raises(Refused):
                await http.get(address)
    assert seen == []


async def test_the_vetted_address_is_the_one_that_is_dialled():
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])

    async def rebinding(host):
        return next(answers)

    closing = send_pieces([b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"])
    async with serve_hostile(closing) as url, open_client("127.0.0.1:*", resolve=rebinding) as http:
        address = f"http://rebinding.example:{port_of(url)}/"
        assert (await http.get(address)).body == b"hi"
        with pytest.raises(Refused) as caught:
            await http.get(address)
    assert "127.0.0.2" in caught.value.message


async def test_the_host_header_stays_the_name_when_a_forbidden_address_is_skipped():
    async def resolve_to_mixed(host):
        return ["10.0.0.1", "127.0.0.1"]

    async with serve_hostile(echo) as url, open_client("127.0.0.1:*", resolve=resolve_to_mixed) as http:
        body = (await http.get(f"http://Bücher.example:{port_of(url)}/")).body.decode()
    assert f"host: xn--bcher-kva.example:{port_of(url)}\r\n" in body


async def test_an_unreachable_address_does_not_hide_a_reachable_one():
    async def two(host):
        return ["127.0.0.9", "127.0.0.1"]

    async with serve_hostile(echo) as url, open_client("127.0.0.0/8:*", resolve=two) as http:
        assert (await http.get(f"http://two.example:{port_of(url)}/")).status == 200


async def test_connections_are_kept_and_a_closed_one_is_replaced():
    peers = set()

    async def trick(head, writer):
        peers.add(writer.get_extra_info("peername"))
        writer.write(build_response("x"))
        await writer.drain()
        if b"/last" in head:
            raise ConnectionAbortedError

    async with serve_hostile(trick) as url, open_client() as http:
        for path in ("/1", "/2", "/last"):
            await http.get(url + path)
        assert len(peers) == 1
        assert (await http.get(url)).body == b"x"
        assert len(peers) == 2


async def test_a_smuggled_response_is_never_read():
    async with serve_hostile(TRICKS["smuggled_answer"]) as url, open_client() as http:
        for _ in range(3):
            assert (await http.get(url)).body == b"first"


async def test_a_trusted_connection_to_a_private_address_is_not_reused_for_others():
    async with serve_hostile(echo) as url, open_client("10.0.0.1") as http:
        assert (await http.get(url, trusted=True)).status == 200
        with pytest.raises(Refused):
            await http.get(url)


async def test_trust_ends_at_the_origin():
    async with serve_hostile(echo) as other, open_client("10.0.0.1") as http:
        hop = serve_bytes(
            lambda head: (
                build_redirect(f"{other}/")
                if b"/out" in head
                else build_redirect("/out")
                if b"/in" in head
                else build_response("")
            )
        )
        async with serve_hostile(hop) as url:
            with pytest.raises(Refused):
                await http.get(f"{url}/in", trusted=True)


async def test_a_body_at_the_limit_passes_and_one_byte_more_is_refused_or_cut():
    async with serve_hostile(serve_bytes(lambda _: build_response("x" * 1000))) as url, open_client() as http:
        exact = await http.get(url, limits=RequestLimits(max_body_bytes=1000), cut=True)
        assert (len(exact.body), exact.is_truncated) == (1000, False)
        less = await http.get(url, limits=RequestLimits(max_body_bytes=999), cut=True)
        assert (len(less.body), less.is_truncated) == (999, True)
        with pytest.raises(Unavailable) as caught:
            await http.get(url, limits=RequestLimits(max_body_bytes=999))
    assert caught.value.code == "too_large"


async def test_a_head_response_has_no_body_whatever_length_it_declares():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"
    async with serve_hostile(send_pieces([head], close=False)) as url, open_client() as http:
        assert (await http.request("HEAD", url)).body == b""


async def test_as_many_redirects_as_the_limit_are_followed():
    async with serve_hostile(TRICKS["redirect_chain"]) as url, open_client() as http:
        with pytest.raises(Unavailable) as caught:
            await http.get(url, limits=RequestLimits(max_redirects=3))
    assert caught.value.code == "redirects"
    chain = serve_bytes(
        lambda head: build_response("end") if b"/3" in head else build_redirect(f"/{int(head[5:6]) + 1}")
    )
    async with serve_hostile(chain) as url, open_client() as http:
        assert (await http.get(f"{url}/0", limits=RequestLimits(max_redirects=3))).body == b"end"


async def test_a_closed_port_and_a_missing_name_have_their_codes():
    async def nothing(host):
        raise Unavailable("no", code="dns")

    async with open_client() as http:
        with pytest.raises(Unavailable) as closed:
            await http.get("http://127.0.0.1:9/?key=s3cret")
    async with open_client(resolve=nothing) as http:
        with pytest.raises(Unavailable) as missing:
            await http.get("http://missing.example/?key=s3cret")
    assert (closed.value.code, missing.value.code) == ("connect", "dns")
    assert "s3cret" not in f"{closed.value.to_dict()}{missing.value.to_dict()}"


async def test_a_resolver_that_hangs_is_cut_off_at_the_deadline():
    async def hang(host):
        await anyio.sleep_forever()
        return []

    async with open_client(resolve=hang) as http:
        with pytest.raises(Unavailable) as caught:
            await http.get("http://slow.example/", limits=RequestLimits(timeout_s=0.2))
    assert caught.value.code == "timeout"


async def test_a_cancelled_request_leaves_the_client_usable():
    async with (
        serve_hostile(serve_bytes(lambda head: b"" if b"/hang" in head else build_response("x"))) as url,
        open_client() as http,
    ):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(http.get, f"{url}/hang")
            assert (await http.get(url)).body == b"x"
            tasks.cancel_scope.cancel()
        assert (await http.get(url)).body == b"x"


async def test_no_log_holds_a_credential(caplog):
    caplog.set_level(logging.DEBUG)
    async with serve_hostile(echo) as url, open_client() as http:
        await http.get(f"{url}/?key=s3cret", headers={"Authorization": "s3cret"})
        with suppress(Unavailable):
            await http.get("http://127.0.0.1:9/?key=s3cret", headers={"Authorization": "s3cret"})
    assert "s3cret" not in caplog.text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for secure.example, as a PEM file with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=secure.example")
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(made.public_bytes(encoding) + private)
    return path


@asynccontextmanager
async def serve_tls(certificate) -> AsyncGenerator[tuple[int, list[str | None]]]:
    """Serve TLS; yields the port and the names that clients requested."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    names: list[str | None] = []
    context.sni_callback = lambda _sock, name, _context: names.append(name)

    async def answer(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError, ssl.SSLError):
                secure = await TLSStream.wrap(stream, server_side=True, ssl_context=context, standard_compatible=False)
                while True:
                    await secure.receive()
                    await secure.send(build_response("secure"))

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        yield listener.extra(SocketAttribute.local_port), names
        tasks.cancel_scope.cancel()


async def test_the_certificate_and_sni_are_checked_against_the_name(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with serve_tls(certificate) as (port, names), open_client() as http:
        assert (await http.get(f"https://secure.example:{port}/")).body == b"secure"
        assert (await http.get(f"https://secure.example.:{port}/")).body == b"secure"
        with pytest.raises(Unavailable) as caught:
            await http.get(f"https://other.example:{port}/")
    assert caught.value.code == "tls"
    assert "not valid for 'other.example'" in caught.value.message
    assert names == ["secure.example", "other.example"]


async def test_an_untrusted_certificate_and_a_port_without_tls_are_tls_errors(certificate):
    async with serve_tls(certificate) as (port, _), serve_hostile(TRICKS["not_http"]) as plain, open_client() as http:
        for bad in (port, port_of(plain)):
            with pytest.raises(Unavailable) as caught:
                await http.get(f"https://secure.example:{bad}/", limits=RequestLimits(timeout_s=2))
            assert caught.value.code in ("tls", "timeout")


async def test_an_operators_forward_proxy_gets_the_name_and_its_credentials():
    seen = []

    async def trick(head, writer):
        seen.append(head.decode())
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" if head.startswith(b"CONNECT") else build_response("through"))

    async with serve_hostile(trick) as url:
        settings = EgressSettings.model_validate({"proxy": url.replace("://", "://me:s3cret@")})
        http = HttpClient(EgressGuard(settings))
        assert (await http.get("http://example.com/page")).body == b"through"
        with pytest.raises(Refused):
            await http.get("http://127.0.0.1/")
        await http.close()
    assert seen[0].startswith("CONNECT example.com:80 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic bWU6czNjcmV0\r\n" in seen[0]
    assert "s3cret" not in repr(settings)


async def test_a_refusing_forward_proxy_is_named():
    async with serve_hostile(send_pieces([b"HTTP/1.1 407 No\r\n\r\n"])) as url:
        http = HttpClient(EgressGuard(EgressSettings.model_validate({"proxy": url})))
        with pytest.raises(Unavailable) as caught:
            await http.get("http://example.com/")
        await http.close()
    assert "egress.proxy" in caught.value.hint
    assert "407" in caught.value.message
