"""Record a session's network requests, without bodies, headers or queries."""

import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outrider.browser.page.own_requests import is_own_request
from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.loading import is_proxy_answer
from outrider.browser.protocol.redact import clean_url
from outrider.core.errors import OutriderError


@dataclass
class NetworkRequest:
    """One request. `at` is in seconds since the epoch, `kind` the browser's resource type in lower case.

    Attributes:
        status: The HTTP status; None while there is none.
        error: Reason of the failure; empty if it did not fail.
        milliseconds: Duration; None while it is running.
    """

    at: float
    method: str
    url: str
    kind: str
    status: int | None = None
    error: str = ""
    milliseconds: float | None = None

    @property
    def has_failed(self) -> bool:
        return (bool(self.error) or (self.status or 0) >= 400) and not is_own_request(self.url)


class NetworkLog:
    """The newest 500 requests of a session, and the total number.

    Args:
        explain_failure: Returns the error by which the egress proxy did not reach an address, if there was one.
    """

    def __init__(self, explain_failure: Callable[[str], OutriderError | None] = lambda _: None) -> None:
        self._requests: OrderedDict[tuple[str, str], NetworkRequest] = OrderedDict()
        self._started_at: dict[tuple[str, str], float] = {}
        self._explain_failure = explain_failure
        self._redirect_count = 0
        self.total = 0

    @property
    def requests(self) -> list[NetworkRequest]:
        """The requests, oldest first."""
        return list(self._requests.values())

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Subscribe to a channel of a page."""
        session_id = channel.session_id
        channel.on("Network.requestWillBeSent", lambda event: self._handle_request(session_id, event))
        channel.on("Network.responseReceived", lambda event: self._handle_response(session_id, event))
        channel.on("Network.loadingFinished", lambda event: self._handle_request_end(session_id, event))
        channel.on("Network.loadingFailed", lambda event: self._handle_request_end(session_id, event))
        return []

    def list_failed(self) -> list[NetworkRequest]:
        """List the failed requests, oldest first."""
        return [request for request in self._requests.values() if request.has_failed]

    def list_since(self, total: int) -> list[NetworkRequest]:
        """List the requests after the first `total` ones."""
        return self.requests[-(self.total - total) :] if self.total > total else []

    def _handle_request(self, session_id: str, event: dict[str, Any]) -> None:
        max_requests = 500
        key, request = (session_id, event["requestId"]), event["request"]
        if request["url"].startswith(("data:", "blob:")):
            return
        if (response := event.get("redirectResponse")) and key in self._requests:
            # A redirect keeps its request id, so the finished request gets another key.
            redirect = self._requests.pop(key)
            redirect.status, redirect.milliseconds = response.get("status"), 0.0
            self._redirect_count += 1
            self._requests[(session_id, f"{key[1]}#{self._redirect_count}")] = redirect
        kind = str(event.get("type", "other")).lower()
        self._requests[key] = NetworkRequest(time.time(), request["method"], clean_url(request["url"]), kind)
        self._started_at[key] = event["timestamp"]
        self.total += 1
        while len(self._requests) > max_requests:
            self._started_at.pop(self._requests.popitem(last=False)[0], None)

    def _handle_response(self, session_id: str, event: dict[str, Any]) -> None:
        request = self._requests.get((session_id, event["requestId"]))
        if request is None:
            return
        response = event["response"]
        request.status = response.get("status")
        if is_proxy_answer(response):
            request.error = self._explain_refusal(request.url) or "the egress proxy could not reach it"

    def _handle_request_end(self, session_id: str, event: dict[str, Any]) -> None:
        key = (session_id, event["requestId"])
        request = self._requests.get(key)
        if request is None:
            return
        request.milliseconds = round(1_000 * (event["timestamp"] - self._started_at.pop(key, event["timestamp"])), 1)
        if error := event.get("errorText"):
            blocked = event.get("blockedReason")
            refusal = self._explain_refusal(request.url) if "TUNNEL" in error else None
            request.error = refusal or (f"{error} ({blocked})" if blocked else error)

    def _explain_refusal(self, url: str) -> str | None:
        error = self._explain_failure(url)
        return "; ".join(filter(None, (error.message, error.hint))) if error else None
