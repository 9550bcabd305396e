"""Record a session's network requests; headers, bodies and queries only on request."""

import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.page.own_requests import is_own_request
from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.loading import is_proxy_answer
from outrider.browser.protocol.redact import clean_url
from outrider.core.errors import OutriderError

# Bytes of bodies that the browser keeps for a page, only on request.
KEPT_BODIES_PARAMS = {"maxTotalBufferSize": 10_000_000, "maxResourceBufferSize": 2_000_000, "maxPostDataSize": 65_536}


@dataclass
class RequestDetails:
    """Unredacted facts about a request, for `devtools`, which redacts what it shows.

    Attributes:
        channel: The channel of the target that made the request.
        request_id: The browser's id of the request.
        url: The whole address.
        headers: The request's headers as the page's process knows them, without cookies.
        post_data: The request's body; None if there is none.
        response: The browser's description of the response; empty before it.
    """

    channel: TargetChannel
    request_id: str
    url: str
    headers: dict[str, str]
    post_data: str | None
    response: dict[str, Any] = field(default_factory=dict)


@dataclass
class NetworkRequest:
    """One request. `at` is in seconds since the epoch, `kind` the browser's resource type in lower case.

    Attributes:
        status: The HTTP status; None while there is none.
        error: Reason of the failure; empty if it did not fail.
        milliseconds: Duration; None while it is running.
        number: Counts the session's requests from 1.
        size: The bytes received, with headers; None while it is running.
        details: Kept only while `NetworkLog.keeps_details`.
    """

    at: float
    method: str
    url: str
    kind: str
    status: int | None = None
    error: str = ""
    milliseconds: float | None = None
    number: int = 0
    size: int | None = None
    details: RequestDetails | None = None

    @property
    def is_finished(self) -> bool:
        return self.milliseconds is not None

    @property
    def has_failed(self) -> bool:
        return (bool(self.error) or (self.status or 0) >= 400) and not is_own_request(self.url)


class NetworkLog:
    """The newest 500 requests of a session, and the total number.

    Args:
        explain_failure: Returns the error by which the egress proxy did not reach an address, if there was one.

    Attributes:
        total: The number of requests so far.
        keeps_details: Whether new requests are kept with their headers and bodies.
        changed: Notified when a request starts or ends.
    """

    def __init__(self, explain_failure: Callable[[str], OutriderError | None] = lambda _: None) -> None:
        self._requests: OrderedDict[tuple[str, str], NetworkRequest] = OrderedDict()
        self._started_at: dict[tuple[str, str], float] = {}
        self._explain_failure = explain_failure
        self._redirect_count = 0
        self.total = 0
        self.keeps_details = False
        self.changed = Condition()

    @property
    def requests(self) -> list[NetworkRequest]:
        """The requests, oldest first."""
        return list(self._requests.values())

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Subscribe to a channel of a page."""
        session_id = channel.session_id
        channel.on("Network.requestWillBeSent", lambda event: self._handle_request(channel, event))
        channel.on("Network.responseReceived", lambda event: self._handle_response(session_id, event))
        channel.on("Network.loadingFinished", lambda event: self._handle_request_end(session_id, event))
        channel.on("Network.loadingFailed", lambda event: self._handle_request_end(session_id, event))
        return [channel.send("Network.enable", KEPT_BODIES_PARAMS)] if self.keeps_details else []

    def keep_details(self, channels: Iterable[TargetChannel]) -> None:
        """Keep headers and bodies of all later requests."""
        self.keeps_details = True
        for channel in channels:
            channel.send_and_forget("Network.enable", KEPT_BODIES_PARAMS)

    def list_failed(self) -> list[NetworkRequest]:
        """List the failed requests, oldest first."""
        return [request for request in self._requests.values() if request.has_failed]

    def list_since(self, total: int) -> list[NetworkRequest]:
        """List the requests after the first `total` ones."""
        return self.requests[-(self.total - total) :] if self.total > total else []

    def _handle_request(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        max_requests = 500
        session_id, request = channel.session_id, event["request"]
        key = (session_id, event["requestId"])
        if request["url"].startswith(("data:", "blob:")):
            return
        if (response := event.get("redirectResponse")) and key in self._requests:
            # A redirect keeps its request id, so the finished request gets another key.
            redirect = self._requests.pop(key)
            redirect.status, redirect.milliseconds = response.get("status"), 0.0
            redirect.size = round(response.get("encodedDataLength", 0))
            if redirect.details:
                redirect.details.response = response
            self._redirect_count += 1
            self._requests[(session_id, f"{key[1]}#{self._redirect_count}")] = redirect
        kind = str(event.get("type", "other")).lower()
        self.total += 1
        entry = NetworkRequest(
            event.get("wallTime") or time.time(), request["method"], clean_url(request["url"]), kind, number=self.total
        )
        entry.details = _build_details(channel, event) if self.keeps_details else None
        self._requests[key] = entry
        self._started_at[key] = event["timestamp"]
        while len(self._requests) > max_requests:
            self._started_at.pop(self._requests.popitem(last=False)[0], None)
        self.changed.notify_all()

    def _handle_response(self, session_id: str, event: dict[str, Any]) -> None:
        request = self._requests.get((session_id, event["requestId"]))
        if request is None:
            return
        response = event["response"]
        request.status = response.get("status")
        if request.details:
            request.details.response = response
        if is_proxy_answer(response):
            request.error = self._explain_refusal(request.url) or "the egress proxy could not reach it"

    def _handle_request_end(self, session_id: str, event: dict[str, Any]) -> None:
        key = (session_id, event["requestId"])
        request = self._requests.get(key)
        if request is None:
            return
        request.milliseconds = round(1_000 * (event["timestamp"] - self._started_at.pop(key, event["timestamp"])), 1)
        request.size = round(event["encodedDataLength"]) if "encodedDataLength" in event else None
        if error := event.get("errorText"):
            blocked = event.get("blockedReason")
            refusal = self._explain_refusal(request.url) if "TUNNEL" in error else None
            request.error = refusal or (f"{error} ({blocked})" if blocked else error)
        self.changed.notify_all()

    def _explain_refusal(self, url: str) -> str | None:
        error = self._explain_failure(url)
        return "; ".join(filter(None, (error.message, error.hint))) if error else None


def _build_details(channel: TargetChannel, event: dict[str, Any]) -> RequestDetails:
    max_body_chars = 10_000
    request = event["request"]
    body = request.get("postData")
    return RequestDetails(
        channel,
        event["requestId"],
        request["url"] + request.get("urlFragment", ""),
        request.get("headers", {}),
        body[:max_body_chars] if body is not None else None,
    )
