"""What a page does beside its document while an action runs: navigations, dialogs, new pages, downloads."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Self

from outrider.browser.protocol.page import BrowserPage


class ActionMonitor:
    """Listens to a page for as long as the context is open.

    Attributes:
        dialogs: Those that were opened: type, message, url, open.
        new_pages: Addresses of windows that were asked for.
        downloads: Suggested names.
        is_navigating: Another document was asked for and is on its way.
        is_committed: It has come.
        is_loaded: And its content has been read.
        dialog_opened: Set while a dialog is open.
        opened_at: When, by `time.monotonic`.
        navigation_started_at: When it first went elsewhere.
    """

    def __init__(self, page: BrowserPage) -> None:
        self._page = page
        self._subscriptions: list[Callable[[], None]] = []
        self._changed = asyncio.Event()
        self.dialogs: list[dict[str, Any]] = []
        self.new_pages: list[str] = []
        self.downloads: list[str] = []
        self.is_navigating = self.is_committed = self.is_loaded = False
        self.dialog_opened = asyncio.Event()
        self.opened_at = self.navigation_started_at = time.monotonic()

    def __enter__(self) -> Self:
        on, main = self._page.channel.on, self._page.main.id
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Page.javascriptDialogOpening": self._handle_dialog_opened,
            "Page.javascriptDialogClosed": lambda _: self._handle_dialog_closed(),
            "Page.windowOpen": lambda event: self.new_pages.append(event.get("url", "")),
            "Page.downloadWillBegin": self._handle_download,
            "Page.frameStartedNavigating": lambda event: self._handle_navigation_start(event, main),
            "Page.frameRequestedNavigation": lambda event: self._handle_navigation_start(event, main),
            "Page.frameNavigated": lambda event: self._handle_commit(event["frame"], main),
            "Page.domContentEventFired": lambda _: self._handle_content_loaded(),
            "Page.frameStoppedLoading": lambda event: self._handle_loading_stopped(event, main),
        }
        self._subscriptions = [on(event, handler) for event, handler in handlers.items()]
        return self

    def __exit__(self, *_: object) -> None:
        for off in self._subscriptions:
            off()

    @property
    def is_blocked(self) -> bool:
        """A dialog is open, so the page stands still."""
        return any(each["open"] for each in self.dialogs)

    @property
    def is_awaiting_server(self) -> bool:
        """A server has not answered yet, and until then the browser keeps all that the page is asked."""
        return self.is_navigating and not (self.is_committed or self.is_loaded or self.downloads)

    async def wait_until_loaded(self) -> None:
        """Waits until the document on its way has been read; gives up after some seconds."""
        waited = 0.0 if self.is_committed else time.monotonic() - self.navigation_started_at
        try:
            async with asyncio.timeout(max(self._page.patience - waited, 0.0)):
                while not (self.is_loaded or self.downloads or self.is_blocked):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def _handle_dialog_opened(self, event: dict[str, Any]) -> None:
        told = {"type": event["type"], "message": event["message"], "url": event.get("url", ""), "open": True}
        self.dialogs.append(told)
        self.dialog_opened.set()
        self._changed.set()

    def _handle_dialog_closed(self) -> None:
        for each in self.dialogs:
            each["open"] = False
        self.dialog_opened.clear()
        self._changed.set()

    def _handle_download(self, event: dict[str, Any]) -> None:
        self.downloads.append(event.get("suggestedFilename", ""))
        self._changed.set()

    def _handle_navigation_start(self, event: dict[str, Any], main: str) -> None:
        same = event.get("navigationType") in ("sameDocument", "historySameDocument")
        elsewhere = event.get("disposition", "currentTab") != "currentTab"
        if event["frameId"] == main and not (same or elsewhere):
            self.navigation_started_at = self.navigation_started_at if self.is_navigating else time.monotonic()
            self.is_navigating = True

    def _handle_commit(self, frame: dict[str, Any], main: str) -> None:
        if frame["id"] == main:
            self.is_committed, self.is_loaded = True, False
            self._changed.set()

    def _handle_content_loaded(self) -> None:
        self.is_loaded = self.is_loaded or self.is_committed
        self._changed.set()

    def _handle_loading_stopped(self, event: dict[str, Any], main: str) -> None:
        """Also how an answer without a document ends: 204, or a download."""
        if event["frameId"] == main and self.is_navigating:
            self.is_loaded = True
            self._changed.set()
