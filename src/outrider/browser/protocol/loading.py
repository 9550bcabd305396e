"""What a page's documents and requests are doing: the ground that waiting stands on."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.condition import Condition

COMMITTED_MILESTONE = "shown"  # the mark of a document that its frame has begun to show


@dataclass
class DocumentLoad:
    """One document's way into a frame.

    Attributes:
        milestones: What it has passed: `shown`, `DOMContentLoaded`, `load`.
        status: Its HTTP status; None for documents that come by no network.
        url: What was asked for, after redirects.
        error: The browser's error when the document broke off in the middle; empty if it did not.
        refused: The answer is the egress proxy's own, which could or would not let the request through.
    """

    milestones: set[str] = field(default_factory=set)
    status: int | None = None
    url: str = ""
    mime_type: str = ""
    error: str = ""
    refused: bool = False


def is_proxy_answer(response: dict[str, Any]) -> bool:
    """Whether a response is the egress proxy's own. Inside a tunnel, where a site might play it, it never is."""
    named = any(name.lower() == "proxy-status" for name in response.get("headers", {}))
    return named and response.get("url", "").startswith("http:")


class LoadTracker:
    """Follows the loads and requests of one page, over all its channels."""

    def __init__(self) -> None:
        self._loads: OrderedDict[str, DocumentLoad] = OrderedDict()
        self._open_requests: dict[str, float] = {}
        self._changed = Condition()
        self.commits = 0  # documents that the page itself has begun to show
        self.navigating: str | None = None  # the address that the page itself is on its way to
        self.requests = 0  # requests begun in all

    def follow_channel(self, channel: TargetChannel, is_main_frame: Callable[[str], bool]) -> None:
        """Listens to a channel; `is_main_frame` says whether a frame is the page itself."""
        channel.on("Page.lifecycleEvent", self._handle_lifecycle)
        channel.on("Network.requestWillBeSent", self._handle_request)
        channel.on("Network.responseReceived", self._handle_response)
        channel.on("Network.loadingFinished", self._handle_request_end)
        channel.on("Network.loadingFailed", self._handle_request_failure)
        channel.on("Page.frameRequestedNavigation", lambda event: self._handle_navigation_start(event, is_main_frame))
        channel.on("Page.frameStartedNavigating", lambda event: self._handle_navigation_start(event, is_main_frame))
        channel.on("Page.frameNavigated", lambda event: self._handle_commit(event["frame"], is_main_frame))
        channel.on("Page.navigatedWithinDocument", lambda event: self._handle_navigation_end(event, is_main_frame))
        channel.on("Page.frameStoppedLoading", lambda event: self._handle_navigation_end(event, is_main_frame))

    def get_load(self, loader_id: str) -> DocumentLoad:
        """What is known of a document."""
        max_loads = 50  # loads that are remembered
        if loader_id not in self._loads:
            self._loads[loader_id] = DocumentLoad()
            while len(self._loads) > max_loads:
                self._loads.popitem(last=False)
        return self._loads[loader_id]

    def count_open_requests(self, since: float = 0.0) -> int:
        """Requests under way that began at or after a time (`time.monotonic`) and are not waiting for news."""
        long_poll_s = 3.0  # seconds after which a request counts as one that waits for news
        now = time.monotonic()
        return sum(since <= begun and now - begun < long_poll_s for begun in self._open_requests.values())

    def notify_change(self) -> None:
        """Lets everybody who waits look again."""
        self._changed.notify_all()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until the condition holds; False when it did not in time."""
        return await self._changed.wait_until(condition, seconds)

    def _handle_lifecycle(self, event: dict[str, Any]) -> None:
        self.get_load(event["loaderId"]).milestones.add(event["name"])
        self.notify_change()

    def _handle_request(self, event: dict[str, Any]) -> None:
        # Requests that may stay open for as long as the page lives.
        long_lived_types = frozenset(
            {"EventSource", "WebSocket", "Media", "Ping", "Manifest", "CSPViolationReport", "Preflight"}
        )
        if event["requestId"] == event.get("loaderId"):
            self.get_load(event["loaderId"]).url = event["request"]["url"]
        if event.get("type") not in long_lived_types and not event["request"]["url"].startswith(("data:", "blob:")):
            self._open_requests[event["requestId"]] = time.monotonic()
            self.requests += 1

    def _handle_response(self, event: dict[str, Any]) -> None:
        if event["requestId"] != event.get("loaderId") or event.get("type") != "Document":
            return
        response, load = event["response"], self.get_load(event["loaderId"])
        load.status, load.url = response.get("status"), response.get("url", "")
        load.mime_type = response.get("mimeType", "")
        load.refused = is_proxy_answer(response)
        self.notify_change()

    def _handle_request_end(self, event: dict[str, Any]) -> None:
        if self._open_requests.pop(event["requestId"], None) is not None:
            self.notify_change()

    def _handle_request_failure(self, event: dict[str, Any]) -> None:
        # Of a document the request has the name of the load. One that a navigation cancels did not break.
        if event["requestId"] in self._loads and not event.get("canceled"):
            self._loads[event["requestId"]].error = event.get("errorText", "")
            self.notify_change()
        self._handle_request_end(event)

    def _handle_navigation_start(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if is_main_frame(event["frameId"]) and event.get("navigationType") != "sameDocument":
            self.navigating = event.get("url", "")
            self.notify_change()

    def _handle_commit(self, frame: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        self.get_load(frame.get("loaderId", "")).milestones.add(COMMITTED_MILESTONE)
        if is_main_frame(frame["id"]):
            self.commits += 1
            self.navigating = None
            self._open_requests.clear()
        self.notify_change()

    def _handle_navigation_end(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if is_main_frame(event["frameId"]):
            self.navigating = None
        self.notify_change()
