"""Open, find, park and close the browser sessions of this process."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
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
    """All browser sessions of this process. Starts no browser until one is needed.

    Args:
        settings: The operator's settings.
        guard: Decides what pages may reach.
        folder: The folder of saved states.
    """

    def __init__(self, settings: BrowserSettings, guard: EgressGuard, folder: Path, *, warm: int = 1) -> None:
        key = settings.state_key.get_secret_value() if settings.state_key else ""
        self.settings = settings
        self.states = StateStore(folder / "states", key)
        self._open_state_store = lambda whose: StateStore(folder / "states" / whose, key)
        self.registry: SessionRegistry | None = None  # set where several processes share a database
        self._guard = guard
        self._warm = warm
        self._engines: dict[bool, asyncio.Task[BrowserEngine | AttachedBrowser]] = {}
        self._ended_engines: list[asyncio.Task[BrowserEngine | AttachedBrowser]] = []
        self._sessions: dict[str, Session] = {}
        self._maintenance_task: asyncio.Task[None] | None = None
        self._pool: BrowserPool | None = None
        self._opening = 0
        self._closed = False
        SESSION_HOLDERS.add(self)

    @property
    def session_count(self) -> int:
        """The number of sessions, parked ones included."""
        return len(self._sessions)

    def start_soon(self, *, headless: bool | None = None) -> None:
        """Start the browser in the background, so that the first session opens sooner."""
        with suppress(OutriderError):
            if len(self.settings.cdp_urls) > 1:
                return
            self._ensure_engine_task(headless=self.settings.headless if headless is None else headless)

    async def open_session(
        self,
        owner: str,
        url: str = BLANK_URL,
        options: SessionOptions = SessionOptions(),  # noqa: B008
    ) -> "tuple[Session, NavigationResult]":
        """Open a session and navigate to an address.

        Args:
            owner: The conversation that it belongs to (`Call.session`).
            url: The first address.
            options: The caller's options.

        Raises:
            InvalidInput, Refused: The address or an option is not accepted.
            NotFound: The saved state does not exist.
            NotConfigured: No browser is installed.
            Unavailable: There are too many sessions, or the browser or the site failed; the session stays
                open only if the browser did not fail.
        """
        # The browser takes longer to start than these modules take to load.
        self.start_soon(headless=options.headless)
        from outrider.browser.page.navigate import resolve_address
        from outrider.browser.session.session import Session

        resolve_address(url, self._guard)
        emulation = self._build_emulation(options)
        states = self.get_state_store(options.whose)
        state = await asyncio.to_thread(states.load, options.state_id) if options.state_id else None
        self._check_capacity(owner)
        self._opening += 1
        try:
            session = Session(owner, options, emulation, self.settings, self._guard)
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
        """Return the owner's session of that id. Raises NotFound with code `session_not_found`."""
        session = self._sessions.get(session_id)
        if session is None or session.owner != owner or session.is_window_closed:
            sessions = self.list_sessions(owner)
            hint = f"open sessions: {name_sessions(sessions, 1)}" if sessions else "create a session first"
            raise NotFound(f"sessionId: no session {session_id[:80]!r}", code="session_not_found", hint=hint)
        return session

    def list_sessions(self, owner: str | None = None) -> "Sequence[Session]":
        """List the sessions of an owner, or all, oldest first.

        Sessions whose window a person has closed are left out.
        """
        return [
            session
            for session in self._sessions.values()
            if owner in (None, session.owner) and not session.is_window_closed
        ]

    def has_session(self, session_id: str) -> bool:
        """Return whether the session is in this process."""
        return session_id in self._sessions

    def adopt_session(self, record: "SessionRecord", memory: dict[str, Any] | None) -> "Session":
        """Take over a session of a process that has ended; it can be reopened like one whose browser is gone."""
        from outrider.browser.session.registry import parse_options
        from outrider.browser.session.session import Session

        options = parse_options(record)
        session = Session(record.owner, options, self._build_emulation(options), self.settings, self._guard)
        session.mark_orphaned(record.id, record.url, memory)
        self._sessions[session.id] = session
        self._ensure_maintenance()
        return session

    async def reopen_session(self, session: "Session") -> "NavigationResult":
        """Reopen a lost session at its address, with a new browser if necessary."""
        if session.status == "crashed" and session.browser_gone:
            url = session.url
            session.tabs.clear()
            await self._start_session(session, session.stored_state)
            if session.stored_state:
                session.notes.append("the browser was restarted: cookies and local storage were restored")
            else:
                session.notes.append("the browser was restarted: the session's cookies are lost")
            return await session.goto(url)
        return await session.reopen()

    async def close_session(self, owner: str, session_id: str) -> "Session":
        """Close the owner's session; waits while a person has paused it. Raises NotFound."""
        session = self.get_session(owner, session_id)
        await session.control.gate.wait_until_open()
        await self.end_session(session)
        return session

    async def end_session(self, session: "Session") -> None:
        """Close a session, even one whose window a person has closed."""
        self._sessions.pop(session.id, None)
        await session.aclose()
        if self.registry is not None:
            await self.registry.delete_session(session.id)

    async def close_owner_sessions(self, owner: str) -> int:
        """Close every session of an owner; return how many."""
        sessions = self.list_sessions(owner)
        for session in sessions:
            await self.end_session(session)
        return len(sessions)

    def get_state_store(self, owner: str) -> StateStore:
        """Return the saved states of a caller (`Call.own`); without caller identities those of this machine."""
        return self._open_state_store(owner) if owner else self.states

    async def save_state(self, session: "Session", state_id: str | None) -> StateInfo:
        """Save a session's cookies and local storage under a name, for `SessionOptions.state_id`."""
        state = await session.read_state()
        return await asyncio.to_thread(self.get_state_store(session.options.whose).save, state_id, state)

    async def sign_in(
        self,
        owner: str,
        url: str = "",
        state_id: str | None = None,
        *,
        seconds: float = 300,
        on_progress: "ProgressCallback | None" = None,
        whose: str = "",
    ) -> "LoginResult":
        """Let a person sign in in a window and save the state: see `manual_login.sign_in`."""
        from outrider.browser.session.manual_login import sign_in

        return await sign_in(self, owner, url, state_id, seconds=seconds, whose=whose, on_progress=on_progress)

    @property
    def running_browsers(self) -> "Sequence[BrowserEngine | AttachedBrowser]":
        """The browsers that are running."""
        pooled = self._pool.running if self._pool else []
        return [*pooled, *(task.result() for task in self._engines.values() if _is_running(task))]

    def collect_status(self) -> dict[str, Any]:
        """Return browser, sandbox, guard and number of sessions for `doctor`."""
        from outrider.browser.process.status import collect_status

        return collect_status(self.settings, self.running_browsers) | {"sessions": len(self._sessions)}

    async def aclose(self) -> None:
        """Close every session and browser."""
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
        if self._pool:
            await self._pool.aclose()

    def _build_emulation(self, options: SessionOptions) -> "Emulation":
        from outrider.browser.process.emulate import Emulation

        settings = self.settings
        headless = settings.headless if options.headless is None else options.headless
        emulation = Emulation(
            size=options.size or settings.viewport_size,
            locale=options.locale,
            timezone=options.timezone,
            window=not headless,
        )
        emulation.validate()
        return emulation

    def _check_capacity(self, owner: str) -> None:
        if self._closed:
            raise Unavailable("Outrider is shutting down its browser", code="browser_gone")
        if len(self._sessions) + self._opening < self.settings.max_sessions:
            return
        own_ids = name_sessions(self.list_sessions(owner)) or "none of them is yours"
        message = f"{self.settings.max_sessions} sessions are open, which is the maximum"
        raise Unavailable(message, code="too_many_sessions", hint=f"close one: {own_ids}")

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
        """Navigate for the first time; a failure of the site leaves the session open, one of the browser does not."""
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
        if len(self.settings.cdp_urls) > 1:
            if self._pool is None:
                from outrider.browser.process.pool import BrowserPool

                urls = [url.get_secret_value() for url in self.settings.cdp_urls]
                self._pool = BrowserPool(urls, self._guard, own=self.settings.uses_own_profile)
            return await self._pool.acquire_browser()
        task = self._ensure_engine_task(headless=headless)
        try:
            # The first caller may be cancelled, but the browser starts for all callers.
            return await asyncio.shield(task)
        except OutriderError:
            if self._engines.get(headless) is task:
                del self._engines[headless]
            raise

    def _ensure_engine_task(self, *, headless: bool) -> "asyncio.Task[BrowserEngine | AttachedBrowser]":
        task = self._engines.get(headless)
        if task is not None and (not task.done() or _is_running(task)):
            return task
        if task is not None:
            self._ended_engines.append(task)
        task = self._engines[headless] = asyncio.create_task(self._start_engine(headless=headless))
        # Fetching the exception keeps asyncio from logging a failure that no task awaits.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _start_engine(self, *, headless: bool) -> "BrowserEngine | AttachedBrowser":
        if self.settings.cdp_urls:
            from outrider.browser.process.attach import attach_to_url

            url = self.settings.cdp_urls[0].get_secret_value()
            return await attach_to_url(url, self._guard, own=self.settings.uses_own_profile)
        from outrider.browser.process.engine import start_engine

        return await start_engine(self.settings, self._guard, headless=headless, warm=self._warm)

    async def _publish_session(self, session: "Session") -> None:
        """Register a session for other processes before its first call can reach them."""
        if self.registry is None or not self.has_session(session.id):
            return
        try:
            await self.registry.save_session(session)
        except OutriderError as error:  # the cluster's next heartbeat registers it
            log.warning("browser session %s is not registered for other replicas yet: %s", session.id, error)

    def _ensure_maintenance(self) -> None:
        if self._maintenance_task is None or self._maintenance_task.done():
            self._maintenance_task = asyncio.create_task(self._run_maintenance())

    async def _run_maintenance(self) -> None:
        """Park idle sessions, and close those that are idle for long."""
        max_interval_s = 15.0
        closed_window_grace_s = 5.0  # between a person's closing the window and the end of the session
        interval_s = min(max_interval_s, self.settings.park_s / 2, self.settings.idle_s / 2)
        while True:
            await asyncio.sleep(interval_s)
            for session in list(self._sessions.values()):
                idle_s = time.time() - session.used_at
                if session.in_use or session.control.paused:
                    continue
                try:
                    if idle_s > self.settings.idle_s or (session.is_window_closed and idle_s > closed_window_grace_s):
                        await self.end_session(session)
                    elif idle_s > self.settings.park_s:
                        await session.park()
                except OutriderError as error:
                    log.debug("session %s: %s", session.id, error)


def name_sessions(sessions: "Sequence[Session]", limit: int = 2) -> str:
    """Return the ids of the sessions that were used last; an error has room for two in all."""
    session_ids = [session.id for session in sorted(sessions, key=lambda session: -session.used_at)]
    rest = f" (listSessions names all {len(session_ids)})" if len(session_ids) > limit else ""
    return ", ".join(session_ids[:limit]) + rest


def _is_running(task: "asyncio.Task[BrowserEngine | AttachedBrowser]") -> bool:
    is_started = task.done() and not task.cancelled() and task.exception() is None
    return is_started and task.result().connection.lost is None


async def _stop_engine(task: "asyncio.Task[BrowserEngine | AttachedBrowser]") -> None:
    if not task.done():
        task.cancel()
    with suppress(OutriderError, asyncio.CancelledError):
        engine = await task
        await engine.aclose()
