"""One request and its answer: on the wire, within its limits, with errors that hold no secrets."""

import re
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from json import dumps
from typing import Any

import anyio
import httpcore2

from outrider.core.egress.backend import MAX_HEAD_BYTES, GuardedStream, ReadLimitExceeded, StaleConnection
from outrider.core.egress.decode import ACCEPT_ENCODING, BodyDecoder, BodyTooLarge, ContentDecodingError
from outrider.core.egress.response import Headers, RequestLimits
from outrider.core.egress.target import RequestTarget
from outrider.core.errors import InvalidInput, OutriderError, Unavailable

MAX_HEADERS = 200  # headers of one reply
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True)
class HttpRequest:
    """A request on its way through its redirects."""

    method: str
    headers: dict[str, str]
    content: bytes | None
    trusted: bool
    limits: RequestLimits
    cut: bool
    redirect_urls: tuple[str, ...] = ()

    def build_core_request(self, target: RequestTarget) -> httpcore2.Request:
        """The request as httpcore2 sends it to the target."""
        headers = {"host": target.authority} | self.headers | {"accept-encoding": ACCEPT_ENCODING}
        if self.content is not None or self.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(self.content or b""))
        pairs = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
        url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        return httpcore2.Request(self.method, url, headers=pairs, content=self.content)


def prepare_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """The caller's headers in lower case, without those that are ours to set.

    Raises InvalidInput with code `bad_header`, naming the header and not its value.
    """
    managed_headers = frozenset(
        {"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"}
    )
    for name, value in (headers or {}).items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise InvalidInput(f"the header {name!r} cannot be sent", code="bad_header", hint="use plain text")
    lower = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    return {name: value for name, value in lower.items() if name not in managed_headers}


def encode_body(json: Any, content: bytes | str | None) -> tuple[bytes | None, dict[str, str]]:
    """The body, and the header that says what it is."""
    if json is not None:
        return dumps(json, separators=(",", ":"), ensure_ascii=False).encode(), {"content-type": "application/json"}
    return (content.encode() if isinstance(content, str) else content), {}


@asynccontextmanager
async def send_request(
    pool: httpcore2.AsyncConnectionPool, ask: HttpRequest, target: RequestTarget
) -> AsyncGenerator[tuple[httpcore2.Response, Headers]]:
    """The response to a request, its headers read and its body not. Raises Unavailable."""
    with _translate_errors(target.host, ask.limits):
        response = await _send_with_retry(pool, ask, target)
        try:
            yield response, _parse_headers(response.headers)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


async def read_body(response: httpcore2.Response, headers: Headers, ask: HttpRequest) -> tuple[bytes, bool]:
    """The decoded body, and whether there was more of it."""
    limit, body = ask.limits.max_body_bytes, bytearray()
    try:
        _check_content_length(response.status, headers, ask)
        decoder = BodyDecoder(headers.get("content-encoding", ""), ask.limits.max_wire_bytes)
        async with aclosing(_iter_chunks(response)) as chunks:
            async for chunk in chunks:
                _extend(body, decoder.feed(chunk), limit)
    except (BodyTooLarge, ReadLimitExceeded):
        if not ask.cut:
            raise
        return bytes(body[:limit]), True
    return bytes(body), False


def _extend(body: bytearray, pieces: Iterable[bytes], limit: int) -> None:
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise BodyTooLarge


@contextmanager
def _translate_errors(host: str, limits: RequestLimits) -> Generator[None]:
    """What goes wrong on the wire, as errors that name the host and nothing of what was sent."""
    try:
        yield
    except OutriderError:
        raise
    except Exception as error:
        known = _explain_error(error, host, limits)
        if known is None:
            raise
        raise known from None


async def _iter_chunks(response: httpcore2.Response) -> AsyncGenerator[bytes]:
    min_mean_bytes = 16  # bytes
    max_small_chunks = 10_000  # chunks of a body, unless they are of a reasonable size: tiny ones cost time, not space
    count = received = 0
    async with aclosing(response.stream.__aiter__()) as chunks:  # ty: ignore
        async for chunk in chunks:
            count, received = count + 1, received + len(chunk)
            if count > max_small_chunks and count * min_mean_bytes > received:
                raise BodyTooLarge
            yield chunk


async def _send_with_retry(
    pool: httpcore2.AsyncConnectionPool, ask: HttpRequest, target: RequestTarget
) -> httpcore2.Response:
    repeatable_methods = frozenset({"GET", "HEAD"})
    try:
        return await _send_once(pool, ask, target)
    except StaleConnection:
        if ask.method not in repeatable_methods:
            raise
    return await _send_once(pool, ask, target)


async def _send_once(
    pool: httpcore2.AsyncConnectionPool, ask: HttpRequest, target: RequestTarget
) -> httpcore2.Response:
    response = await pool.handle_async_request(ask.build_core_request(target))
    stream = response.extensions["network_stream"]
    try:
        if isinstance(stream, GuardedStream):
            stream.begin_body(ask.limits.max_wire_bytes)
    except StaleConnection:
        await response.aclose()
        raise
    return response


def _parse_headers(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    size = sum(len(name) + len(value) + 4 for name, value in raw)
    if len(raw) > MAX_HEADERS or size > MAX_HEAD_BYTES:
        raise ReadLimitExceeded(is_head=True)
    return Headers([(name.decode("latin-1"), _decode_header(value)) for name, value in raw])


def _decode_header(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _check_content_length(status: int, headers: Headers, ask: HttpRequest) -> None:
    """Spares the transfer of a body whose declared length is too much already."""
    bodiless_statuses = frozenset({204, 304})
    declared = headers.get("content-length", "")
    if (
        ask.cut
        or ask.method == "HEAD"
        or status in bodiless_statuses
        or not (declared.isascii() and declared.isdigit())
    ):
        return
    if int(declared[:20]) > (ask.limits.max_wire_bytes if "content-encoding" in headers else ask.limits.max_body_bytes):
        raise BodyTooLarge


def _explain_error(error: Exception, host: str, limits: RequestLimits) -> Unavailable | InvalidInput | None:
    if isinstance(error, httpcore2.LocalProtocolError):
        hint = "leave out what is no plain text in the headers"
        return InvalidInput(f"the request to {host} cannot be sent as HTTP", code="bad_header", hint=hint)
    if isinstance(error, BodyTooLarge) or (isinstance(error, ReadLimitExceeded) and not error.is_head):
        message = f"the answer of {host} is longer than {limits.max_body_bytes:,} bytes"
        return Unavailable(message, code="too_large", hint="look for a smaller copy, or for a part of it")
    for kind, code, message in WIRE_ERRORS:
        if isinstance(error, kind):
            return Unavailable(message.format(host=host), code=code, hint=WIRE_ERROR_HINTS[code])
    return None


WIRE_ERROR_HINTS = {
    "headers": "choose another source: no page of that site can be read like this",
    "protocol": "try the other of http:// and https://, or choose another source",
    "timeout": "try again later, or choose another source",
    "connect": "try again later, or choose another source",
}
WIRE_ERRORS: tuple[tuple[type[Exception], str, str], ...] = (
    (
        ReadLimitExceeded,
        "headers",
        f"{{host}} sent more than {MAX_HEAD_BYTES:,} bytes or {MAX_HEADERS} lines of headers",
    ),
    (ContentDecodingError, "protocol", "{host} sent a body that is not in its own Content-Encoding"),
    (httpcore2.ProtocolError, "protocol", "{host} does not keep to HTTP, or broke off its answer"),
    (httpcore2.TimeoutException, "timeout", "{host} did not answer in time"),
    (httpcore2.NetworkError, "connect", "the connection to {host} broke"),
    (StaleConnection, "connect", "the connection to {host} broke"),
)
