"""Serve all hosts of a person from one process.

It ends when it is idle or outdated.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from outrider import __version__
from outrider.app.daemon.app_pool import AppPool
from outrider.app.daemon.code_version import fingerprint_code, is_newer_version
from outrider.app.daemon.host_config import HostConfig, change_directory, resolve_paths
from outrider.app.daemon.host_connection import HostConnection
from outrider.app.daemon.listener import DaemonListener
from outrider.app.daemon.logs import LOG_FILE, LogTarget, current_target, trim_output
from outrider.app.daemon.session_names import SessionNames, clean_up_host
from outrider.core.errors import OutriderError
from outrider.relay import frames
from outrider.relay.daemon_paths import DaemonPaths
from outrider.relay.handshake import Handshake, describe_install, find_home_dir, parse_handshake
from outrider.serve.host_session import HostSession, build_repeat_predicate

log = logging.getLogger("outrider.app.daemon")
DRAIN_TIMEOUT_S = 30.0  # for calls in progress when another daemon takes over or this one is stopped


class HostRefusal(Exception):
    """The host cannot be served; carries the text for its stderr and its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class CommandLineReader(Protocol):
    """Reads the command lines of hosts, and words their errors."""

    def read_config(self, handshake: Handshake) -> HostConfig:
        """Return the configuration that a host's command line asks for. Raises HostRefusal."""
        ...

    def build_refusal(self, error: OutriderError) -> HostRefusal:
        """Return the error as the command itself would report it."""
        ...


class Daemon:
    """The shared process.

    Args:
        paths: Where it listens; this process holds the lock.
        command_line: Reads the command lines of hosts.
        release_lock: Releases the lock, so that the next daemon can start.
    """

    def __init__(self, paths: DaemonPaths, command_line: CommandLineReader, release_lock: Callable[[], None]) -> None:
        self._paths = paths
        self._command_line = command_line
        self._release_lock = release_lock
        self._listener = DaemonListener(paths, self._accept_connection)
        self._apps = AppPool()
        self._sessions = SessionNames()
        self._connections: dict[HostConnection, HostSession | None] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._fingerprint = fingerprint_code()
        self._install = describe_install()
        self._started_at = time.time()
        self._last_used_at = time.monotonic()
        self._idle_timeout_s = 10.0  # until a host is admitted, whose settings name the real one
        self._hosts_changed = asyncio.Event()
        self._shutdown_task: asyncio.Task[None] | None = None
        self._finished = asyncio.Event()

    async def run_until_idle(self, on_listening: Callable[[], None]) -> None:
        """Serve until no host has used it for a while, or until it is stopped.

        Args:
            on_listening: Called once hosts can connect.
        """
        await self._listener.open()
        on_listening()
        log.info("version %s listens, process %d", __version__, os.getpid())
        idle_watch = asyncio.create_task(self._watch_idle_time())
        try:
            await self._finished.wait()
        finally:
            idle_watch.cancel()
            await self._listener.close()
            self._release_lock()
            # Hosts whose connection ends without an answer connect to the next daemon.
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._apps.close()
            log.info("process %d ends", os.getpid())

    def stop(self) -> None:
        """Start shutting down, as `outrider daemon stop` does."""
        self._start_shutdown(frames.LEAVE_FRAME)

    # Connections

    async def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first_frame_timeout_s = 30.0
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = HostConnection(reader, writer)
        try:
            kind, payload = await asyncio.wait_for(connection.read_first(), first_frame_timeout_s)
            if kind == frames.CONTROL_FRAME:
                self._tasks.discard(task)  # `stop` waits for this connection to end with the process
                await self._handle_control(connection, payload)
            elif kind == frames.HANDSHAKE_FRAME:
                await self._admit_host(connection, parse_handshake(payload))
        except HostRefusal as refusal:
            connection.send_frame(frames.EXIT_FRAME, refusal.text.encode("utf-8", "replace"), refusal.code)
        except asyncio.CancelledError:
            return  # the process ends; asyncio would report a cancelled connection task as an error
        except (TimeoutError, ValueError) as error:
            log.warning("a connection sent an invalid handshake: %s", error)
        except Exception:
            log.exception("a connection failed")
        finally:
            self._tasks.discard(task)
            await connection.close()

    async def _handle_control(self, connection: HostConnection, command: bytes) -> None:
        if command == b"status":
            connection.send_frame(frames.OUTPUT_FRAME, json.dumps(self.serialize_status()).encode())
        elif command == b"stop":
            self.stop()
            await asyncio.Event().wait()  # the connection ends with the process

    async def _admit_host(self, connection: HostConnection, handshake: Handshake) -> None:
        if self._shutdown_task is not None:
            connection.send_frame(frames.LEAVE_FRAME)
            return
        if self._is_outdated(handshake):
            connection.send_frame(frames.MOVE_FRAME)
            log.info("the code on disk has changed, or a newer version connected: it takes over")
            self._start_shutdown(frames.MOVE_FRAME)
            return
        self._connections[connection] = None
        try:
            await self._serve_host(connection, handshake)
        finally:
            self._connections.pop(connection, None)
            connection.finished.set()
            self._last_used_at = time.monotonic()
            self._hosts_changed.set()

    async def _serve_host(self, connection: HostConnection, handshake: Handshake) -> None:
        config = self._read_config(handshake)
        mismatch = self._explain_mismatch(handshake, config) or self._apps.explain_mismatch(config.loaded)
        if mismatch:
            connection.send_frame(frames.REJECT_FRAME, mismatch.encode())
            return
        level = getattr(logging, config.loaded.settings.log_level.upper())
        logging.getLogger().setLevel(min(logging.getLogger().level or logging.WARNING, level))
        current_target.set(LogTarget(connection.write_stderr, level))
        for warning in config.loaded.warnings if not handshake.again else ():
            connection.write_stderr(f"WARNING outrider: {warning}\n")
        try:
            pooled, app = await self._apps.acquire(config.loaded)
        except OutriderError as error:
            raise self._command_line.build_refusal(error) from error
        session = config.session or (
            self._sessions.join(handshake.cwd)
            if config.joins
            else self._sessions.assign(handshake.cwd, handshake.session)
        )
        self._idle_timeout_s = config.loaded.settings.daemon_idle_s
        try:
            host_session = self._connections[connection] = HostSession(connection, build_repeat_predicate(app.toolbox))
            connection.send_frame(frames.WELCOME_FRAME, session.encode("utf-8", "replace"))
            if self._shutdown_task is not None:
                connection.send_frame(frames.LEAVE_FRAME)
            await host_session.serve(app.build_server(name=config.name, session=session))
        finally:
            if not config.session and not config.joins:
                if not self._sessions.is_joined(session):
                    await clean_up_host(app, session)
                self._sessions.release(session)
            await self._apps.release(pooled)

    def _read_config(self, handshake: Handshake) -> HostConfig:
        # Variables of the person's desktop; the host that started the daemon may have had none.
        desktop_variables = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
        for name in desktop_variables:
            if name in handshake.environ:
                os.environ.setdefault(name, handshake.environ[name])
        with change_directory(handshake.cwd):
            config = self._command_line.read_config(handshake)
        return replace(config, loaded=resolve_paths(config.loaded))

    def _is_outdated(self, handshake: Handshake) -> bool:
        """Return whether a newer version, or the changed code on disk, should serve this host."""
        if handshake.again:
            return False
        if handshake.install == self._install:
            try:
                return fingerprint_code() != self._fingerprint
            except OSError:
                return True  # the code is being replaced at this moment, or was removed
        return is_newer_version(handshake.version, __version__)

    def _explain_mismatch(self, handshake: Handshake, config: HostConfig) -> str:
        """Return why this process would serve the host differently from its own; empty if it would not."""
        if handshake.wire != frames.PROTOCOL_VERSION.decode():
            return "the shared process speaks another version of the relay's protocol"
        if handshake.home != find_home_dir():
            return "the shared process belongs to another home directory"
        if config.loaded.settings.data_dir != Path(self._paths.data_dir) or not config.loaded.settings.daemon:
            return "the shared process belongs to other settings of `data_dir` and `daemon`"
        if handshake.install != self._install and not handshake.again:
            return "the shared process runs another installation of Outrider (`outrider daemon stop` ends it)"
        return ""

    # Shutdown

    async def _watch_idle_time(self) -> None:
        """Shut down an idle process, or one that cannot be reached."""
        check_interval_s = 60.0
        while True:
            self._hosts_changed.clear()
            idle_time_left_s = self._last_used_at + self._idle_timeout_s - time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    self._hosts_changed.wait(),
                    check_interval_s if self._connections else min(max(idle_time_left_s, 0.01), check_interval_s),
                )
            now = time.monotonic()
            trim_output(Path(self._paths.data_dir))
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
        """Stop listening, let the next daemon start, and wait for the calls in progress."""

        async def wait_until_answered(connection: HostConnection) -> None:
            await connection.finished.wait()
            while (host_session := self._connections.get(connection)) is not None and host_session.pending_count:
                await host_session.changed.wait()

        await self._listener.close()
        self._release_lock()
        if kind == frames.MOVE_FRAME:
            # Hosts that learn of it before the next daemon listens might start one of an older version.
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_TIMEOUT_S):
                    while not self._listener.has_successor:  # noqa: ASYNC110 - it is another process
                        await asyncio.sleep(0.02)
        for connection in self._connections:
            connection.send_frame(kind)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await asyncio.gather(*map(wait_until_answered, list(self._connections)))
        self._finished.set()

    # Commands of `outrider daemon`

    def serialize_status(self) -> dict[str, Any]:
        """Return the state of the process, for `outrider daemon status`."""
        return {
            "process": os.getpid(),
            "version": __version__,
            "data_dir": self._paths.data_dir,
            "log": str(Path(self._paths.data_dir) / LOG_FILE),
            "seconds": round(time.time() - self._started_at, 1),
            "hosts": len(self._connections),
            "apps": len(self._apps),
            "at_work": self._apps.is_busy,
            "dashboard": self._apps.dashboard_url,
            "rest_token": self._paths.rest_token_path,
            "idle_s": self._idle_timeout_s,
        }
