"""Exchange one HTTP request and response within limits.

Errors contain no secrets.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
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

MAX_HEADERS = 200
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# Error types of the wire with their codes, messages and hints.
WIRE_ERRORS: dict[type[Exception], tuple[str, str, str]] = {
    ReadLimitExceeded: (
        "headers",
        f"{{host}} sent more than {MAX_HEAD_BYTES:,} bytes or {MAX_HEADERS} lines of headers",
        "choose another source: that site's pages cannot be fetched",
    ),
    ContentDecodingError: (
        "protocol",
        "{host} sent a body that does not match its Content-Encoding",
        "try the other of http:// and https://, or choose another source",
    ),
    httpcore2.ProtocolError: (
        "protocol",
        "{host} does not follow HTTP, or broke off its answer",
        "try the other of http:// and https://, or choose another source",
    ),
    httpcore2.TimeoutException: (
        "timeout",
        "{host} did not answer in time",
        "try again later, or choose another source",
    ),
    httpcore2.NetworkError: (
        "connect",
        "the connection to {host} broke",
        "try again later, or choose another source",
    ),
    StaleConnection: (
        "connect",
        "the connection to {host} broke",
        "try again later, or choose another source",
    ),
}


@dataclass(frozen=True)
class HttpRequest:
    """A request, with the redirects that it has followed."""

    method: str
    headers: dict[str, str]
    content: bytes | None
    trusted: bool
    limits: RequestLimits
    cut: bool
    redirect_urls: tuple[str, ...] = ()


def encode_request(
    headers: Mapping[str, str] | None, json: Any, content: bytes | str | None
) -> tuple[dict[str, str], bytes | None]:
    """Return the caller's headers without those that we set ourselves, and the encoded body.

    Names are in lower case. Raises InvalidInput with code `bad_header`, naming the header and not its value.
    """
    managed = {"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"}
    for name, value in (headers or {}).items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise InvalidInput(f"the header {name!r} cannot be sent", code="bad_header", hint="use plain text")
    lower = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    own = {name: value for name, value in lower.items() if name not in managed}
    if json is not None:
        content = dumps(json, separators=(",", ":"), ensure_ascii=False)
        own = {"content-type": "application/json"} | own
    return own, content.encode() if isinstance(content, str) else content


@asynccontextmanager
async def send_request(
    pool: httpcore2.AsyncConnectionPool, request: HttpRequest, target: RequestTarget
) -> AsyncGenerator[tuple[httpcore2.Response, Headers]]:
    """Send a request, and yield the response with its headers; the body is unread. Raises Unavailable."""
    try:
        try:
            response = await _send_once(pool, request, target)
        except StaleConnection:
            if request.method not in {"GET", "HEAD"}:
                raise
            response = await _send_once(pool, request, target)
        try:
            raw = response.headers
            size = sum(len(name) + len(value) + 4 for name, value in raw)
            if len(raw) > MAX_HEADERS or size > MAX_HEAD_BYTES:
                raise ReadLimitExceeded(is_head=True)
            pairs = []
            for name, value in raw:
                try:
                    text = value.decode()
                except UnicodeDecodeError:
                    text = value.decode("latin-1")
                pairs.append((name.decode("latin-1"), text))
            yield response, Headers(pairs)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
    except (BodyTooLarge, *WIRE_ERRORS) as error:
        raise _explain_error(error, target.host, request.limits) from None


async def read_body(response: httpcore2.Response, headers: Headers, request: HttpRequest) -> tuple[bytes, bool]:
    """Return the decoded body, and whether it was cut."""
    # Many tiny chunks cost time instead of space, so they are refused too.
    max_small_chunks, min_mean_bytes = 10_000, 16
    limit, body = request.limits.max_body_bytes, bytearray()
    count = received = 0
    try:
        _check_content_length(response.status, headers, request)
        coding = headers.get("content-encoding", "")
        decoder = BodyDecoder(coding, request.limits.max_wire_bytes) if coding else None
        async with aclosing(response.stream.__aiter__()) as chunks:  # ty: ignore
            async for chunk in chunks:
                count, received = count + 1, received + len(chunk)
                if count > max_small_chunks and count * min_mean_bytes > received:
                    raise BodyTooLarge  # noqa: TRY301 - handled as if the decoder had raised it
                for piece in decoder.feed(chunk) if decoder else (chunk,):
                    body += piece
                    if len(body) > limit:
                        raise BodyTooLarge  # noqa: TRY301 - as above
    except (BodyTooLarge, ReadLimitExceeded):
        if not request.cut:
            raise
        return bytes(body[:limit]), True
    return bytes(body), False


def _explain_error(error: Exception, host: str, limits: RequestLimits) -> OutriderError:
    """Return an error of the wire as ours.

    It names the host and nothing that was sent.
    """
    if isinstance(error, httpcore2.LocalProtocolError):
        hint = "use only plain text in the headers"
        return InvalidInput(f"the request to {host} cannot be sent as HTTP", code="bad_header", hint=hint)
    if isinstance(error, BodyTooLarge) or (isinstance(error, ReadLimitExceeded) and not error.is_head):
        message = f"the answer of {host} is longer than {limits.max_body_bytes:,} bytes"
        return Unavailable(message, code="too_large", hint="look for a smaller copy, or a part of it")
    code, message, hint = next(row for error_type, row in WIRE_ERRORS.items() if isinstance(error, error_type))
    return Unavailable(message.format(host=host), code=code, hint=hint)


async def _send_once(
    pool: httpcore2.AsyncConnectionPool, request: HttpRequest, target: RequestTarget
) -> httpcore2.Response:
    headers = {"host": target.authority} | request.headers | {"accept-encoding": ACCEPT_ENCODING}
    if request.content is not None or request.method in ("POST", "PUT", "PATCH"):
        headers["content-length"] = str(len(request.content or b""))
    pairs = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    response = await pool.handle_async_request(
        httpcore2.Request(request.method, url, headers=pairs, content=request.content)
    )
    stream = response.extensions["network_stream"]
    try:
        if isinstance(stream, GuardedStream):
            stream.begin_body(request.limits.max_wire_bytes)
    except StaleConnection:
        await response.aclose()
        raise
    return response


def _check_content_length(status: int, headers: Headers, request: HttpRequest) -> None:
    """Raise BodyTooLarge before the transfer if the declared length is too large."""
    declared = headers.get("content-length", "")
    has_body = request.method != "HEAD" and status not in {204, 304}
    if request.cut or not has_body or not (declared.isascii() and declared.isdigit()):
        return
    limits = request.limits
    if int(declared[:20]) > (limits.max_wire_bytes if "content-encoding" in headers else limits.max_body_bytes):
        raise BodyTooLarge
