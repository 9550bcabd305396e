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
from outrider.app.daemon.app_pool import AppPool
from outrider.app.daemon.cleanup import clean_up_host
from outrider.app.daemon.code_version import fingerprint_code, is_newer_version
from outrider.app.daemon.host_config import HostConfig, change_directory, resolve_paths
from outrider.app.daemon.host_connection import HostConnection
from outrider.app.daemon.listener import DaemonListener
from outrider.app.daemon.logs import LOG_FILE, LogTarget, current_target, trim_output
from outrider.app.daemon.session_names import SessionNames
from outrider.core.errors import OutriderError
from outrider.relay import frames
from outrider.relay.daemon_paths import DaemonPaths
from outrider.relay.handshake import Handshake, describe_install, find_home_dir, parse_handshake
from outrider.serve.host_session import HostSession, build_repeat_predicate

log = logging.getLogger("outrider.app.daemon")
DRAIN_TIMEOUT_S = 30.0  # seconds that calls under way have when another daemon takes over, or this one is told to stop
SECONDS_PER_MINUTE = 60.0


class HostRefusal(Exception):
    """The host cannot be served at all: the text for its stderr, and its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class CommandLineReader(Protocol):
    """How the command line is read, and how it says what is wrong."""

    def read_config(self, hello: Handshake) -> HostConfig:
        """What a host wants. Raises Refusal."""
        ...

    def build_refusal(self, error: OutriderError) -> HostRefusal:
        """What the command would say and end with."""
        ...


class Daemon:
    """The one process.

    Args:
        place: Where it listens; the lock on it is ours.
        command_line: Reads what hosts want.
        release_lock: Lets go of the lock, so that the next daemon can begin.
    """

    def __init__(self, place: DaemonPaths, command_line: CommandLineReader, release_lock: Callable[[], None]) -> None:
        self._place = place
        self._command_line = command_line
        self._release_lock = release_lock
        self._listener = DaemonListener(place, self._accept_connection)
        self._apps = AppPool()
        self._sessions = SessionNames()
        self._connections: dict[HostConnection, HostSession | None] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._fingerprint = fingerprint_code()
        self._install = describe_install()
        self._started_at = time.time()
        self._last_used_at = time.monotonic()
        self._idle_timeout_s = 15 * SECONDS_PER_MINUTE
        self._hosts_changed = asyncio.Event()
        self._shutdown_task: asyncio.Task[None] | None = None
        self._finished = asyncio.Event()

    async def run_until_idle(self, on_listening: Callable[[], None]) -> None:
        """Serves until nobody has needed it for a while, or it is told to stop.

        Args:
            on_listening: Called when it can be reached.
        """
        await self._listener.open()
        on_listening()
        log.info("version %s listens, process %d", __version__, os.getpid())
        minder = asyncio.create_task(self._watch_idle_time())
        try:
            await self._finished.wait()
        finally:
            minder.cancel()
            await self._listener.close()
            self._release_lock()
            await self._farewell()
            await self._apps.close()
            log.info("process %d ends", os.getpid())

    def stop(self) -> None:
        """Begins to end, as `outrider daemon stop` does."""
        self._start_shutdown(frames.LEAVE_FRAME)

    # Who comes

    async def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first_frame_timeout_s = 30.0  # seconds that a connection has to say who it is
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        visitor = HostConnection(reader, writer)
        try:
            kind, payload = await asyncio.wait_for(visitor.read_first(), first_frame_timeout_s)
            if kind == frames.CONTROL_FRAME:
                self._tasks.discard(task)  # who told us to stop hears of our end by it
                await self._handle_control(visitor, payload)
            elif kind == frames.HANDSHAKE_FRAME:
                await self._admit_host(visitor, parse_handshake(payload))
        except HostRefusal as refusal:
            visitor.send_frame(frames.EXIT_FRAME, refusal.text.encode("utf-8", "replace"), refusal.code)
        except asyncio.CancelledError:
            return  # the process ends; nobody waits for this task, and asyncio would call that an error
        except (TimeoutError, ValueError) as error:
            log.warning("a connection was not understood: %s", error)
        except Exception:
            log.exception("a connection has failed")
        finally:
            self._tasks.discard(task)
            await visitor.close()

    async def _admit_host(self, connection: HostConnection, hello: Handshake) -> None:
        if self._shutdown_task is not None:
            connection.send_frame(frames.LEAVE_FRAME)
            return
        if self._is_outdated(hello):
            connection.send_frame(frames.MOVE_FRAME)
            log.info("other code is on disk, or a newer version came: it takes over")
            self._start_shutdown(frames.MOVE_FRAME)
            return
        self._connections[connection] = None
        try:
            await self._serve_host(connection, hello)
        finally:
            self._connections.pop(connection, None)
            connection.finished.set()
            self._last_used_at = time.monotonic()
            self._hosts_changed.set()

    async def _serve_host(self, connection: HostConnection, hello: Handshake) -> None:
        wish = self._read_config(hello)
        reason = self._explain_mismatch(hello, wish) or self._apps.explain_mismatch(wish.loaded)
        if reason:
            connection.send_frame(frames.REJECT_FRAME, reason.encode())
            return
        level = getattr(logging, wish.loaded.settings.log_level.upper())
        logging.getLogger().setLevel(min(logging.getLogger().level or logging.WARNING, level))
        current_target.set(LogTarget(connection.write_stderr, level))
        for warning in wish.loaded.warnings if not hello.again else ():
            connection.write_stderr(f"WARNING outrider: {warning}\n")
        try:
            house, app = await self._apps.acquire(wish.loaded)
        except OutriderError as error:
            raise self._command_line.build_refusal(error) from error
        session = wish.session or self._sessions.assign(hello.cwd, hello.session)
        self._idle_timeout_s = wish.loaded.settings.daemon_idle_minutes * SECONDS_PER_MINUTE
        try:
            desk = self._connections[connection] = HostSession(connection, build_repeat_predicate(app.toolbox))
            connection.send_frame(frames.WELCOME_FRAME, session.encode("utf-8", "replace"))
            if self._shutdown_task is not None:
                connection.send_frame(frames.LEAVE_FRAME)
            await desk.serve(app.build_server(name=wish.name, session=session))
        finally:
            if not wish.session:
                await clean_up_host(app, session)
                self._sessions.release(session)
            await self._apps.release(house)

    def _read_config(self, hello: Handshake) -> HostConfig:
        # Of the screen and the person's desktop: who starts the daemon may have had none of it.
        desktop_variables = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
        for name in desktop_variables:
            if name in hello.environ:
                os.environ.setdefault(name, hello.environ[name])
        with change_directory(hello.cwd):
            wish = self._command_line.read_config(hello)
        return HostConfig(resolve_paths(wish.loaded), wish.name, wish.session)

    def _is_outdated(self, hello: Handshake) -> bool:
        """Whether another daemon should serve this host: of a newer version, or of what is on our disk now."""
        if hello.again:
            return False
        if hello.install == self._install:
            try:
                return fingerprint_code() != self._fingerprint
            except OSError:
                return True  # it is being replaced at this moment, or was removed
        return is_newer_version(hello.version, __version__)

    def _explain_mismatch(self, hello: Handshake, config: HostConfig) -> str:
        """Why this host cannot be served as it would serve itself; empty if it can."""
        if hello.wire != frames.PROTOCOL_VERSION.decode():
            return "the shared process speaks another version of the relay's protocol"
        if hello.home != find_home_dir():
            return "the shared process belongs to another home directory"
        if config.loaded.settings.data_dir != Path(self._place.data_dir) or not config.loaded.settings.daemon:
            return "the shared process belongs to other settings of `data_dir` and `daemon`"
        if hello.install != self._install and not hello.again:
            return "the shared process runs another installation of Outrider (`outrider daemon stop` ends it)"
        return ""

    # How it ends

    async def _watch_idle_time(self) -> None:
        """Ends the process when nobody has been here for a while, or nobody can come any more."""
        check_interval_s = 60.0  # seconds between looks whether anybody can still find us
        while True:
            self._hosts_changed.clear()
            rest = self._last_used_at + self._idle_timeout_s - time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    self._hosts_changed.wait(),
                    check_interval_s if self._connections else min(max(rest, 0.01), check_interval_s),
                )
            now = time.monotonic()
            trim_output(Path(self._place.data_dir))
            if self._connections or self._apps.is_busy:
                self._last_used_at = now
            if (
                self._listener.is_unreachable
                or now - self._last_used_at >= self._idle_timeout_s > 0
                or (not self._idle_timeout_s and not self._connections)
            ):
                self._start_shutdown(frames.MOVE_FRAME if self._connections else frames.LEAVE_FRAME)
                return

    def _start_shutdown(self, kind: bytes) -> None:
        if self._shutdown_task is None:
            self._shutdown_task = asyncio.create_task(self._shut_down(kind))

    async def _shut_down(self, kind: bytes) -> None:
        """Takes nobody new, lets the next daemon begin, and waits until what is under way here is answered."""
        await self._listener.close()
        self._release_lock()
        if kind == frames.MOVE_FRAME:
            await self._wait_for_successor()
        for visitor in self._connections:
            visitor.send_frame(kind)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await asyncio.gather(*(self._wait_until_settled(each) for each in list(self._connections)))
        self._finished.set()

    async def _wait_for_successor(self) -> None:
        """Waits until the next daemon listens: whoever was told earlier might start one of its own, older version."""
        poll_interval_s = 0.02  # seconds between looks for the next daemon's door
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                while not self._listener.has_successor:  # noqa: ASYNC110 - it is another process
                    await asyncio.sleep(poll_interval_s)

    async def _wait_until_settled(self, connection: HostConnection) -> None:
        """Waits until a host sends nothing more here, and has the answers that it waits for."""
        await connection.finished.wait()
        while (desk := self._connections.get(connection)) is not None and desk.pending_count:
            await desk.changed.wait()

    async def _farewell(self) -> None:
        """Ends the connections that are left; who hears nothing any more goes to the next daemon."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Who asks

    async def _handle_control(self, connection: HostConnection, command: bytes) -> None:
        if command == b"status":
            connection.send_frame(frames.OUTPUT_FRAME, json.dumps(self.serialize_status()).encode())
        elif command == b"stop":
            self.stop()
            await asyncio.Event().wait()  # the connection ends with the process

    def serialize_status(self) -> dict[str, Any]:
        """How things stand."""
        return {
            "process": os.getpid(),
            "version": __version__,
            "data_dir": self._place.data_dir,
            "log": str(Path(self._place.data_dir) / LOG_FILE),
            "seconds": round(time.time() - self._started_at, 1),
            "hosts": len(self._connections),
            "houses": len(self._apps),
            "at_work": self._apps.is_busy,
            "dashboard": self._apps.dashboard_url,
            "idle_minutes": self._idle_timeout_s / SECONDS_PER_MINUTE,
        }
