"""What a page's documents and requests are doing: the ground that waiting stands on."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.bell import Bell
from outrider.browser.cdp import Channel

DOCUMENTS = 50  # loads that are remembered
# Requests that may stay open for as long as the page lives.
ENDLESS = frozenset({"EventSource", "WebSocket", "Media", "Ping", "Manifest", "CSPViolationReport", "Preflight"})
SHOWN = "shown"  # the mark of a document that its frame has begun to show
LONG = 3.0  # seconds after which a request counts as one that waits for news


@dataclass
class Load:
    """One document's way into a frame.

    Attributes:
        marks: What it has passed: `shown`, `DOMContentLoaded`, `load`.
        status: Its HTTP status; None for documents that come by no network.
        url: What was asked for, after redirects.
        broken: The browser's error when the document broke off in the middle; empty if it did not.
        refused: The answer is the egress proxy's own, which could or would not let the request through.
    """

    marks: set[str] = field(default_factory=set)
    status: int | None = None
    url: str = ""
    mime_type: str = ""
    broken: str = ""
    refused: bool = False


def answered_by_proxy(response: dict[str, Any]) -> bool:
    """Whether a response is the egress proxy's own. Inside a tunnel, where a site might play it, it never is."""
    named = any(name.lower() == "proxy-status" for name in response.get("headers", {}))
    return named and response.get("url", "").startswith("http:")


class Loading:
    """Follows the loads and requests of one page, over all its channels."""

    def __init__(self) -> None:
        self._loads: OrderedDict[str, Load] = OrderedDict()
        self._open: dict[str, float] = {}
        self._bell = Bell()
        self.commits = 0  # documents that the page itself has begun to show
        self.navigating: str | None = None  # the address that the page itself is on its way to
        self.requests = 0  # requests begun in all

    def follow(self, channel: Channel, main: Callable[[str], bool]) -> None:
        """Listens to a channel; `main` says whether a frame is the page itself."""
        channel.on("Page.lifecycleEvent", self._marked)
        channel.on("Network.requestWillBeSent", self._asked)
        channel.on("Network.responseReceived", self._answered)
        channel.on("Network.loadingFinished", self._over)
        channel.on("Network.loadingFailed", self._failed)
        channel.on("Page.frameRequestedNavigation", lambda event: self._leaving(event, main))
        channel.on("Page.frameStartedNavigating", lambda event: self._leaving(event, main))
        channel.on("Page.frameNavigated", lambda event: self._committed(event["frame"], main))
        channel.on("Page.navigatedWithinDocument", lambda event: self._arrived(event, main))
        channel.on("Page.frameStoppedLoading", lambda event: self._arrived(event, main))

    def load(self, loader_id: str) -> Load:
        """What is known of a document."""
        if loader_id not in self._loads:
            self._loads[loader_id] = Load()
            while len(self._loads) > DOCUMENTS:
                self._loads.popitem(last=False)
        return self._loads[loader_id]

    def busy(self, since: float = 0.0) -> int:
        """Requests under way that began at or after a time (`time.monotonic`) and are not waiting for news."""
        now = time.monotonic()
        return sum(since <= begun and now - begun < LONG for begun in self._open.values())

    def ring(self) -> None:
        """Lets everybody who waits look again."""
        self._bell.ring()

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until the condition holds; False when it did not in time."""
        return await self._bell.until(condition, seconds)

    def _marked(self, event: dict[str, Any]) -> None:
        self.load(event["loaderId"]).marks.add(event["name"])
        self.ring()

    def _asked(self, event: dict[str, Any]) -> None:
        if event["requestId"] == event.get("loaderId"):
            self.load(event["loaderId"]).url = event["request"]["url"]
        if event.get("type") not in ENDLESS and not event["request"]["url"].startswith(("data:", "blob:")):
            self._open[event["requestId"]] = time.monotonic()
            self.requests += 1

    def _answered(self, event: dict[str, Any]) -> None:
        if event["requestId"] != event.get("loaderId") or event.get("type") != "Document":
            return
        response, load = event["response"], self.load(event["loaderId"])
        load.status, load.url = response.get("status"), response.get("url", "")
        load.mime_type = response.get("mimeType", "")
        load.refused = answered_by_proxy(response)
        self.ring()

    def _over(self, event: dict[str, Any]) -> None:
        if self._open.pop(event["requestId"], None) is not None:
            self.ring()

    def _failed(self, event: dict[str, Any]) -> None:
        # Of a document the request has the name of the load. One that a navigation cancels did not break.
        if event["requestId"] in self._loads and not event.get("canceled"):
            self._loads[event["requestId"]].broken = event.get("errorText", "")
            self.ring()
        self._over(event)

    def _leaving(self, event: dict[str, Any], main: Callable[[str], bool]) -> None:
        if main(event["frameId"]) and event.get("navigationType") != "sameDocument":
            self.navigating = event.get("url", "")
            self.ring()

    def _committed(self, frame: dict[str, Any], main: Callable[[str], bool]) -> None:
        self.load(frame.get("loaderId", "")).marks.add(SHOWN)
        if main(frame["id"]):
            self.commits += 1
            self.navigating = None
            self._open.clear()
        self.ring()

    def _arrived(self, event: dict[str, Any], main: Callable[[str], bool]) -> None:
        if main(event["frameId"]):
            self.navigating = None
        self.ring()
