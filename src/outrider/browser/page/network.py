"""Which requests a page has made, and how they ended: no bodies, no headers, no queries."""

import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.loading import is_proxy_answer
from outrider.browser.protocol.redact import clean_url
from outrider.core.errors import OutriderError


@dataclass
class NetworkRequest:
    """One request. `at` is in seconds since the epoch, `kind` the browser's resource type in lower case.

    Attributes:
        status: The HTTP status; None while there is none.
        error: Why it failed; empty if it did not.
        milliseconds: How long it took; None while it is under way.
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
        return bool(self.error) or (self.status or 0) >= 400


class NetworkLog:
    """The requests of one session, the newest 500, and how many there were in all.

    Args:
        failure: Tells why the egress proxy knew no way to an address.
    """

    def __init__(self, failure: Callable[[str], OutriderError | None] = lambda _: None) -> None:
        self._requests: OrderedDict[tuple[str, str], NetworkRequest] = OrderedDict()
        self._started_at: dict[tuple[str, str], float] = {}
        self._explain_failure = failure
        self._redirect_count = 0
        self.total = 0

    @property
    def requests(self) -> list[NetworkRequest]:
        """The requests, oldest first."""
        return list(self._requests.values())

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Listens to a channel of a page."""
        name = channel.session_id
        channel.on("Network.requestWillBeSent", lambda event: self._handle_request(name, event))
        channel.on("Network.responseReceived", lambda event: self._handle_response(name, event))
        channel.on("Network.loadingFinished", lambda event: self._handle_request_end(name, event))
        channel.on("Network.loadingFailed", lambda event: self._handle_request_end(name, event))
        return []

    def list_failed(self) -> list[NetworkRequest]:
        """Those that failed, oldest first."""
        return [each for each in self._requests.values() if each.has_failed]

    def list_since(self, total: int) -> list[NetworkRequest]:
        """What came after there had been so many requests."""
        return self.requests[-(self.total - total) :] if self.total > total else []

    def _handle_request(self, name: str, event: dict[str, Any]) -> None:
        max_requests = 500  # requests of a session
        key, request = (name, event["requestId"]), event["request"]
        if request["url"].startswith(("data:", "blob:")):
            return
        if (hop := event.get("redirectResponse")) and key in self._requests:
            self._finish_redirect(key, hop)
        kind = str(event.get("type", "other")).lower()
        self._requests[key] = NetworkRequest(time.time(), request["method"], clean_url(request["url"]), kind)
        self._started_at[key] = event["timestamp"]
        self.total += 1
        while len(self._requests) > max_requests:
            self._started_at.pop(self._requests.popitem(last=False)[0], None)

    def _finish_redirect(self, key: tuple[str, str], response: dict[str, Any]) -> None:
        """A redirect keeps its request's name: the hop that is over moves out of the way."""
        hop = self._requests.pop(key)
        hop.status, hop.milliseconds = response.get("status"), 0.0
        self._redirect_count += 1
        self._requests[(key[0], f"{key[1]}#{self._redirect_count}")] = hop

    def _handle_response(self, name: str, event: dict[str, Any]) -> None:
        request = self._requests.get((name, event["requestId"]))
        if request is None:
            return
        response = event["response"]
        request.status = response.get("status")
        if is_proxy_answer(response):
            request.error = self._explain_refusal(request.url) or "the egress proxy could not reach it"

    def _handle_request_end(self, name: str, event: dict[str, Any]) -> None:
        key = (name, event["requestId"])
        request = self._requests.get(key)
        if request is None:
            return
        request.milliseconds = round(1_000 * (event["timestamp"] - self._started_at.pop(key, event["timestamp"])), 1)
        if error := event.get("errorText"):
            blocked = event.get("blockedReason")
            known = self._explain_refusal(request.url) if "TUNNEL" in error else None
            request.error = known or (f"{error} ({blocked})" if blocked else error)

    def _explain_refusal(self, url: str) -> str | None:
        error = self._explain_failure(url)
        return "; ".join(filter(None, (error.message, error.hint))) if error else None
