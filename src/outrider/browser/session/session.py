"""Browser session: tabs, logs, control and recovery after a crash."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal

import anyio

from outrider.browser.actions.outcome import ActionLog, PageMilestones
from outrider.browser.actions.page_tools import forget_snapshot, get_page_tools
from outrider.browser.devtools.conditions import PERMISSIONS, Conditions
from outrider.browser.devtools.routes import Routes
from outrider.browser.devtools.trace import Trace
from outrider.browser.devtools.web_mcp import OfferedTools
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
from outrider.browser.page.uploads import stage_uploads
from outrider.browser.process.context import BrowserContext, authenticate_proxy
from outrider.browser.process.emulate import Emulation, fit_window
from outrider.browser.protocol.cdp import BrowserGone, PageGone, ProtocolError, TargetChannel
from outrider.browser.protocol.page import BrowserPage, ClipboardIsolation
from outrider.browser.protocol.redact import record_url
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.parking import ParkedTabs, capture_tabs, restore_tabs
from outrider.browser.session.person_recorder import PersonRecorder
from outrider.browser.session.storage import StorageTracker
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError, Refused, Unavailable

SessionStatus = Literal["active", "parked", "crashed", "closed"]
NAVIGATION_TIMEOUT_S = 30.0


class Session:
    """One caller's isolated browser window; opened by `Browsers.open_session`.

    Attributes:
        id: Its id, a UUID.
        owner: The conversation that it belongs to.
        tabs: Its open pages.
        console: Console messages of its pages.
        network: Requests of its pages.
        routes: Requests of its pages that are blocked, mocked or delayed.
        offered_tools: Tools that its pages register for agents; None if the operator has not turned them on.
        dialogs: Dialogs of its pages.
        downloads: Downloads of its pages.
        trace: The recording of its calls; None while there is none.
        recorder: Adds a person's actions in its window to `actions`; None if only calls are recorded.
        actions: The actions in it, with the evidence from which flows are made.
        is_apart: Whether calls without a session id prefer another session.
        notes: Unexpected events for the next result, newest last; the code that reports them clears them.
        clipboard: Separates its clipboard from other sessions'.
        control: Gives control to its agent or to a person.
        screencast: Shows it to viewers.
    """

    recorder: PersonRecorder | None = None

    def __init__(
        self, owner: str, options: SessionOptions, emulation: Emulation, settings: BrowserSettings, guard: EgressGuard
    ) -> None:
        self.id = str(uuid.uuid4())
        self.owner = owner
        self.options = options
        self.emulation = self._own_emulation = emulation
        self.conditions = Conditions()
        self.created_at = self.used_at = time.time()
        self.tabs = Tabs()
        self.clipboard: ClipboardIsolation | None = None
        self.tabs.on_crash = self._handle_page_crash
        self.console, self.actions = ConsoleLog(), ActionLog()
        self.network = NetworkLog(lambda url: self._context.explain_failure(url) if self._context else None)
        self.routes, self.offered_tools = Routes(), OfferedTools() if settings.web_mcp else None
        self.trace: Trace | None = None
        # A flow must also answer such a dialog; the press that opened it is recorded after it.
        self.dialogs = Dialogs(
            options.dialogs or settings.dialogs, lambda: self.actions.add("dialog", {"accept": False, "next": True})
        )
        self.notes: list[str] = []
        self.lost: OutriderError | None = None
        self.closed = self.is_apart = False
        self.staging: Path | None = None  # our copies of downloads and uploads
        self._settings, self._guard = settings, guard
        self._context: BrowserContext | None = None
        self._parked: ParkedTabs | None = None
        self._hang_detector = HangDetector(self.dialogs, self._add_note)
        self._storage = StorageTracker()
        self._title = options.title
        self._call_lock = CallLock(PauseGate())
        self.control = SessionControl(self._call_lock.gate, lambda: self.tabs.alive_page, self._handle_handback)
        self.screencast = Screencast(self.tabs, lambda: not self.emulation.window)
        self.dialogs.is_person_acting = lambda: self.control.holder is not None
        self._stop_listening: Callable[[], None] = lambda: None
        self.downloads = Downloads(Path(), options.workspace or Path(), 0)

    async def attach_context(
        self, context: BrowserContext, page: BrowserPage, staging: Path, state: dict[str, Any] | None = None
    ) -> None:
        """Use a context, at the start or after a crash."""
        await self.leave_context()
        self._context, self.lost = context, None
        context.set_owner(self)
        if state:
            await self._storage.restore_state(context, state)
        self.downloads.stop()
        self.staging = staging / self.id
        max_bytes = self._settings.download_bytes if self.options.workspace else 0
        self.downloads = Downloads(self.staging, self.downloads.workspace, max_bytes, self.options.protected)
        await self.downloads.start(context.browser.connection, context.id, self._owns_frame)
        self._stop_listening = context.browser.connection.on_lost(self._handle_browser_loss)
        await self.prepare_page(page)
        if self.conditions.permissions:
            await self._grant_permissions(self.conditions)
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
        """The address of its current tab, also while it is parked."""
        return self._parked.url if self._parked else self.tabs.url

    @property
    def known_title(self) -> str:
        """Its title when it was last read."""
        return self._title

    @property
    def stored_state(self) -> dict[str, Any] | None:
        """Its cookies and storage shortly after the last call, which survive the browser."""
        return self._storage.latest_state

    def mark_orphaned(self, session_id: str, url: str, memory: dict[str, Any] | None) -> None:
        """Become the session of a process that has ended; only id, address and stored state are known."""
        self.id, self._storage.latest_state, self._parked = session_id, memory, ParkedTabs((url,), 0)
        self.lost = build_browser_gone("its process has ended", url)

    @property
    def browser_gone(self) -> bool:
        """Whether the whole browser is lost, not only a page."""
        return isinstance(self.lost, BrowserGone)

    @property
    def egress_proxy(self) -> EgressProxy | None:
        """Its egress proxy; None without a context and in an attached browser."""
        return self._context.proxy if self._context else None

    @property
    def is_window_closed(self) -> bool:
        """Whether a person has closed its window."""
        has_window = self.emulation.window and self._context is not None and self.lost is None
        return has_window and not len(self.tabs) and not self._parked and not self.in_use

    @property
    def in_use(self) -> bool:
        return self._call_lock.is_held

    async def read_title(self) -> str:
        """Return the page's title; the last known one while no page can answer."""
        page = self.tabs.current
        if page is None or page.lost or self._parked or self.in_use:
            return self._title
        with suppress(OutriderError):
            title = await page.evaluate_in(ISOLATED_WORLD, "() => document.title", timeout=1.0)
            self._title = str(title or self._title)
        return self._title

    @asynccontextmanager
    async def acquire_page(self, *, gated: bool = True) -> AsyncGenerator[BrowserPage]:
        """Yield the current page for one call at a time; wake a parked session.

        Args:
            gated: Wait while a person has paused the session; False for readers and for the person.

        Raises Unavailable: `page_crashed`, `page_hangs` or `browser_gone` with the address, until `reopen` or `goto`;
            `paused` when the person does not resume in time.
        """
        async with self._call_lock.hold(gated=gated):
            with self._track_use():
                page = await self._require_page()
                if await self._hang_detector.detect_hang(page):
                    raise self._hang_detector.build_hang_error(page)
                yield page
                await self._record_step()

    async def goto(self, url: str, *, gated: bool = True) -> NavigationResult:
        """Navigate the current tab; replace it first if it has crashed or hangs. See `navigate_page`."""
        async with self._call_lock.hold(gated=gated):
            with self._track_use():
                if self.lost is not None and not self.browser_gone:
                    await self._replace_page()
                elif self.tabs.current and (
                    self.dialogs.is_storm or await self._hang_detector.detect_hang(self.tabs.current)
                ):
                    self._add_note("the page did not answer and was replaced by a new one, without its history")
                    await self._replace_page()
                if self._parked:
                    self._parked = self._parked.to_blank()
                result = await self._navigate_page(await self._require_page(), url)
                self.remember_navigation("open", {"url": record_url(url if "://" in url else result.url)})
                await self._record_step()
                return result

    async def go_back(self, *, gated: bool = True) -> NavigationResult:
        """Go one step back; `moved` is False at the start of the history."""
        async with self.acquire_page(gated=gated) as page:
            result = await step_history(page, -1, seconds=NAVIGATION_TIMEOUT_S)
            if result.moved:
                self.remember_navigation("back")
            return result

    async def go_forward(self, *, gated: bool = True) -> NavigationResult:
        """Go one step forward; `moved` is False at the end of the history."""
        async with self.acquire_page(gated=gated) as page:
            result = await step_history(page, 1, seconds=NAVIGATION_TIMEOUT_S)
            if result.moved:
                self.remember_navigation("forward")
            return result

    async def reload(self, *, ignore_cache: bool = False, gated: bool = True) -> NavigationResult:
        """Reload the page."""
        async with self.acquire_page(gated=gated) as page:
            result = await reload_page(page, ignore_cache=ignore_cache, seconds=NAVIGATION_TIMEOUT_S)
            self.remember_navigation("reload")
            return result

    async def open_tab(self, url: str = BLANK_URL) -> NavigationResult:
        """Open a tab, make it current and navigate it. Raises Unavailable when there are too many tabs."""
        async with self._call_lock.hold():
            await self._require_page()
            if self.tabs.is_full:
                raise Unavailable("the session has too many tabs", code="too_many_tabs", hint="close one first")
            await self._open_tab()
            self.remember_navigation("tab", {"new": True})
        return await self.goto(url)

    async def switch_tab(self, number: int, *, gated: bool = True) -> BrowserPage:
        """Make the tab of that number current. Raises NotFound."""
        async with self._call_lock.hold(gated=gated):
            await self._require_page()
            self.tabs.current = page = self.tabs.get_page(number)
            await page.send("Page.bringToFront")
            self.remember_navigation("tab", {"number": number})
            return page

    async def close_tab(self, number: int) -> None:
        """Close a tab; the next call opens an empty one if it was the last. Raises NotFound."""
        async with self._call_lock.hold():
            page = self.tabs.get_page(number)
            if await self._hang_detector.detect_hang(page):
                page.channel.send_and_forget("Page.crash")  # a hanging page cannot be closed
            await self._require_context().browser.close_page(page)

    async def reopen(self) -> NavigationResult:
        """Open the same address in a new page.

        This helps after a crash or when the page hangs.
        """
        async with self._call_lock.hold():
            url = self.url
            await self._replace_page()
            return await self._navigate_page(await self._require_page(), url)

    async def read_state(self) -> dict[str, Any]:
        """Return its cookies and local storage, for `StateStore.save`."""
        async with self._call_lock.hold():
            return await self._storage.capture_state(self._require_context())

    async def peek_state(self) -> dict[str, Any]:
        """Return the state in the open pages, without waiting for a running call."""
        return await self._storage.peek_state(self._require_context(), self.tabs)

    async def park(self) -> bool:
        """Close the pages of an idle session and keep the data to restore them.

        Returns False when it is in use or something would be lost.
        """
        if self.in_use or self.status != "active" or self.control.paused or self.dialogs.open_dialog:
            return False
        async with self._call_lock.hold(gated=False):
            self._parked = await capture_tabs(self.tabs)
            for page in self.tabs.clear() if self._parked else ():
                await self._require_context().browser.close_page(page)
            return self._parked is not None

    async def wake(self) -> None:
        """Restore the pages of a parked session, even while paused.

        A person can then see them.
        """
        async with self._call_lock.hold(gated=False):
            await self._require_page()

    async def aclose(self) -> None:
        """Close the session and delete everything that it stored."""
        self.mark_closed()
        self.tabs.clear()
        await self.leave_context()

    def mark_closed(self) -> None:
        """Mark the session as closed and release waiting calls and viewers."""
        self.closed = True
        self.control.close()
        self.screencast.close()

    async def leave_context(self) -> None:
        """Close its context with all stored data."""
        self.downloads.stop()
        self._stop_listening()
        context, self._context = self._context, None
        if context is None:
            return
        with suppress(OutriderError):
            await context.aclose()
        if self.staging is not None:
            await anyio.to_thread.run_sync(partial(rmtree, self.staging, ignore_errors=True))

    async def stage_uploads(self, paths: list[str]) -> list[Path]:
        """Copy files of its workspace for uploads. Raises as `stage_uploads`."""
        if self.staging is None or self.options.workspace is None:
            raise Unavailable("the session has no files", code="browser_gone", hint="open another session")
        copies = await anyio.to_thread.run_sync(stage_uploads, paths, self.downloads.workspace, self.staging)
        self.actions.staged |= dict(zip(map(str, copies), paths, strict=True))
        return copies

    def remember_navigation(self, kind: str, values: dict[str, Any] | None = None) -> None:
        """Add a navigation that succeeded to the log of actions."""
        self.actions.add(kind, values, after=PageMilestones(record_url(self.url)))

    def set_user_agent(self, user_agent: str, version: str) -> None:
        """Set the user agent of its pages."""
        if self.emulation.user_agent == self._own_emulation.user_agent:
            self.emulation = replace(self.emulation, user_agent=user_agent, version=version)
        self._own_emulation = replace(self._own_emulation, user_agent=user_agent, version=version)

    @property
    def own_user_agent(self) -> str:
        """Its user agent without emulation."""
        return self._own_emulation.user_agent

    async def change_emulation(self, fields: dict[str, Any], conditions: Conditions, *, reset: bool = False) -> None:
        """Change fields of its emulation and all conditions.

        They apply to all present and future pages.

        Args:
            fields: Fields of `Emulation`, added to those that hold.
            conditions: The new conditions.
            reset: Start from the emulation with which it was opened.

        Raises InvalidInput for a value, Refused for permissions of the user's own browser.
        """
        emulation = replace(self._own_emulation if reset else self.emulation, **fields)
        emulation.validate()
        async with self.acquire_page():
            await self._grant_permissions(conditions)
            self.emulation, self.conditions = emulation, conditions
            for page in self.tabs:
                for channel in page.channels:
                    is_page = channel is page.channel
                    sent = emulation.replace_on_channel(channel, is_page=is_page)
                    await asyncio.gather(*sent, *conditions.apply_to_channel(channel, is_page=is_page))

    async def prepare_page(self, page: BrowserPage) -> None:
        """Set up a page before its first document runs."""
        if self.tabs.is_full:
            return
        page.clipboard, page.action_log = self.clipboard, self.actions
        page.frames.on_navigation(self._storage.record_visit)
        for part in (self.console, self.network, self.dialogs, self.routes):
            await page.add_channel_setup(part.set_up_channel)
        if self.recorder is not None:
            await page.add_channel_setup(partial(self.recorder.set_up_channel, page))
        if self.offered_tools is not None:
            await page.add_channel_setup(partial(self.offered_tools.set_up_channel, page))
        await page.add_channel_setup(
            lambda channel: [
                *self.emulation.set_up_channel(channel, is_page=channel is page.channel),
                *self.conditions.set_up_channel(channel, is_page=channel is page.channel),
            ]
        )
        page.on_lost(lambda lost: self.dialogs.forget_channel(lost.channel))

    async def _grant_permissions(self, conditions: Conditions) -> None:
        if conditions.permissions == self.conditions.permissions == ():
            return
        context = self._require_context()
        if context.id is None:
            hint = "leave out permissions and geolocation, or grant them in the browser yourself"
            raise Refused("permissions: the user's own browser keeps its permissions", hint=hint)
        scope, connection = {"browserContextId": context.id}, context.browser.connection
        await connection.send("Browser.resetPermissions", scope)
        if names := [PERMISSIONS[name] for name in conditions.permissions]:
            await connection.send("Browser.grantPermissions", scope | {"permissions": names})

    def adopt_popup(self, page: BrowserPage) -> None:
        """Add a pop-up as a tab, without making it current."""
        self.tabs.count_opened()
        if self.tabs.is_full:
            self._add_note("a pop-up was closed: the session has too many tabs")
            browser = self._require_context().browser
            browser.connection.spawn_task(browser.close_page(page), "closing a pop-up")
            return
        self.tabs.add(page, front=False)

    @property
    def channels(self) -> tuple[TargetChannel, ...]:
        """The channels of all its pages."""
        return tuple(channel for page in self.tabs for channel in page.channels if channel.lost is None)

    def has_target(self, target_id: str | None) -> bool:
        """Return whether one of its tabs is that target."""
        return any(page.target_id == target_id for page in self.tabs)

    async def _navigate_page(self, page: BrowserPage, url: str) -> NavigationResult:
        """Navigate a page; again if the browser's network process has restarted and lost the proxy's credential."""
        seconds = NAVIGATION_TIMEOUT_S
        try:
            return await navigate_page(page, url, guard=self._guard, explainer=self._context, seconds=seconds)
        except Unavailable as error:
            if error.code != "proxy_auth" or self.egress_proxy is None:
                raise
        await authenticate_proxy(page, self.egress_proxy)
        await self.routes.update_channels(page.channels)  # sending the credential has ended their interception
        return await navigate_page(page, url, guard=self._guard, explainer=self._context, seconds=seconds)

    async def _require_page(self) -> BrowserPage:
        """Return the current page. Raises the error by which the session was lost."""
        if self.closed:
            raise PageGone("the session has been closed", code="session_not_found", hint="create a new session")
        if self.lost is not None:
            raise self.lost
        if self._parked:
            parked, self._parked = self._parked, None
            if await restore_tabs(parked, self._open_tab, self._navigate_page):
                self._add_note("the session was parked: its pages were loaded again")
        return self.tabs.current or await self._open_tab()

    async def _record_step(self) -> None:
        """Add the page to the trace, if one is being recorded and the page answers."""
        timeout_s = 5.0
        page = self.tabs.current
        if self.trace is None or page is None or page.lost or self.dialogs.open_dialog:
            return
        with suppress(OutriderError, ProtocolError, TimeoutError):
            async with asyncio.timeout(timeout_s):
                # The model does not see this outline, so its references and differences must not change.
                outline = await get_page_tools(page).snapshotter.capture_outline("viewport", shown=False)
                title, lines = str(outline.position["title"]), "\n".join(outline.lines)
                await self.trace.record_step(page, title, lines)

    def _add_note(self, text: str) -> None:
        self.notes.append(text)

    @contextmanager
    def _track_use(self) -> Generator[None]:
        """Count the body as a call: the session is not idle, and its state is stored shortly afterwards."""
        self.used_at = time.time()
        self.downloads.reset_burst()
        try:
            yield
        finally:
            self.used_at = time.time()
            if self._context is not None and self._context.id is not None and not self.lost:
                self._storage.schedule_capture(self._context, self.tabs)

    async def _open_tab(self, front: bool = True) -> BrowserPage:
        page = await self._require_context().new_page()
        await self.prepare_page(page)
        self.tabs.add(page, front=front)
        return page

    async def _replace_page(self) -> None:
        """Replace a page that crashed or hangs."""
        if self.lost is not None and self.browser_gone:
            raise self.lost
        old = self.tabs.current
        if old is not None:
            self.tabs.remove_page(old)
            if not old.crashed:  # a hanging page cannot be closed, and may block the whole browser
                old.channel.send_and_forget("Page.crash")
        await self._open_tab()
        self.lost = None
        if old is not None:
            with suppress(OutriderError, ProtocolError):
                await self._require_context().browser.close_page(old)

    def _handle_handback(self) -> None:
        """Inform the agent that a person had control, so that earlier snapshots no longer hold."""
        note = "a person controlled this session in the meantime: the page may have changed"
        self.used_at = time.time()
        if note not in self.notes:
            self._add_note(note)
        self.dialogs.resume_policy()
        for page in self.tabs:
            forget_snapshot(page)

    def _handle_page_crash(self, page: BrowserPage) -> None:
        if page is self.tabs.current:
            self.lost = page.lost
        elif page in tuple(self.tabs):
            self.tabs.remove_page(page)
            self._add_note("a tab in the background has crashed and was closed")

    def _handle_browser_loss(self, reason: str) -> None:
        if not self.closed:
            self.lost = build_browser_gone(reason, self.url)

    def _owns_frame(self, frame_id: str) -> bool:
        return any(frame_id == page.target_id or page.frames.get(frame_id) for page in self.tabs)

    @property
    def is_guarded(self) -> bool:
        """Whether the egress guard covers its browser."""
        return self._context is None or self._context.browser.is_guarded

    def _require_context(self) -> BrowserContext:
        if self._context is None:
            raise Unavailable("the session has no browser", code="browser_gone", hint=REOPEN_HINT)
        return self._context
