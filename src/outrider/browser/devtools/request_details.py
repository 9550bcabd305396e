"""Show recorded requests with headers and bodies, without possible credentials."""

from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.devtools.url_pattern import UrlPattern
from outrider.browser.page.network import NetworkLog, NetworkRequest, RequestDetails
from outrider.browser.protocol.cdp import ProtocolError
from outrider.browser.protocol.redact import redact_body, redact_header, redact_url
from outrider.core.errors import NotFound, OutriderError, Unavailable

TEXT_TYPES = ("text/", "json", "xml", "javascript", "x-www-form-urlencoded", "graphql", "ecmascript")


@dataclass(frozen=True)
class Body:
    """A request's or response's body.

    Attributes:
        text: The redacted text; empty if there is none.
        size: Bytes of the body.
        missing: Reason for the lack of text.
    """

    text: str = ""
    size: int = 0
    missing: str = ""


@dataclass(frozen=True)
class RequestView:
    """The parts of a request that may be shown; `timing` is in milliseconds, by phase."""

    request: NetworkRequest
    url: str
    mime_type: str = ""
    protocol: str = ""
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)
    request_body: Body = Body()
    response_body: Body = Body()


def select_requests(
    log: NetworkLog, pattern: str = "", *, failed: bool = False, after: int = 0
) -> list[NetworkRequest]:
    """Return the recorded requests after a number whose address matches, oldest first. Raises InvalidInput."""
    url_pattern = UrlPattern(pattern) if pattern else None
    requests = log.list_failed() if failed else log.requests
    return sorted(
        (
            request
            for request in requests
            if request.number > after and (url_pattern is None or url_pattern.matches_url(get_full_url(request)))
        ),
        key=lambda request: request.number,
    )


async def wait_for_request(log: NetworkLog, pattern: str, after: int, seconds: float) -> NetworkRequest:
    """Wait until a matching request after that number has ended. Raises InvalidInput or Unavailable."""

    def list_finished() -> list[NetworkRequest]:
        return [request for request in select_requests(log, pattern, after=after) if request.is_finished]

    if await log.changed.wait_until(lambda: bool(list_finished()), seconds):
        return list_finished()[0]
    running = len(select_requests(log, pattern, after=after))
    message = f"no request that matches {pattern!r} ended within {seconds:g} s"
    hint = f"{running} are still running: wait again" if running else "trigger it first, or check the pattern"
    raise Unavailable(message, code="timeout", hint=hint)


def find_request(log: NetworkLog, number: int) -> NetworkRequest:
    """Return the request of that number. Raises NotFound."""
    for request in log.requests:
        if request.number == number:
            return request
    raise NotFound(f"number: no request {number} is recorded", hint="list the requests first; the newest 500 are kept")


def get_full_url(request: NetworkRequest) -> str:
    """Return the unredacted address if it is known."""
    return request.details.url if request.details else request.url


async def view_request(request: NetworkRequest, *, bodies: bool = True) -> RequestView:
    """Return the parts of a request that may be shown; without details, only those in the log."""
    details = request.details
    if details is None:
        return RequestView(request, request.url)
    response = details.response
    sent_type = next((value for name, value in details.headers.items() if name.lower() == "content-type"), "")
    sent = details.post_data or ""
    request_body = Body(redact_body(sent, sent_type), len(sent.encode()))
    mime_type = str(response.get("mimeType", ""))
    return RequestView(
        request,
        redact_url(details.url),
        mime_type,
        str(response.get("protocol", "")),
        {name: redact_header(name, value) for name, value in details.headers.items()},
        {name: redact_header(name, value) for name, value in response.get("headers", {}).items()},
        _measure_phases(response.get("timing")),
        request_body,
        await _fetch_body(details, mime_type) if bodies else Body(),
    )


async def _fetch_body(details: RequestDetails, mime_type: str) -> Body:
    """Fetch a response's body from the browser, if it still has it."""
    reason = "the browser has discarded it: repeat the request"
    if not details.response:
        return Body(missing="not received yet")
    try:
        answer = await details.channel.send("Network.getResponseBody", {"requestId": details.request_id}, timeout=5.0)
    except (ProtocolError, OutriderError):
        return Body(missing=reason)
    data = b64decode(answer["body"]) if answer.get("base64Encoded") else answer["body"].encode()
    if answer.get("base64Encoded") and not any(kind in mime_type for kind in TEXT_TYPES):
        return Body(size=len(data), missing=f"{len(data):,} bytes that are not text")
    return Body(redact_body(data.decode("utf-8", "replace"), mime_type), len(data))


def _measure_phases(timing: dict[str, Any] | None) -> dict[str, float]:
    """Return the milliseconds of each phase before the response's body."""
    if not timing:
        return {}
    spans = {
        "dns": ("dnsStart", "dnsEnd"),
        "connect": ("connectStart", "connectEnd"),
        "ssl": ("sslStart", "sslEnd"),
        "send": ("sendStart", "sendEnd"),
        "wait": ("sendEnd", "receiveHeadersEnd"),
    }
    return {
        phase: round(timing[end] - timing[start], 1)
        for phase, (start, end) in spans.items()
        if timing.get(start, -1) >= 0 and timing.get(end, -1) >= timing[start]
    }
