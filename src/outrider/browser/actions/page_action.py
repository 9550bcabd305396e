"""Watch a page during an action, and describe the changes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

from outrider.browser.actions.locate import ElementLocation
from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.page.own_requests import is_own_request
from outrider.browser.protocol.cdp import ContextGone, PageGone
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import clean_message, clean_url
from outrider.browser.snapshot.outline import limit_lines
from outrider.browser.snapshot.snapshot import Snapshotter


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
        """Whether a navigation waits for its server; until it answers, the browser holds back commands to the page."""
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
        # Responses without a document also end like this: 204, or a download.
        if event["frameId"] == main_id and self.is_navigating:
            self.is_loaded = True
            self._changed.set()


@dataclass(frozen=True)
class PageAction:
    """An action on a page that has begun; see `Pointer.begin_action`.

    Attributes:
        snapshotter: The page's snapshotter.
        monitor: Records what happens on the page.
        url_before: The page's address before the action.
        waits: Whether to wait for the effects, and to show what has changed.
    """

    snapshotter: Snapshotter
    monitor: ActionMonitor
    url_before: str
    waits: bool

    async def run_unless_blocked(self, work: Awaitable[Any], timeout_s: float | None = None) -> Any:
        """Return the result of work in the page; None if a dialog blocks it.

        Also None if the server of a navigation does not answer within `timeout_s`.
        """
        monitor = self.monitor
        dialog_grace_s = 0.3  # a dialog policy may answer the dialog within this time
        if monitor.is_blocked:
            if asyncio.iscoroutine(work):
                work.close()
            return None
        task, dialog = asyncio.ensure_future(work), asyncio.ensure_future(monitor.dialog_opened.wait())
        task.add_done_callback(lambda future: future.cancelled() or future.exception())
        futures = {task, dialog}
        while not any(future.done() for future in futures):
            done, _ = await asyncio.wait(futures, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if not done and monitor.is_awaiting_server:  # a busy page may begin to navigate only now
                task.cancel()
        dialog.cancel()
        if not task.done():
            await asyncio.wait({task}, timeout=dialog_grace_s)
        return task.result() if task.done() and not task.cancelled() else None

    async def wait_for_effects(self, frame: Frame, ref: str) -> dict[str, Any]:
        """Wait until the page is quiet and return the press guard's report.

        The report is empty when the document is gone or a dialog blocks it.
        """
        landing_timeout_s = 1.0  # for the report if the effects are not awaited
        network_grace_s = 1.0  # for requests that the action started, after the page itself is quiet
        monitor, loading = self.monitor, self.snapshotter.page.loading
        timeout_s = self.snapshotter.page.arrival_timeout_s if self.waits else landing_timeout_s
        try:
            report = await self.run_unless_blocked(self._report_effects(frame, ref), timeout_s) or {}
            if self.waits and not monitor.is_navigating and loading.count_open_requests(monitor.opened_at):
                await loading.wait_until(lambda: not loading.count_open_requests(monitor.opened_at), network_grace_s)
                quiet = self.snapshotter.scripts.invoke(frame, "waitUntilQuiet")
                report |= await self.run_unless_blocked(quiet) or {}
        except (ContextGone, PageGone):
            return {}
        return report

    async def _report_effects(self, frame: Frame, ref: str) -> dict[str, Any]:
        invoke, internals = self.snapshotter.scripts.invoke, self.snapshotter.internals
        if internals.is_known(frame):
            if self.waits:
                await invoke(frame, "waitUntilQuiet")
            await internals.refresh(frame)
        return await invoke(frame, "reportEffects", ref, {"wait": self.waits})

    async def build_outcome(
        self, kind: str, location: ElementLocation | None, report: dict[str, Any], *, element: str = ""
    ) -> ActionOutcome:
        """Build the outcome of an action, with the difference since the last snapshot."""
        monitor, page = self.monitor, self.snapshotter.page
        if self.waits and monitor.is_navigating and not monitor.is_blocked:
            await monitor.wait_until_loaded()
        outcome = ActionOutcome(
            kind, element or (location.element if location else ""), ref=location.ref if location else ""
        )
        outcome.location = location
        outcome.navigated = monitor.is_committed
        # A frame reports its own address, which is not the page's.
        is_main = location is None or location.frame.parent is None
        told_url = report.get("url") if is_main and not monitor.is_committed else None
        outcome.url = told_url or page.url
        outcome.moved = outcome.url != self.url_before
        outcome.new_pages, outcome.dialogs, outcome.downloads = monitor.new_pages, monitor.dialogs, monitor.downloads
        outcome.errors = monitor.errors
        outcome.focused = report.get("focused", "")
        outcome.facts = {name: location.report[name] for name in ("rect", "viewport")} if location else {}
        if monitor.is_awaiting_server and (self.waits or not report) and (target := page.loading.navigating):
            outcome.note = (
                f"the page is loading {target[:300]}, which has not answered yet; "
                "looking at the page again stops that if there is still no answer"
            )
        elif self.waits and not monitor.is_blocked:
            outcome.changes = await self._describe_changes()
        return outcome

    async def _describe_changes(self) -> str:
        """Return the changes since the last snapshot, or a new snapshot.

        It is a new one if too much has changed.
        """
        max_chars = 3_000
        try:
            diff, _ = await self.snapshotter.diff_since_last()
        except (ContextGone, PageGone):
            return ""
        if diff.whole:
            return str(await self.snapshotter.take_snapshot("viewport", limit=max_chars))
        return str(limit_lines(list(diff.lines), max_chars))
