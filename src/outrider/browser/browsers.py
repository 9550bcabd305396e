"""All browser sessions of this process: opened, found again by their owner, put away, and closed."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outrider.browser.options import Options
from outrider.browser.settings import BrowserSettings
from outrider.browser.states import StateInfo, States
from outrider.core.egress import Guard
from outrider.core.errors import NotFound, OutriderError, Unavailable
from outrider.core.holding import BROWSERS

if TYPE_CHECKING:
    from outrider.browser.attach import Attached
    from outrider.browser.emulate import Look
    from outrider.browser.engine import Engine
    from outrider.browser.navigate import Arrival
    from outrider.browser.pool import Pool
    from outrider.browser.registry import Known, Registry
    from outrider.browser.session import Session
    from outrider.browser.signin import SignIn, Told

BLANK = "about:blank"
log = logging.getLogger(__name__)
LEFT_SECONDS = 5.0  # after which a session whose window a person has closed is closed too
LOOK_EVERY = 15.0  # seconds between two looks at who is idle


class Browsers:
    """The browser domain's front door. Starts nothing until it is needed.

    Args:
        settings: The operator's.
        guard: What pages may reach.
        folder: Where saved states are kept.
    """

    def __init__(self, settings: BrowserSettings, guard: Guard, folder: Path) -> None:
        key = settings.state_key.get_secret_value() if settings.state_key else ""
        self.settings = settings
        self.states = States(folder / "states", key)
        self._states_of = lambda whose: States(folder / "states" / whose, key)
        self.registry: Registry | None = None  # of all processes, where there are several
        self._guard = guard
        self._engines: dict[bool, asyncio.Task[Engine | Attached]] = {}
        self._past: list[asyncio.Task[Engine | Attached]] = []
        self._sessions: dict[str, Session] = {}
        self._caretaker: asyncio.Task[None] | None = None
        self._opening = 0
        self._closed = False
        BROWSERS.add(self)

    @property
    def held(self) -> int:
        """How many sessions there are, parked ones included."""
        return len(self._sessions)

    def start_soon(self, *, headless: bool | None = None) -> None:
        """Begins to start the browser, so that the first session opens sooner."""
        with suppress(OutriderError):
            if self.settings.cdp_urls:
                return
            self._starting(headless=self.settings.headless if headless is None else headless)

    async def open(
        self,
        owner: str,
        url: str = BLANK,
        options: Options = Options(),  # noqa: B008
    ) -> "tuple[Session, Arrival]":
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
        from outrider.browser.navigate import read_address
        from outrider.browser.session import Session

        read_address(url, self._guard)
        look = self._look(options)
        states = self.states_of(options.whose)
        state = await asyncio.to_thread(states.load, options.state_id) if options.state_id else None
        self._check_room(owner)
        self._opening += 1
        try:
            session = Session(owner, options, look, self.settings, self._guard)
            await self._move_in(session, state)
        finally:
            self._opening -= 1
        self._sessions[session.id] = session
        self._take_care()
        try:
            return session, await self._first(session, url)
        finally:
            await self._told_others(session)

    def get(self, owner: str, session_id: str) -> "Session":
        """The owner's session of that id. Raises NotFound with code `session_not_found`."""
        session = self._sessions.get(session_id)
        if session is None or session.owner != owner or session.left:
            mine = [each.id for each in self.list(owner)]
            hint = f"open sessions: {', '.join(mine)}" if mine else "create a session first"
            raise NotFound(f"sessionId: no session {session_id[:80]!r}", code="session_not_found", hint=hint)
        return session

    def list(self, owner: str | None = None) -> "Sequence[Session]":
        """The sessions of an owner, or all, oldest first; not those whose window a person has closed."""
        return [each for each in self._sessions.values() if owner in (None, each.owner) and not each.left]

    def has(self, session_id: str) -> bool:
        """Whether the session is in this process."""
        return session_id in self._sessions

    def adopt(self, known: "Known", memory: dict[str, Any] | None) -> "Session":
        """A session of a process that has died, to be opened again here, as one whose browser is gone."""
        from outrider.browser.registry import options_of
        from outrider.browser.session import Session

        options = options_of(known)
        session = Session(known.owner, options, self._look(options), self.settings, self._guard)
        session.left_behind(known.id, known.url, memory)
        self._sessions[session.id] = session
        self._take_care()
        return session

    async def reopen(self, session: "Session") -> "Arrival":
        """Takes a lost session back to where it was, with a new browser if need be."""
        if session.status == "crashed" and session.browser_gone:
            url = session.url
            session.tabs.clear()
            await self._move_in(session, session.memory)
            kept = "cookies and local storage were put back" if session.memory else "the session's cookies are gone"
            session.notes.append(f"the browser was started anew: {kept}")
            return await session.goto(url)
        return await session.reopen()

    async def close(self, owner: str, session_id: str) -> "Session":
        """Closes the owner's session, once nobody has paused it any more. Raises NotFound."""
        session = self.get(owner, session_id)
        await session.control.gate.passed()
        await self.end(session)
        return session

    async def end(self, session: "Session") -> None:
        """Closes a session, also one whose window a person has closed."""
        self._sessions.pop(session.id, None)
        await session.aclose()
        if self.registry is not None:
            await self.registry.forget(session.id)

    async def close_all(self, owner: str) -> int:
        """Closes every session of an owner; returns how many."""
        mine = self.list(owner)
        for session in mine:
            await self.end(session)
        return len(mine)

    def states_of(self, whose: str) -> States:
        """Somebody's saved states (`Call.own`); where nobody has to say who they are, those of this machine."""
        return self._states_of(whose) if whose else self.states

    async def save_state(self, session: "Session", state_id: str | None) -> StateInfo:
        """Keeps a session's cookies and local storage under a name, for `Options.state_id`."""
        state = await session.state()
        return await asyncio.to_thread(self.states_of(session.options.whose).save, state_id, state)

    async def sign_in(
        self,
        owner: str,
        url: str = "",
        state_id: str | None = None,
        *,
        seconds: float = 300,
        told: "Told | None" = None,
        whose: str = "",
    ) -> "SignIn":
        """Lets a person sign in, in a window, and keeps that under a name: see `signin.sign_in`."""
        from outrider.browser.signin import sign_in

        more = {"told": told} if told else {}
        return await sign_in(self, owner, url, state_id, seconds=seconds, whose=whose, **more)

    @property
    def running(self) -> "Sequence[Engine | Attached]":
        """The browsers that are up."""
        pooled = self._pool.running if "_pool" in vars(self) else []
        return [*pooled, *(task.result() for task in self._engines.values() if _is_up(task))]

    def status(self) -> dict[str, Any]:
        """What `doctor` and operators want to know: which browser, its sandbox, what is guarded, how many sessions."""
        from outrider.browser.status import status

        return status(self.settings, self.running) | {"sessions": len(self._sessions)}

    async def aclose(self) -> None:
        """Closes every session and browser; nothing of them is left."""
        self._closed = True
        if self._caretaker:
            self._caretaker.cancel()
            await asyncio.gather(self._caretaker, return_exceptions=True)
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.end()
        engines, self._engines, self._past = [*self._past, *self._engines.values()], {}, []
        await asyncio.gather(*(_end(task) for task in engines), return_exceptions=True)
        await asyncio.gather(*(session.leave() for session in sessions), return_exceptions=True)
        if "_pool" in vars(self):
            await self._pool.aclose()

    def _look(self, options: Options) -> "Look":
        from outrider.browser.emulate import Look

        wish = self.settings
        size = options.size or wish.size
        place = (options.locale or wish.locale, options.timezone or wish.timezone)
        look = Look(size, *place, window=not (wish.headless if options.headless is None else options.headless))
        look.check()
        return look

    def _check_room(self, owner: str) -> None:
        if self._closed:
            raise Unavailable("the browser is being closed", code="browser_gone")
        if len(self._sessions) + self._opening < self.settings.max_sessions:
            return
        mine = ", ".join(each.id for each in self.list(owner)) or "none of them yours"
        message = f"{self.settings.max_sessions} sessions are open, which is the most there may be"
        raise Unavailable(message, code="too_many_sessions", hint=f"close one: {mine}")

    async def _move_in(self, session: "Session", state: dict[str, Any] | None) -> None:
        headless = self.settings.headless if session.options.headless is None else session.options.headless
        engine = await self._engine(headless=headless)
        context, page = await engine.take()
        session.introduce_as(engine.user_agent, engine.version)
        session.clipboard = engine.clipboard.share() if engine.clipboard else None
        try:
            await session.start(context, page, engine.staging, state)
        except BaseException:
            await session.aclose()
            raise

    async def _first(self, session: "Session", url: str) -> "Arrival":
        """The first navigation; a site that fails leaves an open session, unless the browser itself is gone."""
        from outrider.browser.navigate import Arrival

        if url.strip().lower() == BLANK:
            return Arrival(BLANK, "")
        try:
            return await session.goto(url)
        except OutriderError as error:
            if session.browser_gone:
                self._sessions.pop(session.id, None)
                await session.aclose()
            else:
                error.details = {**error.details, "sessionId": session.id}
            raise

    async def _engine(self, *, headless: bool) -> "Engine | Attached":
        if self.settings.cdp_urls:
            return await self._pool.take()
        task = self._starting(headless=headless)
        try:
            # Whoever asked first may be cancelled; the browser starts for all who ask.
            return await asyncio.shield(task)
        except OutriderError:
            if self._engines.get(headless) is task:
                del self._engines[headless]
            raise

    @cached_property
    def _pool(self) -> "Pool":
        from outrider.browser.pool import Pool

        return Pool([each.get_secret_value() for each in self.settings.cdp_urls], self._guard)

    def _starting(self, *, headless: bool) -> "asyncio.Task[Engine | Attached]":
        task = self._engines.get(headless)
        if task is not None and (not task.done() or _is_up(task)):
            return task
        if task is not None:
            self._past.append(task)
        task = self._engines[headless] = asyncio.create_task(self._start(headless=headless))
        task.add_done_callback(_look_at)
        return task

    async def _start(self, *, headless: bool) -> "Engine | Attached":
        if self.settings.cdp_url:
            from outrider.browser.attach import attach

            return await attach(self.settings, self._guard)
        from outrider.browser.engine import start_engine

        return await start_engine(self.settings, self._guard, headless=headless)

    async def _told_others(self, session: "Session") -> None:
        """Other processes learn of a session before its first call can reach them."""
        if self.registry is None or not self.has(session.id):
            return
        try:
            await self.registry.note(session)
        except OutriderError as error:  # the next sign of life of this process tells them
            log.warning("other replicas do not hear of browser session %s yet: %s", session.id, error)

    def _take_care(self) -> None:
        if self._caretaker is None or self._caretaker.done():
            self._caretaker = asyncio.create_task(self._care())

    async def _care(self) -> None:
        pause = min(LOOK_EVERY, self.settings.park_seconds / 2, self.settings.idle_seconds / 2)
        while True:
            await asyncio.sleep(pause)
            for session in list(self._sessions.values()):
                try:
                    await self._care_for(session)
                except OutriderError as error:
                    log.debug("session %s: %s", session.id, error)

    async def _care_for(self, session: "Session") -> None:
        idle = time.time() - session.used_at
        if session.in_use or session.control.paused:
            return
        if idle > self.settings.idle_seconds or (session.left and idle > LEFT_SECONDS):
            await self.end(session)
        elif idle > self.settings.park_seconds:
            await session.park()


def _is_up(task: "asyncio.Task[Engine | Attached]") -> bool:
    up = task.done() and not task.cancelled() and task.exception() is None
    return up and task.result().connection.lost is None


def _look_at(task: "asyncio.Task[Engine | Attached]") -> None:
    """A failure that nobody waited for is no news."""
    if not task.cancelled():
        task.exception()


async def _end(task: "asyncio.Task[Engine | Attached]") -> None:
    if not task.done():
        task.cancel()
    with suppress(OutriderError, asyncio.CancelledError):
        engine = await task
        await engine.aclose()
