"""What a page does beside its document while an action runs: navigations, dialogs, new pages, downloads."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Self

from outrider.browser.page import Page


class Watch:
    """Listens to a page for as long as the context is open.

    Attributes:
        dialogs: Those that were opened: type, message, url, open.
        new_pages: Addresses of windows that were asked for.
        downloads: Suggested names.
        starting: Another document was asked for and is on its way.
        committed: It has come.
        loaded: And its content has been read.
        blocked: Set while a dialog is open.
        began: When, by `time.monotonic`.
        started: When it first went elsewhere.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._off: list[Callable[[], None]] = []
        self._changed = asyncio.Event()
        self.dialogs: list[dict[str, Any]] = []
        self.new_pages: list[str] = []
        self.downloads: list[str] = []
        self.starting = self.committed = self.loaded = False
        self.blocked = asyncio.Event()
        self.began = self.started = time.monotonic()

    def __enter__(self) -> Self:
        on, main = self._page.channel.on, self._page.main.id
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Page.javascriptDialogOpening": self._dialog,
            "Page.javascriptDialogClosed": lambda _: self._closed(),
            "Page.windowOpen": lambda event: self.new_pages.append(event.get("url", "")),
            "Page.downloadWillBegin": self._download,
            "Page.frameStartedNavigating": lambda event: self._start(event, main),
            "Page.frameRequestedNavigation": lambda event: self._start(event, main),
            "Page.frameNavigated": lambda event: self._commit(event["frame"], main),
            "Page.domContentEventFired": lambda _: self._load(),
            "Page.frameStoppedLoading": lambda event: self._stop(event, main),
        }
        self._off = [on(event, handler) for event, handler in handlers.items()]
        return self

    def __exit__(self, *_: object) -> None:
        for off in self._off:
            off()

    @property
    def is_blocked(self) -> bool:
        """A dialog is open, so the page stands still."""
        return any(each["open"] for each in self.dialogs)

    @property
    def is_kept_back(self) -> bool:
        """A server has not answered yet, and until then the browser keeps all that the page is asked."""
        return self.starting and not (self.committed or self.loaded or self.downloads)

    async def arrived(self) -> None:
        """Waits until the document on its way has been read; gives up after some seconds."""
        waited = 0.0 if self.committed else time.monotonic() - self.started
        try:
            async with asyncio.timeout(max(self._page.patience - waited, 0.0)):
                while not (self.loaded or self.downloads or self.is_blocked):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def _dialog(self, event: dict[str, Any]) -> None:
        told = {"type": event["type"], "message": event["message"], "url": event.get("url", ""), "open": True}
        self.dialogs.append(told)
        self.blocked.set()
        self._changed.set()

    def _closed(self) -> None:
        for each in self.dialogs:
            each["open"] = False
        self.blocked.clear()
        self._changed.set()

    def _download(self, event: dict[str, Any]) -> None:
        self.downloads.append(event.get("suggestedFilename", ""))
        self._changed.set()

    def _start(self, event: dict[str, Any], main: str) -> None:
        same = event.get("navigationType") in ("sameDocument", "historySameDocument")
        elsewhere = event.get("disposition", "currentTab") != "currentTab"
        if event["frameId"] == main and not (same or elsewhere):
            self.started = self.started if self.starting else time.monotonic()
            self.starting = True

    def _commit(self, frame: dict[str, Any], main: str) -> None:
        if frame["id"] == main:
            self.committed, self.loaded = True, False
            self._changed.set()

    def _load(self) -> None:
        self.loaded = self.loaded or self.committed
        self._changed.set()

    def _stop(self, event: dict[str, Any], main: str) -> None:
        """Also how an answer without a document ends: 204, or a download."""
        if event["frameId"] == main and self.starting:
            self.loaded = True
            self._changed.set()
