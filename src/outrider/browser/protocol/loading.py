"""Track the document loads and open requests of a page."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.condition import Condition

COMMITTED_MILESTONE = "shown"  # the frame has started to show the document


@dataclass
class DocumentLoad:
    """Progress of one document into a frame.

    Attributes:
        milestones: Those it has reached: `shown`, `DOMContentLoaded`, `load`.
        status: Its HTTP status; None for documents that do not come over the network.
        url: The requested address, after redirects.
        error: The browser's error when the document ended early; empty otherwise.
        refused: The answer came from the egress proxy, which refused the request or could not connect.
        canceled: Another navigation took its place before the frame showed it.
    """

    milestones: set[str] = field(default_factory=set)
    status: int | None = None
    url: str = ""
    mime_type: str = ""
    error: str = ""
    refused: bool = False
    canceled: bool = False


def is_proxy_answer(response: dict[str, Any]) -> bool:
    """Return whether the egress proxy itself gave the response.

    Only plain http responses count: inside a TLS tunnel a site could forge the header.
    """
    has_header = any(name.lower() == "proxy-status" for name in response.get("headers", {}))
    return has_header and response.get("url", "").startswith("http:")


class LoadTracker:
    """Loads of the main frame and requests of one page, over all its channels.

    Documents of inner frames are left out, because hundreds of them would displace the main frame's.
    """

    def __init__(self) -> None:
        self._loads: OrderedDict[str, DocumentLoad] = OrderedDict()
        self._open_requests: dict[str, float] = {}
        self._changed = Condition()
        self.commits = 0  # documents that the main frame has started to show
        self.navigating: str | None = None  # the address that the main frame is loading
        self.page_navigations = 0  # navigations that the page itself has asked for
        self.requests = 0  # requests started so far

    def follow_channel(self, channel: TargetChannel, is_main_frame: Callable[[str], bool]) -> None:
        """Subscribe to a channel's events; `is_main_frame` recognizes the main frame's id."""
        channel.on("Page.lifecycleEvent", lambda event: self._handle_lifecycle(event, is_main_frame))
        channel.on("Network.requestWillBeSent", lambda event: self._handle_request(event, is_main_frame))
        channel.on("Network.responseReceived", lambda event: self._handle_response(event, is_main_frame))
        channel.on("Network.loadingFinished", self._handle_request_end)
        channel.on("Network.loadingFailed", self._handle_request_failure)
        channel.on("Page.frameRequestedNavigation", lambda event: self._handle_page_navigation(event, is_main_frame))
        channel.on("Page.frameStartedNavigating", lambda event: self._handle_navigation_start(event, is_main_frame))
        channel.on("Page.frameNavigated", lambda event: self._handle_commit(event["frame"], is_main_frame))
        channel.on("Page.navigatedWithinDocument", lambda event: self._handle_navigation_end(event, is_main_frame))
        channel.on("Page.frameStoppedLoading", lambda event: self._handle_navigation_end(event, is_main_frame))

    def get_load(self, loader_id: str) -> DocumentLoad:
        """Return a document's progress; the last 50 documents are remembered."""
        max_loads = 50
        if loader_id not in self._loads:
            self._loads[loader_id] = DocumentLoad()
            while len(self._loads) > max_loads:
                self._loads.popitem(last=False)
        return self._loads[loader_id]

    def count_open_requests(self, since: float = 0.0) -> int:
        """Count requests that started at or after a time (`time.monotonic`) and are not long polls."""
        long_poll_s = 3.0  # a request that takes longer waits for news
        now = time.monotonic()
        return sum(since <= started and now - started < long_poll_s for started in self._open_requests.values())

    def notify_change(self) -> None:
        """Wake all waiters."""
        self._changed.notify_all()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds; return False when the time is up first."""
        return await self._changed.wait_until(condition, seconds)

    def _handle_lifecycle(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if not is_main_frame(event["frameId"]):
            return
        self.get_load(event["loaderId"]).milestones.add(event["name"])
        self.notify_change()

    def _handle_request(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        # Requests that may stay open for as long as the page lives.
        long_lived_types = frozenset(
            {"EventSource", "WebSocket", "Media", "Ping", "Manifest", "CSPViolationReport", "Preflight"}
        )
        if event["requestId"] == event.get("loaderId") and is_main_frame(event.get("frameId", "")):
            self.get_load(event["loaderId"]).url = event["request"]["url"]
        if event.get("type") not in long_lived_types and not event["request"]["url"].startswith(("data:", "blob:")):
            self._open_requests[event["requestId"]] = time.monotonic()
            self.requests += 1

    def _handle_response(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        is_document = event["requestId"] == event.get("loaderId") and event.get("type") == "Document"
        if not is_document or not is_main_frame(event.get("frameId", "")):
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
        # A document's request id is its loader id. A request canceled by a navigation has not failed.
        if load := self._loads.get(event["requestId"]):
            if event.get("canceled"):
                load.canceled = True
            else:
                load.error = event.get("errorText", "")
            self.notify_change()
        self._handle_request_end(event)

    def _handle_page_navigation(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        self.page_navigations += is_main_frame(event["frameId"])
        self._handle_navigation_start(event, is_main_frame)

    def _handle_navigation_start(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if is_main_frame(event["frameId"]) and event.get("navigationType") != "sameDocument":
            self.navigating = event.get("url", "")
            self.notify_change()

    def _handle_commit(self, frame: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if is_main_frame(frame["id"]):
            self.get_load(frame.get("loaderId", "")).milestones.add(COMMITTED_MILESTONE)
            self.commits += 1
            self.navigating = None
            self._open_requests.clear()
        self.notify_change()

    def _handle_navigation_end(self, event: dict[str, Any], is_main_frame: Callable[[str], bool]) -> None:
        if is_main_frame(event["frameId"]):
            self.navigating = None
        self.notify_change()
