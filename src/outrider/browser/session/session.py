"""A session: one isolated browser window of one caller, with its tabs, its logs and its way back after a crash."""

import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from outrider.browser.actions.page_tools import forget_snapshot
from outrider.browser.live.control import SessionControl
from outrider.browser.live.pause_gate import CallLock, PauseGate
from outrider.browser.live.screencast import Screencast
from outrider.browser.page.console import ConsoleLog
from outrider.browser.page.dialogs import Dialogs
from outrider.browser.page.downloads import Downloads
from outrider.browser.page.hang_detector import REOPEN_HINT, HangDetector, build_browser_gone
from outrider.browser.page.navigate import BLANK_URL, NavigationResult, navigate_page, reload_page, step_history
from outrider.browser.page.network import NetworkLog
from outrider.browser.page.tabs import Tabs
from outrider.browser.process.context import BrowserContext, authenticate_proxy
from outrider.browser.process.emulate import Emulation, fit_window
from outrider.browser.protocol.cdp import BrowserGone, PageGone, ProtocolError
from outrider.browser.protocol.page import BrowserPage, ClipboardIsolation
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.parking import ParkedTabs, capture_tabs, restore_tabs
from outrider.browser.session.storage_snapshot import StorageTracker
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError, Unavailable

SessionStatus = Literal["active", "parked", "crashed", "closed"]


class Session:
    """One session. Made by `Browsers.open`.

    Attributes:
        id: Its name, a UUID.
        owner: The conversation that it belongs to.
        tabs: Its pages.
        console: What its pages have said.
        network: What they have requested.
        dialogs: What they have asked.
        downloads: What they have handed out.
        notes: What happened without being asked for, newest last; whoever reports them clears them.
        clipboard: Keeps what it copies apart from other sessions.
        control: Who acts in it: its agent, or a person.
        screencast: Shows it to people.
    """

    def __init__(
        self, owner: str, options: SessionOptions, look: Emulation, settings: BrowserSettings, guard: EgressGuard
    ) -> None:
        self.id = str(uuid.uuid4())
        self.owner = owner
        self.options = options
        self.emulation = look
        self.created_at = self.used_at = time.time()
        self.tabs = Tabs(settings.max_tabs)
        self.clipboard: ClipboardIsolation | None = None
        self.tabs.on_crash = self._handle_page_crash
        self.console = ConsoleLog()
        self.network = NetworkLog(lambda url: self._context.explain_failure(url) if self._context else None)
        self.dialogs = Dialogs(options.dialogs or settings.dialogs)
        self.notes: list[str] = []
        self.lost: OutriderError | None = None
        self.closed = False
        self._settings, self._guard = settings, guard
        self._context: BrowserContext | None = None
        self._parked: ParkedTabs | None = None
        self._hang_detector = HangDetector(self.dialogs, self._add_note)
        self._storage = StorageTracker()
        self._title = options.title
        self._call_lock = CallLock(PauseGate(settings.paused_seconds))
        self.control = SessionControl(self._call_lock.gate, lambda: self.tabs.alive_page, self._handle_handback)
        self.screencast = Screencast(self.tabs, lambda: not self.emulation.window)
        self.dialogs.is_person_acting = lambda: self.control.holder is not None
        self._stop_listening: Callable[[], None] = lambda: None
        self.downloads = Downloads(Path(), options.download_folder or Path.cwd() / "downloads", 0)

    async def attach_context(
        self, context: BrowserContext, page: BrowserPage, staging: Path, state: dict[str, Any] | None = None
    ) -> None:
        """Moves into a context, after the first start or after a crash."""
        await self.leave_context()
        self._context, self.lost = context, None
        context.set_owner(self)
        if state:
            await self._storage.restore_state(context, state)
        self.downloads.stop()
        self.downloads = Downloads(staging / self.id, self.downloads.folder, self._settings.download_bytes)
        await self.downloads.start(context.browser.connection, context.id, self._owns_frame)
        self._stop_listening = context.browser.connection.on_lost(self._handle_browser_loss)
        await self.prepare_page(page)
        if self.emulation.window and context.id is not None:
            await fit_window(page.channel, self.emulation.size)
        self.tabs.add(page, front=True)

    @property
    def status(self) -> SessionStatus:
        """`active`, `parked`, `crashed` or `closed`."""
        if self.closed:
            return "closed"
        if self.lost is not None or self._hang_detector.is_hanging(self.tabs.current):
            return "crashed"
        return "parked" if self._parked else "active"

    @property
    def url(self) -> str:
        """Where it is, or was."""
        return self._parked.url if self._parked else self.tabs.url

    @property
    def known_title(self) -> str:
        """Its title when it was last asked for."""
        return self._title

    @property
    def stored_state(self) -> dict[str, Any] | None:
        """What it had stored a moment after the last call; a browser that dies takes the rest with it."""
        return self._storage.latest_state

    def mark_orphaned(self, session_id: str, url: str, memory: dict[str, Any] | None) -> None:
        """Becomes a session of a process that has died: with nothing but its name, address and what it had stored."""
        self.id, self._storage.latest_state, self._parked = session_id, memory, ParkedTabs((url,), 0)
        self.lost = build_browser_gone("the process that it was in has ended", url)

    @property
    def browser_gone(self) -> bool:
        """Whether not only its page but its browser is lost."""
        return isinstance(self.lost, BrowserGone)

    @property
    def egress_proxy(self) -> EgressProxy | None:
        """Its own way out; None while it has none, or in a browser that is not ours."""
        return self._context.proxy if self._context else None

    @property
    def is_window_closed(self) -> bool:
        """Whether a person has closed its window."""
        here = self.emulation.window and self._context is not None and self.lost is None
        return here and not len(self.tabs) and not self._parked and not self.in_use

    @property
    def in_use(self) -> bool:
        return self._call_lock.is_held

    async def read_title(self) -> str:
        """The page's title; the session's own while there is no page to ask."""
        page = self.tabs.current
        if page is None or page.lost or self._parked or self.in_use:
            return self._title
        with suppress(OutriderError):
            self._title = str(await page.evaluate_in("outrider", "() => document.title", timeout=1.0) or self._title)
        return self._title

    @asynccontextmanager
    async def acquire_page(self, *, gated: bool = True) -> AsyncGenerator[BrowserPage]:
        """The page in front, awake, for one call at a time.

        Args:
            gated: Waits while a person has paused the session; False for those who only look, and for the person.

        Raises Unavailable (code `page_crashed`, `page_hangs`, `browser_gone`) naming the address, until `reopen`
        or `goto`; `paused` when a person needs very long.
        """
        async with self._call_lock.hold(gated=gated):
            self._begin_call()
            try:
                yield await self._hang_detector.require_responsive(await self._require_page())
            finally:
                self._finish_call()

    async def goto(self, url: str, *, gated: bool = True) -> NavigationResult:
        """Goes to an address in the current tab; one that has crashed or hangs is replaced first. See `navigate`."""
        async with self._call_lock.hold(gated=gated):
            self._begin_call()
            if self.lost is not None and not self.browser_gone:
                await self._replace_page()
            elif self.tabs.current and (
                self.dialogs.is_storm or await self._hang_detector.detect_hang(self.tabs.current)
            ):
                self.notes.append("the page did not answer any more and was replaced by a new one, without its history")
                await self._replace_page()
            if self._parked:
                self._parked = self._parked.to_blank()
            try:
                return await self._navigate_page(await self._require_page(), url)
            finally:
                self._finish_call()

    async def go_back(self, *, gated: bool = True) -> NavigationResult:
        """One step back; `moved` is False at the beginning."""
        async with self.acquire_page(gated=gated) as page:
            return await step_history(page, -1, seconds=self._settings.navigation_seconds)

    async def go_forward(self, *, gated: bool = True) -> NavigationResult:
        """One step forward; `moved` is False at the end."""
        async with self.acquire_page(gated=gated) as page:
            return await step_history(page, 1, seconds=self._settings.navigation_seconds)

    async def reload(self, *, ignore_cache: bool = False, gated: bool = True) -> NavigationResult:
        """Loads the page again."""
        async with self.acquire_page(gated=gated) as page:
            return await reload_page(page, ignore_cache=ignore_cache, seconds=self._settings.navigation_seconds)

    async def open_tab(self, url: str = BLANK_URL) -> NavigationResult:
        """Opens a tab, puts it in front and goes there. Raises Unavailable when there are too many."""
        async with self._call_lock.hold():
            await self._require_page()
            if self.tabs.is_full:
                raise Unavailable("the session has too many tabs", code="too_many_tabs", hint="close one first")
            await self._open_tab()
        return await self.goto(url)

    async def switch_tab(self, number: int, *, gated: bool = True) -> BrowserPage:
        """Puts the tab of that number in front. Raises NotFound."""
        async with self._call_lock.hold(gated=gated):
            await self._require_page()
            self.tabs.current = page = self.tabs.get_page(number)
            await page.send("Page.bringToFront")
            return page

    async def close_tab(self, number: int) -> None:
        """Closes a tab; the session keeps at least an empty one. Raises NotFound."""
        async with self._call_lock.hold():
            page = self.tabs.get_page(number)
            if await self._hang_detector.detect_hang(page):
                page.channel.send_and_forget("Page.crash")  # one that hangs would not let itself be closed
            await self._require_context().browser.close_page(page)

    async def reopen(self) -> NavigationResult:
        """Goes back to where it was with a new page, after a crash or when the page hangs."""
        async with self._call_lock.hold():
            url = self.url
            await self._replace_page()
            return await self._navigate_page(await self._require_page(), url)

    async def read_state(self) -> dict[str, Any]:
        """Its cookies and local storage, for `States.save`."""
        async with self._call_lock.hold():
            return await self._storage.capture_state(self._require_context())

    async def peek_state(self) -> dict[str, Any]:
        """The same as far as its open pages show it, without opening one for it or waiting for a call to end."""
        return await self._storage.peek_state(self._require_context(), self.tabs)

    async def park(self) -> bool:
        """Puts the pages away and keeps what they stored; False when something would be lost by it."""
        if self.in_use or self.status != "active" or self.control.paused or self.dialogs.open_dialog:
            return False
        async with self._call_lock.hold(gated=False):
            self._parked = await capture_tabs(self.tabs)
            for page in self.tabs.clear() if self._parked else ():
                await self._require_context().browser.close_page(page)
            return self._parked is not None

    async def wake(self) -> None:
        """Opens the pages again that were put away, also while it is paused: a person wants to see them."""
        async with self._call_lock.hold(gated=False):
            await self._require_page()

    async def aclose(self) -> None:
        """Closes it, and forgets all that it stored."""
        self.mark_closed()
        self.tabs.clear()
        await self.leave_context()

    def mark_closed(self) -> None:
        """Whoever waits for it or watches it hears that it is closed."""
        self.closed = True
        self.control.close()
        self.screencast.close()

    async def leave_context(self) -> None:
        """Gives its context up, with all that is stored there."""
        self.downloads.stop()
        self._stop_listening()
        context, self._context = self._context, None
        if context is None:
            return
        with suppress(OutriderError):
            await context.aclose()

    def set_user_agent(self, user_agent: str, version: str) -> None:
        """How its pages name their browser."""
        self.emulation = replace(self.emulation, user_agent=user_agent, version=version)

    async def prepare_page(self, page: BrowserPage) -> None:
        """Sets up a page before its first document runs."""
        if self.tabs.is_full:
            return
        page.clipboard, page.patience = self.clipboard, self._settings.arrival_seconds
        page.frames.on_navigation(self._storage.record_visit)
        for dress in (self.console.set_up_channel, self.network.set_up_channel, self.dialogs.set_up_channel):
            await page.add_channel_setup(dress)
        await page.add_channel_setup(
            lambda channel: self.emulation.set_up_channel(channel, whole=channel is page.channel)
        )
        page.on_lost(lambda lost: self.dialogs.forget_channel(lost.channel))

    def adopt_popup(self, page: BrowserPage) -> None:
        """A pop-up has opened: it becomes a tab, behind the current one."""
        self.tabs.count_opened()
        if self.tabs.is_full:
            self.notes.append("a pop-up was closed: the session has too many tabs")
            browser = self._require_context().browser
            browser.connection.spawn_task(browser.close_page(page), "closing a pop-up")
            return
        self.tabs.add(page, front=False)

    def has_target(self, target_id: str | None) -> bool:
        """Whether one of its tabs is that target."""
        return any(page.target_id == target_id for page in self.tabs)

    async def _navigate_page(self, page: BrowserPage, url: str) -> NavigationResult:
        """Goes there; once more if the browser's network process has died and forgotten its credential."""
        seconds = self._settings.navigation_seconds
        try:
            return await navigate_page(page, url, guard=self._guard, explainer=self._context, seconds=seconds)
        except Unavailable as error:
            if error.code != "proxy_auth" or self.egress_proxy is None:
                raise
        await authenticate_proxy(page, self.egress_proxy)
        return await navigate_page(page, url, guard=self._guard, explainer=self._context, seconds=seconds)

    async def _require_page(self) -> BrowserPage:
        """The page in front. Raises what the session was lost by."""
        if self.closed:
            raise PageGone("the session has been closed", code="session_not_found", hint="create a new session")
        if self.lost is not None:
            raise self.lost
        if self._parked:
            await self._wake()
        return self.tabs.current or await self._open_tab()

    def _add_note(self, text: str) -> None:
        self.notes.append(text)

    def _begin_call(self) -> None:
        self.used_at = time.time()
        self.downloads.reset_burst()

    def _finish_call(self) -> None:
        self.used_at = time.time()
        if self._context is not None and self._context.id is not None and not self.lost:
            self._storage.schedule_capture(self._context, self.tabs)

    async def _wake(self) -> None:
        """Opens the pages again that were put away."""
        parked, self._parked = self._parked, None
        assert parked is not None
        if await restore_tabs(parked, self._open_tab, self._navigate_page):
            self.notes.append("the session was asleep: its pages were loaded again")

    async def _open_tab(self, front: bool = True) -> BrowserPage:
        page = await self._require_context().new_page()
        await self.prepare_page(page)
        self.tabs.add(page, front=front)
        return page

    async def _replace_page(self) -> None:
        """A new page in the place of one that crashed or hangs."""
        if self.lost is not None and self.browser_gone:
            raise self.lost
        old = self.tabs.current
        if old is not None:
            self.tabs.remove_page(old)
            if not old.crashed:  # one that hangs would not let itself be closed, and may keep the browser from all else
                old.channel.send_and_forget("Page.crash")
        await self._open_tab()
        self.lost = None
        if old is not None:
            with suppress(OutriderError, ProtocolError):
                await self._require_context().browser.close_page(old)

    def _handle_handback(self) -> None:
        """A person had control: what the agent saw before holds no longer."""
        note = "a person had control of this session meanwhile: the page may be different from what you saw before"
        self.used_at = time.time()
        if note not in self.notes:
            self.notes.append(note)
        self.dialogs.resume_policy()
        for page in self.tabs:
            forget_snapshot(page)

    def _handle_page_crash(self, page: BrowserPage) -> None:
        if page is self.tabs.current:
            self.lost = page.lost
        elif page in tuple(self.tabs):
            self.tabs.remove_page(page)
            self.notes.append("a tab in the background has crashed and was closed")

    def _handle_browser_loss(self, reason: str) -> None:
        if not self.closed:
            self.lost = build_browser_gone(reason, self.url)

    def _owns_frame(self, frame_id: str) -> bool:
        return any(frame_id == page.target_id or page.frames.get(frame_id) for page in self.tabs)

    def _require_context(self) -> BrowserContext:
        if self._context is None:
            raise Unavailable("the session has no browser", code="browser_gone", hint=REOPEN_HINT)
        return self._context
