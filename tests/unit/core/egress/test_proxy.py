"""The proxy for programs that connect by themselves, tested with raw bytes."""

import asyncio
from base64 import b64encode
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import httpx2
import pytest

from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.egress.proxy import EgressProxy
from support.fakes.hostile_server import TRICKS, send_pieces, serve_hostile
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
HELLO_HANDLER = send_pieces([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"], close=False)


async def resolve_to_loopback(host):
    return ["127.0.0.1"]


@asynccontextmanager
async def start_proxy(*allow, idle=20.0):
    guard = EgressGuard(EgressSettings(allow=list(allow or ["127.0.0.1:*"])), resolve_to_loopback)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with EgressProxy(guard, idle_seconds=idle) as proxy:
            yield proxy


async def send_request(proxy, line, *more, token=None, rest=""):
    """Send a request with the token and further headers; read until the proxy closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
    pair = b64encode(f"outrider:{token or proxy.token}".encode()).decode()
    head = [f"{line} HTTP/1.1", "Host: x", f"Proxy-Authorization: Basic {pair}", *more, "", rest]
    writer.write("\r\n".join(head).encode())
    answer = await reader.read(-1)
    writer.close()
    return answer.decode()


async def test_an_ordinary_client_reads_plain_pages_through_it():
    async with serve_hostile(HELLO_HANDLER) as url, start_proxy() as proxy:
        named = url.replace("127.0.0.1", "name.example")
        async with httpx2.AsyncClient(proxy=proxy.url_with_credentials) as client:
            assert (await client.get(url)).text == "hello"
            assert (await client.get(named)).text == "hello"
            refused = await client.get("http://10.0.0.1/")
    assert refused.status_code == 403
    assert "10.0.0.1" in refused.text
    assert "egress.allow" in refused.text


async def test_a_tunnel_carries_bytes_both_ways():
    closing = send_pieces([b"HTTP/1.1 200 OK\r\n\r\nhello"])
    async with serve_hostile(closing) as url, start_proxy() as proxy:
        answer = await send_request(proxy, f"CONNECT {url.removeprefix('http://')}", rest="GET / HTTP/1.1\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200")
    assert answer.endswith("hello")


REQUEST_LINES = ["CONNECT 127.0.0.1:80", "GET http://127.0.0.1/", "GET /", "POST http://example.com/"]


@pytest.mark.parametrize("line", REQUEST_LINES)
@pytest.mark.parametrize(
    "header", ["X: y", "Proxy-Authorization: Basic b3V0cmlkZXI6d3Jvbmc=", "Proxy-Authorization: x"]
)
async def test_a_request_without_the_token_is_refused(line, header):
    async with start_proxy() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
        writer.write(f"{line} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
        answer = (await reader.read(-1)).decode()
        writer.close()
    assert answer.startswith("HTTP/1.1 407")
    assert "proxy-authenticate: Basic" in answer
    assert proxy.token not in answer


REFUSED = """
CONNECT_127.0.0.1:443 CONNECT_localhost:443 CONNECT_[::1]:443 CONNECT_0x7f.1:443 CONNECT_2130706433:443
CONNECT_169.254.169.254:80 CONNECT_[::ffff:127.0.0.1]:443 CONNECT_example.com:22
CONNECT_rebound.example:443 CONNECT_metadata.google.internal:80
CONNECT_printer.local:80 CONNECT_10.0.0.1:443 CONNECT_[64:ff9b::7f00:1]:443
GET_http://127.0.0.1/ GET_http://localhost/ GET_http://[::1]/ GET_http://0/ GET_http://169.254.169.254/latest/ GET_http://rebound.example/
GET_http://example.com:6379/ GET_HTTP://127.1/ POST_http://10.0.0.1/
"""
BAD = """
CONNECT_example.com CONNECT_example.com:x CONNECT_:443 CONNECT_user:x@example.com:443 CONNECT_example.com:443/path CONNECT_http://example.com/
CONNECT_example.com:443?x CONNECT_example.com:0 GET_/ GET_https://example.com/ GET_ftp://example.com/ GET_file:///etc/passwd
CONNECT_１２７.0.0.1:443 GET_http://user:x@example.com/ OPTIONS_* GET_http://
"""


LINES_AND_STATUSES = [(each, 403) for each in REFUSED.split()] + [(each, 400) for each in BAD.split()]


@pytest.mark.parametrize(("line", "status"), LINES_AND_STATUSES)
async def test_an_address_refused_by_the_guard_is_refused_by_the_proxy(line, status):
    async with start_proxy("10.9.9.9") as proxy:
        answer = await send_request(proxy, line.replace("_", " ", 1))
    assert answer.startswith(f"HTTP/1.1 {status}"), answer


async def resolve_unless_gone(host):
    return [] if host == "gone.example" else ["127.0.0.1"]


FAILURES = [
    ("localhost", "egress", "local name"),
    ("gone.example", "dns", "has no address"),
    ("127.0.0.1", "connect", "connection refused"),
]


@pytest.mark.parametrize(("host", "code", "words"), FAILURES)
async def test_the_reason_for_a_failed_connection_can_be_looked_up(host, code, words, free_tcp_port):
    guard = EgressGuard(EgressSettings(allow=["127.0.0.1:*"]), resolve_unless_gone)
    async with serve_hostile(HELLO_HANDLER) as url, EgressProxy(guard) as proxy:
        await send_request(proxy, f"CONNECT {host}:{free_tcp_port}")
        await send_request(proxy, f"GET {url}")
        error = proxy.find_failure(f"wss://{host}.:{free_tcp_port}/x")
        assert (error.code, words in error.message, bool(error.hint)) == (code, True, True)
        assert proxy.find_failure(url) is None
        assert proxy.find_failure(f"https://{host}/") is None


async def test_a_successful_connection_clears_the_recorded_failure(free_tcp_port):
    async with start_proxy() as proxy:
        url = f"http://127.0.0.1:{free_tcp_port}/"
        await send_request(proxy, f"GET {url}")
        assert proxy.find_failure(url).code == "connect"
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", free_tcp_port):
            await send_request(proxy, f"CONNECT 127.0.0.1:{free_tcp_port}")
        assert proxy.find_failure(url) is None


async def test_neither_token_nor_hop_headers_reach_the_server():
    seen = []

    async def trick(head, writer):
        seen.append(head.decode().lower())
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: keep-alive, x-hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok")

    async with serve_hostile(trick) as url, start_proxy() as proxy:
        answer = await send_request(proxy, f"GET {url}/a?b", "Connection: keep-alive, X-Mine", "X-Mine: 1", "X-End: 2")
    assert seen[0].startswith("get /a?b http/1.1\r\nhost: 127.0.0.1:")
    assert "proxy-authorization" not in seen[0]
    assert "x-mine" not in seen[0]
    assert "x-end: 2" in seen[0]
    assert "connection: close" in answer.lower()
    assert "x-hop" not in answer.lower()


async def test_a_second_request_on_the_same_connection_is_not_sent_to_the_first_server():
    seen = []

    async def trick(head, writer):
        seen.append(head)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with serve_hostile(trick) as url, start_proxy() as proxy:
        await send_request(proxy, f"GET {url}/one", rest="GET http://other.example/two HTTP/1.1\r\nHost: other\r\n\r\n")
    assert len(seen) == 1


async def test_a_body_is_forwarded_even_after_an_expect_header():
    async def trick(head, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with serve_hostile(trick) as url, start_proxy() as proxy:
        answer = await send_request(proxy, f"POST {url}/", "Expect: 100-continue", "Content-Length: 3", rest="")
    assert answer.startswith("HTTP/1.1 100") or "200" in answer


BROKEN = [
    "nothing",
    "not_http",
    "status_nonsense",
    "headers_without_end",
    "interim_without_end",
    "length_twice",
]


@pytest.mark.parametrize("trick", BROKEN)
async def test_a_server_that_violates_http_is_a_bad_gateway(trick):
    async with serve_hostile(TRICKS[trick]) as url, start_proxy() as proxy:
        assert (await send_request(proxy, f"GET {url}/")).startswith("HTTP/1.1 502")


async def test_a_closed_port_is_a_bad_gateway():
    async with start_proxy() as proxy:
        for line in ("CONNECT 127.0.0.1:9", "GET http://127.0.0.1:9/"):
            assert (await send_request(proxy, line)).startswith("HTTP/1.1 502")


@pytest.mark.parametrize(
    "text", ["nonsense\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n", "GET / HTTP/1.1\r\nX: " + "x" * 200_000]
)
async def test_an_invalid_request_is_answered_as_bad_or_disconnected(text):
    async with start_proxy() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
        writer.write(text.encode())
        with suppress(ConnectionError):
            assert (await reader.read(-1)).startswith(b"HTTP/1.1 4")
        writer.close()


@pytest.mark.parametrize("line", ["CONNECT", "GET"])
async def test_an_idle_connection_is_closed(line):
    async with serve_hostile(TRICKS["silence"]) as url, start_proxy(idle=0.2) as proxy:
        answer = await send_request(
            proxy, f"CONNECT {url.removeprefix('http://')}" if line == "CONNECT" else f"GET {url}/"
        )
    assert "\r\n\r\nhello" not in answer


async def test_closing_the_proxy_ends_its_tunnels():
    async with serve_hostile(TRICKS["silence"]) as url, start_proxy() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
        pair = b64encode(f"outrider:{proxy.token}".encode())
        authority = url.removeprefix("http://").encode()
        writer.write(b"CONNECT %b HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %b\r\n\r\n" % (authority, pair))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        await proxy.close()
        assert await reader.read(-1) == b""
        writer.close()


@pytest.mark.parametrize("turns", range(6))
async def test_a_cancelled_start_leaves_nothing_open(turns):
    before = len(list(Path("/dev/fd").iterdir()))
    proxy = EgressProxy(EgressGuard(EgressSettings()))
    starting = asyncio.create_task(proxy.start())
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await proxy.close()
    assert len(list(Path("/dev/fd").iterdir())) == before


async def test_each_proxy_has_its_own_token():
    async with start_proxy() as one, start_proxy() as other:
        assert one.token != other.token
        answer = await send_request(one, "GET http://127.0.0.1/", token=other.token)
    assert answer.startswith("HTTP/1.1 407")
