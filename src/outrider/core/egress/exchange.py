"""One request and its answer: on the wire, within its limits, with errors that hold no secrets."""

import re
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from json import dumps
from typing import Any

import anyio
import httpcore2

from outrider.core.egress.backend import HEAD_BYTES, GuardedStream, Overflow, Stale
from outrider.core.egress.decode import ACCEPTED, Decoder, Garbled, TooMuch
from outrider.core.egress.reply import Headers, Limits
from outrider.core.egress.target import Target
from outrider.core.errors import InvalidInput, OutriderError, Unavailable

HEADER_LIMIT = 200  # headers of one reply
OWN = frozenset({"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"})
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2
VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
CHUNK_LIMIT = 10_000  # chunks of a body, unless they are of a reasonable size: tiny ones cost time, not space
CHUNK_MEAN = 16  # bytes
BODILESS = frozenset({204, 304})
REPEATABLE = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Ask:
    """A request on its way through its redirects."""

    method: str
    headers: dict[str, str]
    content: bytes | None
    trusted: bool
    limits: Limits
    cut: bool
    passed: tuple[str, ...] = ()

    def at(self, target: Target) -> httpcore2.Request:
        """The request as httpcore2 sends it to the target."""
        headers = {"host": target.authority} | self.headers | {"accept-encoding": ACCEPTED}
        if self.content is not None or self.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(self.content or b""))
        pairs = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
        url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        return httpcore2.Request(self.method, url, headers=pairs, content=self.content)


def given_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """The caller's headers in lower case, without those that are ours to set.

    Raises InvalidInput with code `bad_header`, naming the header and not its value.
    """
    for name, value in (headers or {}).items():
        if not TOKEN.fullmatch(name) or not VALUE.fullmatch(value):
            raise InvalidInput(f"the header {name!r} cannot be sent", code="bad_header", hint="use plain text")
    lower = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    return {name: value for name, value in lower.items() if name not in OWN}


def given_body(json: Any, content: bytes | str | None) -> tuple[bytes | None, dict[str, str]]:
    """The body, and the header that says what it is."""
    if json is not None:
        return dumps(json, separators=(",", ":"), ensure_ascii=False).encode(), {"content-type": "application/json"}
    return (content.encode() if isinstance(content, str) else content), {}


@asynccontextmanager
async def sent(
    pool: httpcore2.AsyncConnectionPool, ask: Ask, target: Target
) -> AsyncGenerator[tuple[httpcore2.Response, Headers]]:
    """The response to a request, its headers read and its body not. Raises Unavailable."""
    with _explained(target.host, ask.limits):
        response = await _first_answer(pool, ask, target)
        try:
            yield response, _headers(response.headers)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


async def read(response: httpcore2.Response, headers: Headers, ask: Ask) -> tuple[bytes, bool]:
    """The decoded body, and whether there was more of it."""
    limit, body = ask.limits.body, bytearray()
    try:
        _check_declared(response.status, headers, ask)
        decoder = Decoder(headers.get("content-encoding", ""), ask.limits.wire)
        async with aclosing(_chunks(response)) as chunks:
            async for chunk in chunks:
                _extend(body, decoder.feed(chunk), limit)
    except (TooMuch, Overflow):
        if not ask.cut:
            raise
        return bytes(body[:limit]), True
    return bytes(body), False


def _extend(body: bytearray, pieces: Iterable[bytes], limit: int) -> None:
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise TooMuch


@contextmanager
def _explained(host: str, limits: Limits) -> Generator[None]:
    """What goes wrong on the wire, as errors that name the host and nothing of what was sent."""
    try:
        yield
    except OutriderError:
        raise
    except Exception as error:
        known = _explanation(error, host, limits)
        if known is None:
            raise
        raise known from None


async def _chunks(response: httpcore2.Response) -> AsyncGenerator[bytes]:
    count = received = 0
    async with aclosing(response.stream.__aiter__()) as chunks:  # ty: ignore
        async for chunk in chunks:
            count, received = count + 1, received + len(chunk)
            if count > CHUNK_LIMIT and count * CHUNK_MEAN > received:
                raise TooMuch
            yield chunk


async def _first_answer(pool: httpcore2.AsyncConnectionPool, ask: Ask, target: Target) -> httpcore2.Response:
    try:
        return await _answer(pool, ask, target)
    except Stale:
        if ask.method not in REPEATABLE:
            raise
    return await _answer(pool, ask, target)


async def _answer(pool: httpcore2.AsyncConnectionPool, ask: Ask, target: Target) -> httpcore2.Response:
    response = await pool.handle_async_request(ask.at(target))
    stream = response.extensions["network_stream"]
    try:
        if isinstance(stream, GuardedStream):
            stream.begin_body(ask.limits.wire)
    except Stale:
        await response.aclose()
        raise
    return response


def _headers(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    size = sum(len(name) + len(value) + 4 for name, value in raw)
    if len(raw) > HEADER_LIMIT or size > HEAD_BYTES:
        raise Overflow(head=True)
    return Headers([(name.decode("latin-1"), _text(value)) for name, value in raw])


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _check_declared(status: int, headers: Headers, ask: Ask) -> None:
    """Spares the transfer of a body whose declared length is too much already."""
    declared = headers.get("content-length", "")
    if ask.cut or ask.method == "HEAD" or status in BODILESS or not (declared.isascii() and declared.isdigit()):
        return
    if int(declared[:20]) > (ask.limits.wire if "content-encoding" in headers else ask.limits.body):
        raise TooMuch


def _explanation(error: Exception, host: str, limits: Limits) -> Unavailable | InvalidInput | None:
    if isinstance(error, httpcore2.LocalProtocolError):
        hint = "leave out what is no plain text in the headers"
        return InvalidInput(f"the request to {host} cannot be sent as HTTP", code="bad_header", hint=hint)
    if isinstance(error, TooMuch) or (isinstance(error, Overflow) and not error.head):
        message = f"the answer of {host} is longer than {limits.body:,} bytes"
        return Unavailable(message, code="too_large", hint="look for a smaller copy, or for a part of it")
    for kind, code, message in BREAKDOWNS:
        if isinstance(error, kind):
            return Unavailable(message.format(host=host), code=code, hint=REMEDIES[code])
    return None


REMEDIES = {
    "headers": "choose another source: no page of that site can be read like this",
    "protocol": "try the other of http:// and https://, or choose another source",
    "timeout": "try again later, or choose another source",
    "connect": "try again later, or choose another source",
}
BREAKDOWNS: tuple[tuple[type[Exception], str, str], ...] = (
    (Overflow, "headers", f"{{host}} sent more than {HEAD_BYTES:,} bytes or {HEADER_LIMIT} lines of headers"),
    (Garbled, "protocol", "{host} sent a body that is not in its own Content-Encoding"),
    (httpcore2.ProtocolError, "protocol", "{host} does not keep to HTTP, or broke off its answer"),
    (httpcore2.TimeoutException, "timeout", "{host} did not answer in time"),
    (httpcore2.NetworkError, "connect", "the connection to {host} broke"),
    (Stale, "connect", "the connection to {host} broke"),
)
