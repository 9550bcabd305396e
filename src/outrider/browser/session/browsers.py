"""All browser sessions of this process: opened, found again by their owner, put away, and closed."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outrider.browser.session.options import SessionOptions
from outrider.browser.session.states import StateInfo, StateStore
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard
from outrider.core.errors import NotFound, OutriderError, Unavailable
from outrider.core.session_gauge import SESSION_HOLDERS

if TYPE_CHECKING:
    from outrider.browser.page.navigate import NavigationResult
    from outrider.browser.process.attach import AttachedBrowser
    from outrider.browser.process.emulate import Emulation
    from outrider.browser.process.engine import BrowserEngine
    from outrider.browser.process.pool import BrowserPool
    from outrider.browser.session.manual_login import LoginResult, ProgressCallback
    from outrider.browser.session.registry import SessionRecord, SessionRegistry
    from outrider.browser.session.session import Session

BLANK_URL = "about:blank"
log = logging.getLogger(__name__)


class Browsers:
    """The browser domain's front door. Starts nothing until it is needed.

    Args:
        settings: The operator's.
        guard: What pages may reach.
        folder: Where saved states are kept.
    """

    def __init__(self, settings: BrowserSettings, guard: EgressGuard, folder: Path) -> None:
        key = settings.state_key.get_secret_value() if settings.state_key else ""
        self.settings = settings
        self.states = StateStore(folder / "states", key)
        self._open_state_store = lambda whose: StateStore(folder / "states" / whose, key)
        self.registry: SessionRegistry | None = None  # of all processes, where there are several
        self._guard = guard
        self._engines: dict[bool, asyncio.Task[BrowserEngine | AttachedBrowser]] = {}
        self._ended_engines: list[asyncio.Task[BrowserEngine | AttachedBrowser]] = []
        self._sessions: dict[str, Session] = {}
        self._maintenance_task: asyncio.Task[None] | None = None
        self._opening = 0
        self._closed = False
        SESSION_HOLDERS.add(self)

    @property
    def session_count(self) -> int:
        """How many sessions there are, parked ones included."""
        return len(self._sessions)

    def start_soon(self, *, headless: bool | None = None) -> None:
        """Begins to start the browser, so that the first session opens sooner."""
        with suppress(OutriderError):
            if self.settings.cdp_urls:
                return
            self._ensure_engine_task(headless=self.settings.headless if headless is None else headless)

    async def open_session(
        self,
        owner: str,
        url: str = BLANK_URL,
        options: SessionOptions = SessionOptions(),  # noqa: B008
    ) -> "tuple[Session, NavigationResult]":
        """Opens a session and goes to an address.

        Args:
            owner: The conversation that it will belong to (`Call.session`).
            url: Where to begin.
            options: How it shall be.

        Raises:
            InvalidInput, Refused: The address, or an option.
            NotFound: There is no such saved state.
            NotConfigured: There is no browser.
            Unavailable: Too many sessions, or the browser or the site failed; the session stays
                open only if the browser did not fail.
        """
        # The browser's process needs longer to come up than our own modules do.
        self.start_soon(headless=options.headless)
        from outrider.browser.page.navigate import resolve_address
        from outrider.browser.session.session import Session

        resolve_address(url, self._guard)
        look = self._build_emulation(options)
        states = self.get_state_store(options.whose)
        state = await asyncio.to_thread(states.load, options.state_id) if options.state_id else None
        self._check_capacity(owner)
        self._opening += 1
        try:
            session = Session(owner, options, look, self.settings, self._guard)
            await self._start_session(session, state)
        finally:
            self._opening -= 1
        self._sessions[session.id] = session
        self._ensure_maintenance()
        try:
            return session, await self._open_first_page(session, url)
        finally:
            await self._publish_session(session)

    def get_session(self, owner: str, session_id: str) -> "Session":
        """The owner's session of that id. Raises NotFound with code `session_not_found`."""
        session = self._sessions.get(session_id)
        if session is None or session.owner != owner or session.is_window_closed:
            mine = [each.id for each in self.list_sessions(owner)]
            hint = f"open sessions: {', '.join(mine)}" if mine else "create a session first"
            raise NotFound(f"sessionId: no session {session_id[:80]!r}", code="session_not_found", hint=hint)
        return session

    def list_sessions(self, owner: str | None = None) -> "Sequence[Session]":
        """The sessions of an owner, or all, oldest first; not those whose window a person has closed."""
        return [each for each in self._sessions.values() if owner in (None, each.owner) and not each.is_window_closed]

    def has_session(self, session_id: str) -> bool:
        """Whether the session is in this process."""
        return session_id in self._sessions

    def adopt_session(self, record: "SessionRecord", memory: dict[str, Any] | None) -> "Session":
        """A session of a process that has died, to be opened again here, as one whose browser is gone."""
        from outrider.browser.session.registry import parse_options
        from outrider.browser.session.session import Session

        options = parse_options(record)
        session = Session(record.owner, options, self._build_emulation(options), self.settings, self._guard)
        session.mark_orphaned(record.id, record.url, memory)
        self._sessions[session.id] = session
        self._ensure_maintenance()
        return session

    async def reopen_session(self, session: "Session") -> "NavigationResult":
        """Takes a lost session back to where it was, with a new browser if need be."""
        if session.status == "crashed" and session.browser_gone:
            url = session.url
            session.tabs.clear()
            await self._start_session(session, session.stored_state)
            kept = (
                "cookies and local storage were put back" if session.stored_state else "the session's cookies are gone"
            )
            session.notes.append(f"the browser was started anew: {kept}")
            return await session.goto(url)
        return await session.reopen()

    async def close_session(self, owner: str, session_id: str) -> "Session":
        """Closes the owner's session, once nobody has paused it any more. Raises NotFound."""
        session = self.get_session(owner, session_id)
        await session.control.gate.wait_until_open()
        await self.end_session(session)
        return session

    async def end_session(self, session: "Session") -> None:
        """Closes a session, also one whose window a person has closed."""
        self._sessions.pop(session.id, None)
        await session.aclose()
        if self.registry is not None:
            await self.registry.delete_session(session.id)

    async def close_owner_sessions(self, owner: str) -> int:
        """Closes every session of an owner; returns how many."""
        mine = self.list_sessions(owner)
        for session in mine:
            await self.end_session(session)
        return len(mine)

    def get_state_store(self, owner: str) -> StateStore:
        """Somebody's saved states (`Call.own`); where nobody has to say who they are, those of this machine."""
        return self._open_state_store(owner) if owner else self.states

    async def save_state(self, session: "Session", state_id: str | None) -> StateInfo:
        """Keeps a session's cookies and local storage under a name, for `Options.state_id`."""
        state = await session.read_state()
        return await asyncio.to_thread(self.get_state_store(session.options.whose).save, state_id, state)

    async def sign_in(
        self,
        owner: str,
        url: str = "",
        state_id: str | None = None,
        *,
        seconds: float = 300,
        told: "ProgressCallback | None" = None,
        whose: str = "",
    ) -> "LoginResult":
        """Lets a person sign in, in a window, and keeps that under a name: see `signin.sign_in`."""
        from outrider.browser.session.manual_login import sign_in

        more = {"told": told} if told else {}
        return await sign_in(self, owner, url, state_id, seconds=seconds, whose=whose, **more)

    @property
    def running_browsers(self) -> "Sequence[BrowserEngine | AttachedBrowser]":
        """The browsers that are up."""
        pooled = self._pool.running if "_pool" in vars(self) else []
        return [*pooled, *(task.result() for task in self._engines.values() if _is_running(task))]

    def collect_status(self) -> dict[str, Any]:
        """What `doctor` and operators want to know: which browser, its sandbox, what is guarded, how many sessions."""
        from outrider.browser.process.status import collect_status

        return collect_status(self.settings, self.running_browsers) | {"sessions": len(self._sessions)}

    async def aclose(self) -> None:
        """Closes every session and browser; nothing of them is left."""
        self._closed = True
        if self._maintenance_task:
            self._maintenance_task.cancel()
            await asyncio.gather(self._maintenance_task, return_exceptions=True)
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.mark_closed()
        engines, self._engines, self._ended_engines = [*self._ended_engines, *self._engines.values()], {}, []
        await asyncio.gather(*(_stop_engine(task) for task in engines), return_exceptions=True)
        await asyncio.gather(*(session.leave_context() for session in sessions), return_exceptions=True)
        if "_pool" in vars(self):
            await self._pool.aclose()

    def _build_emulation(self, options: SessionOptions) -> "Emulation":
        from outrider.browser.process.emulate import Emulation

        wish = self.settings
        size = options.size or wish.viewport_size
        place = (options.locale or wish.locale, options.timezone or wish.timezone)
        look = Emulation(size, *place, window=not (wish.headless if options.headless is None else options.headless))
        look.validate()
        return look

    def _check_capacity(self, owner: str) -> None:
        if self._closed:
            raise Unavailable("the browser is being closed", code="browser_gone")
        if len(self._sessions) + self._opening < self.settings.max_sessions:
            return
        mine = ", ".join(each.id for each in self.list_sessions(owner)) or "none of them yours"
        message = f"{self.settings.max_sessions} sessions are open, which is the most there may be"
        raise Unavailable(message, code="too_many_sessions", hint=f"close one: {mine}")

    async def _start_session(self, session: "Session", state: dict[str, Any] | None) -> None:
        headless = self.settings.headless if session.options.headless is None else session.options.headless
        engine = await self._acquire_engine(headless=headless)
        context, page = await engine.acquire_context()
        session.set_user_agent(engine.user_agent, engine.version)
        session.clipboard = engine.clipboard.add_session() if engine.clipboard else None
        try:
            await session.attach_context(context, page, engine.staging, state)
        except BaseException:
            await session.aclose()
            raise

    async def _open_first_page(self, session: "Session", url: str) -> "NavigationResult":
        """The first navigation; a site that fails leaves an open session, unless the browser itself is gone."""
        from outrider.browser.page.navigate import NavigationResult

        if url.strip().lower() == BLANK_URL:
            return NavigationResult(BLANK_URL, "")
        try:
            return await session.goto(url)
        except OutriderError as error:
            if session.browser_gone:
                self._sessions.pop(session.id, None)
                await session.aclose()
            else:
                error.details = {**error.details, "sessionId": session.id}
            raise

    async def _acquire_engine(self, *, headless: bool) -> "BrowserEngine | AttachedBrowser":
        if self.settings.cdp_urls:
            return await self._pool.acquire_browser()
        task = self._ensure_engine_task(headless=headless)
        try:
            # Whoever asked first may be cancelled; the browser starts for all who ask.
            return await asyncio.shield(task)
        except OutriderError:
            if self._engines.get(headless) is task:
                del self._engines[headless]
            raise

    @cached_property
    def _pool(self) -> "BrowserPool":
        from outrider.browser.process.pool import BrowserPool

        return BrowserPool([each.get_secret_value() for each in self.settings.cdp_urls], self._guard)

    def _ensure_engine_task(self, *, headless: bool) -> "asyncio.Task[BrowserEngine | AttachedBrowser]":
        task = self._engines.get(headless)
        if task is not None and (not task.done() or _is_running(task)):
            return task
        if task is not None:
            self._ended_engines.append(task)
        task = self._engines[headless] = asyncio.create_task(self._start_engine(headless=headless))
        task.add_done_callback(_consume_exception)
        return task

    async def _start_engine(self, *, headless: bool) -> "BrowserEngine | AttachedBrowser":
        if self.settings.cdp_url:
            from outrider.browser.process.attach import attach_from_settings

            return await attach_from_settings(self.settings, self._guard)
        from outrider.browser.process.engine import start_engine

        return await start_engine(self.settings, self._guard, headless=headless)

    async def _publish_session(self, session: "Session") -> None:
        """Other processes learn of a session before its first call can reach them."""
        if self.registry is None or not self.has_session(session.id):
            return
        try:
            await self.registry.save_session(session)
        except OutriderError as error:  # the next sign of life of this process tells them
            log.warning("other replicas do not hear of browser session %s yet: %s", session.id, error)

    def _ensure_maintenance(self) -> None:
        if self._maintenance_task is None or self._maintenance_task.done():
            self._maintenance_task = asyncio.create_task(self._run_maintenance())

    async def _run_maintenance(self) -> None:
        check_interval_s = 15.0  # seconds between two looks at who is idle
        pause = min(check_interval_s, self.settings.park_seconds / 2, self.settings.idle_seconds / 2)
        while True:
            await asyncio.sleep(pause)
            for session in list(self._sessions.values()):
                try:
                    await self._maintain_session(session)
                except OutriderError as error:
                    log.debug("session %s: %s", session.id, error)

    async def _maintain_session(self, session: "Session") -> None:
        closed_window_grace_s = 5.0  # after which a session whose window a person has closed is closed too
        idle = time.time() - session.used_at
        if session.in_use or session.control.paused:
            return
        if idle > self.settings.idle_seconds or (session.is_window_closed and idle > closed_window_grace_s):
            await self.end_session(session)
        elif idle > self.settings.park_seconds:
            await session.park()


def _is_running(task: "asyncio.Task[BrowserEngine | AttachedBrowser]") -> bool:
    up = task.done() and not task.cancelled() and task.exception() is None
    return up and task.result().connection.lost is None


def _consume_exception(task: "asyncio.Task[BrowserEngine | AttachedBrowser]") -> None:
    """A failure that nobody waited for is no news."""
    if not task.cancelled():
        task.exception()


async def _stop_engine(task: "asyncio.Task[BrowserEngine | AttachedBrowser]") -> None:
    if not task.done():
        task.cancel()
    with suppress(OutriderError, asyncio.CancelledError):
        engine = await task
        await engine.aclose()
