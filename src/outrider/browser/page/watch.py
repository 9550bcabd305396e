"""Monitor navigations, dialogs, new pages and downloads during an action."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Self

from outrider.browser.page.own_requests import is_own_request
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import clean_message, clean_url


class ActionMonitor:
    """Records a page's events while the context is open.

    Attributes:
        dialogs: Dialogs that opened: type, message, url, open.
        new_pages: Addresses of windows that were requested.
        downloads: Suggested file names.
        errors: Exceptions of the page and failed requests, one line each.
        is_navigating: Another document was requested.
        is_committed: The frame has started to show it.
        is_loaded: Its content has been parsed.
        dialog_opened: Set while a dialog is open.
        opened_at: When the monitor started, by `time.monotonic`.
        navigation_started_at: When the first navigation started.
    """

    def __init__(self, page: BrowserPage) -> None:
        self._page = page
        self._subscriptions: list[Callable[[], None]] = []
        self._changed = asyncio.Event()
        self.dialogs: list[dict[str, Any]] = []
        self.new_pages: list[str] = []
        self.downloads: list[str] = []
        self.errors: list[str] = []
        self._requests: dict[str, tuple[str, str]] = {}
        self.is_navigating = self.is_committed = self.is_loaded = False
        self.dialog_opened = asyncio.Event()
        self.opened_at = self.navigation_started_at = time.monotonic()

    def __enter__(self) -> Self:
        on, main_id = self._page.channel.on, self._page.main.id

        def add_download(event: dict[str, Any]) -> None:
            self.downloads.append(event.get("suggestedFilename", ""))
            self._changed.set()

        def add_exception(event: dict[str, Any]) -> None:
            details = event["exceptionDetails"]
            text = str(details.get("exception", {}).get("description") or details.get("text", ""))
            first_line = text.partition("\n")[0]
            self._add_error(f"exception: {clean_message(first_line)[:300]}")

        def add_request(event: dict[str, Any]) -> None:
            self._requests[event["requestId"]] = (event["request"]["method"], event["request"]["url"])

        def add_failure(event: dict[str, Any]) -> None:
            if not event.get("canceled"):
                self._add_failed_request(event["requestId"], event.get("errorText", ""))

        def mark_loaded(_: dict[str, Any]) -> None:
            self.is_loaded = self.is_loaded or self.is_committed
            self._changed.set()

        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Runtime.exceptionThrown": add_exception,
            "Network.requestWillBeSent": add_request,
            "Network.responseReceived": self._handle_response,
            "Network.loadingFailed": add_failure,
            "Page.javascriptDialogOpening": self._handle_dialog_opened,
            "Page.javascriptDialogClosed": self._handle_dialog_closed,
            "Page.windowOpen": lambda event: self.new_pages.append(event.get("url", "")),
            "Page.downloadWillBegin": add_download,
            "Page.frameStartedNavigating": lambda event: self._handle_navigation_start(event, main_id),
            "Page.frameRequestedNavigation": lambda event: self._handle_navigation_start(event, main_id),
            "Page.frameNavigated": lambda event: self._handle_commit(event["frame"], main_id),
            "Page.domContentEventFired": mark_loaded,
            "Page.frameStoppedLoading": lambda event: self._handle_loading_stopped(event, main_id),
        }
        self._subscriptions = [on(event, handler) for event, handler in handlers.items()]
        return self

    def __exit__(self, *_: object) -> None:
        for unsubscribe in self._subscriptions:
            unsubscribe()

    @property
    def is_blocked(self) -> bool:
        """Whether a dialog is open, which stops the page's scripts."""
        return any(dialog["open"] for dialog in self.dialogs)

    @property
    def is_awaiting_server(self) -> bool:
        """Whether a navigation's server has not answered, during which the browser holds back commands to the page."""
        return self.is_navigating and not (self.is_committed or self.is_loaded or self.downloads)

    async def wait_until_loaded(self) -> None:
        """Wait until the new document has been parsed, at most the page's arrival timeout."""
        waited_s = 0.0 if self.is_committed else time.monotonic() - self.navigation_started_at
        try:
            async with asyncio.timeout(max(self._page.arrival_timeout_s - waited_s, 0.0)):
                while not (self.is_loaded or self.downloads or self.is_blocked):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def _add_error(self, line: str) -> None:
        max_errors = 20
        if len(self.errors) < max_errors and line not in self.errors:
            self.errors.append(line)

    def _handle_response(self, event: dict[str, Any]) -> None:
        client_error_status = 400
        if (status := event["response"].get("status") or 0) >= client_error_status:
            self._add_failed_request(event["requestId"], str(status))

    def _add_failed_request(self, request_id: str, reason: str) -> None:
        # Requests from before the action are not its effects.
        method, url = self._requests.get(request_id, ("", ""))
        if url and not is_own_request(url):
            self._add_error(f"request failed: {method} {clean_url(url)[:300]} {reason}")

    def _handle_dialog_opened(self, event: dict[str, Any]) -> None:
        dialog = {"type": event["type"], "message": event["message"], "url": event.get("url", ""), "open": True}
        self.dialogs.append(dialog)
        self.dialog_opened.set()
        self._changed.set()

    def _handle_dialog_closed(self, _: dict[str, Any]) -> None:
        for dialog in self.dialogs:
            dialog["open"] = False
        self.dialog_opened.clear()
        self._changed.set()

    def _handle_navigation_start(self, event: dict[str, Any], main_id: str) -> None:
        same_document = event.get("navigationType") in ("sameDocument", "historySameDocument")
        other_tab = event.get("disposition", "currentTab") != "currentTab"
        if event["frameId"] == main_id and not (same_document or other_tab):
            self.navigation_started_at = self.navigation_started_at if self.is_navigating else time.monotonic()
            self.is_navigating = True

    def _handle_commit(self, frame: dict[str, Any], main_id: str) -> None:
        if frame["id"] == main_id:
            self.is_committed, self.is_loaded = True, False
            self._changed.set()

    def _handle_loading_stopped(self, event: dict[str, Any], main_id: str) -> None:
        # Answers without a document end like this too: 204, or a download.
        if event["frameId"] == main_id and self.is_navigating:
            self.is_loaded = True
            self._changed.set()
