"""Serves every host of a person from one process: lets them in, moves them on, and ends when nobody is left."""

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from outrider import __version__
from outrider.app.daemon.code import fingerprint, is_newer
from outrider.app.daemon.houses import Houses
from outrider.app.daemon.leaving import left
from outrider.app.daemon.listening import Door
from outrider.app.daemon.logs import NAME, Host, current, trim
from outrider.app.daemon.sessions import Sessions
from outrider.app.daemon.visitor import Visitor
from outrider.app.daemon.wish import Wish, anchored, standing_in
from outrider.core.errors import OutriderError
from outrider.relay import frames
from outrider.relay.hello import Hello, home, install, unpacked
from outrider.relay.places import Place
from outrider.serve.connections import Desk, repeats

log = logging.getLogger("outrider.app.daemon")
FIRST_WORDS = 30.0  # seconds that a connection has to say who it is
PATIENCE = 30.0  # seconds that calls under way have when another daemon takes over, or this one is told to stop
LOOK_AGAIN = 0.02  # seconds between looks for the next daemon's door
LOOK = 60.0  # seconds between looks whether anybody can still find us
MINUTE = 60.0
# Of the screen and the person's desktop: who starts the daemon may have had none of it.
SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


class Refusal(Exception):
    """The host cannot be served at all: the text for its stderr, and its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class Reading(Protocol):
    """How the command line is read, and how it says what is wrong."""

    def wish(self, hello: Hello) -> Wish:
        """What a host wants. Raises Refusal."""
        ...

    def refusal(self, error: OutriderError) -> Refusal:
        """What the command would say and end with."""
        ...


class Daemon:
    """The one process.

    Args:
        place: Where it listens; the lock on it is ours.
        reading: Reads what hosts want.
        let_go: Lets go of the lock, so that the next daemon can begin.
    """

    def __init__(self, place: Place, reading: Reading, let_go: Callable[[], None]) -> None:
        self._place = place
        self._reading = reading
        self._let_go = let_go
        self._door = Door(place, self._visit)
        self._houses = Houses()
        self._sessions = Sessions()
        self._guests: dict[Visitor, Desk | None] = {}
        self._visits: set[asyncio.Task[Any]] = set()
        self._code = fingerprint()
        self._install = install()
        self._began = time.time()
        self._left_at = time.monotonic()
        self._idle = 15 * MINUTE
        self._changed = asyncio.Event()
        self._leaving: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def run(self, listening: Callable[[], None]) -> None:
        """Serves until nobody has needed it for a while, or it is told to stop.

        Args:
            listening: Called when it can be reached.
        """
        await self._door.open()
        listening()
        log.info("version %s listens, process %d", __version__, os.getpid())
        minder = asyncio.create_task(self._mind())
        try:
            await self._over.wait()
        finally:
            minder.cancel()
            await self._door.close()
            self._let_go()
            await self._farewell()
            await self._houses.close()
            log.info("process %d ends", os.getpid())

    def stop(self) -> None:
        """Begins to end, as `outrider daemon stop` does."""
        self._leave(frames.LEAVE)

    # Who comes

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._visits.add(task)
        visitor = Visitor(reader, writer)
        try:
            kind, payload = await asyncio.wait_for(visitor.first(), FIRST_WORDS)
            if kind == frames.CONTROL:
                self._visits.discard(task)  # who told us to stop hears of our end by it
                await self._control(visitor, payload)
            elif kind == frames.HELLO:
                await self._welcome(visitor, unpacked(payload))
        except Refusal as refusal:
            visitor.send(frames.EXIT, refusal.text.encode("utf-8", "replace"), refusal.code)
        except asyncio.CancelledError:
            return  # the process ends; nobody waits for this task, and asyncio would call that an error
        except (TimeoutError, ValueError) as error:
            log.warning("a connection was not understood: %s", error)
        except Exception:
            log.exception("a connection has failed")
        finally:
            self._visits.discard(task)
            await visitor.close()

    async def _welcome(self, visitor: Visitor, hello: Hello) -> None:
        if self._leaving is not None:
            visitor.send(frames.LEAVE)
            return
        if self._is_old(hello):
            visitor.send(frames.MOVE)
            log.info("other code is on disk, or a newer version came: it takes over")
            self._leave(frames.MOVE)
            return
        self._guests[visitor] = None
        try:
            await self._serve(visitor, hello)
        finally:
            self._guests.pop(visitor, None)
            visitor.quiet.set()
            self._left_at = time.monotonic()
            self._changed.set()

    async def _serve(self, visitor: Visitor, hello: Hello) -> None:
        wish = self._wish(hello)
        reason = self._stranger(hello, wish) or self._houses.stranger(wish.loaded)
        if reason:
            visitor.send(frames.ALONE, reason.encode())
            return
        level = getattr(logging, wish.loaded.settings.log_level.upper())
        logging.getLogger().setLevel(min(logging.getLogger().level or logging.WARNING, level))
        current.set(Host(visitor.words, level))
        for warning in wish.loaded.warnings if not hello.again else ():
            visitor.words(f"WARNING outrider: {warning}\n")
        try:
            house, app = await self._houses.enter(wish.loaded)
        except OutriderError as error:
            raise self._reading.refusal(error) from error
        session = wish.session or self._sessions.lend(hello.cwd, hello.session)
        self._idle = wish.loaded.settings.daemon_idle_minutes * MINUTE
        try:
            desk = self._guests[visitor] = Desk(visitor, repeats(app.toolbox))
            visitor.send(frames.SESSION, session.encode("utf-8", "replace"))
            if self._leaving is not None:
                visitor.send(frames.LEAVE)
            await desk.serve(app.server(name=wish.name, session=session))
        finally:
            if not wish.session:
                await left(app, session)
                self._sessions.give_back(session)
            await self._houses.leave(house)

    def _wish(self, hello: Hello) -> Wish:
        for name in SCREEN:
            if name in hello.environ:
                os.environ.setdefault(name, hello.environ[name])
        with standing_in(hello.cwd):
            wish = self._reading.wish(hello)
        return Wish(anchored(wish.loaded), wish.name, wish.session)

    def _is_old(self, hello: Hello) -> bool:
        """Whether another daemon should serve this host: of a newer version, or of what is on our disk now."""
        if hello.again:
            return False
        if hello.install == self._install:
            try:
                return fingerprint() != self._code
            except OSError:
                return True  # it is being replaced at this moment, or was removed
        return is_newer(hello.version, __version__)

    def _stranger(self, hello: Hello, wish: Wish) -> str:
        """Why this host cannot be served as it would serve itself; empty if it can."""
        if hello.wire != frames.VERSION.decode():
            return "the shared process speaks another version of the relay's protocol"
        if hello.home != home():
            return "the shared process belongs to another home directory"
        if wish.loaded.settings.data_dir != Path(self._place.folder) or not wish.loaded.settings.daemon:
            return "the shared process belongs to other settings of `data_dir` and `daemon`"
        if hello.install != self._install and not hello.again:
            return "the shared process runs another installation of Outrider (`outrider daemon stop` ends it)"
        return ""

    # How it ends

    async def _mind(self) -> None:
        """Ends the process when nobody has been here for a while, or nobody can come any more."""
        while True:
            self._changed.clear()
            rest = self._left_at + self._idle - time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LOOK if self._guests else min(max(rest, 0.01), LOOK))
            now = time.monotonic()
            trim(Path(self._place.folder))
            if self._guests or self._houses.busy:
                self._left_at = now
            if self._door.blocked or now - self._left_at >= self._idle > 0 or (not self._idle and not self._guests):
                self._leave(frames.MOVE if self._guests else frames.LEAVE)
                return

    def _leave(self, kind: bytes) -> None:
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._depart(kind))

    async def _depart(self, kind: bytes) -> None:
        """Takes nobody new, lets the next daemon begin, and waits until what is under way here is answered."""
        await self._door.close()
        self._let_go()
        if kind == frames.MOVE:
            await self._next()
        for visitor in self._guests:
            visitor.send(kind)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(self._settled(each) for each in list(self._guests)))
        self._over.set()

    async def _next(self) -> None:
        """Waits until the next daemon listens: whoever was told earlier might start one of its own, older version."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not self._door.answered:  # noqa: ASYNC110 - it is another process
                    await asyncio.sleep(LOOK_AGAIN)

    async def _settled(self, visitor: Visitor) -> None:
        """Waits until a host sends nothing more here, and has the answers that it waits for."""
        await visitor.quiet.wait()
        while (desk := self._guests.get(visitor)) is not None and desk.under_way:
            await desk.changed.wait()

    async def _farewell(self) -> None:
        """Ends the connections that are left; who hears nothing any more goes to the next daemon."""
        for task in list(self._visits):
            task.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    # Who asks

    async def _control(self, visitor: Visitor, word: bytes) -> None:
        if word == b"status":
            visitor.send(frames.OUTPUT, json.dumps(self.status()).encode())
        elif word == b"stop":
            self.stop()
            await asyncio.Event().wait()  # the connection ends with the process

    def status(self) -> dict[str, Any]:
        """How things stand."""
        return {
            "process": os.getpid(),
            "version": __version__,
            "data_dir": self._place.folder,
            "log": str(Path(self._place.folder) / NAME),
            "seconds": round(time.time() - self._began, 1),
            "hosts": len(self._guests),
            "houses": len(self._houses),
            "at_work": self._houses.busy,
            "dashboard": self._houses.dashboard,
            "idle_minutes": self._idle / MINUTE,
        }
