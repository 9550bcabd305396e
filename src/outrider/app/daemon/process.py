"""Detach the daemon from the host that starts it: its terminal, process group and open files."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.app.daemon import logs
from outrider.app.daemon.daemon import CommandLineReader, Daemon
from outrider.relay.daemon_paths import DaemonPaths

log = logging.getLogger("outrider.app.daemon")


class LockHeldError(Exception):
    """Another process holds the lock and cannot be reached."""


@dataclass
class DaemonProcess:
    """The detached process.

    Attributes:
        paths: Its files.
        ready: The descriptor from which the starting process reads that we listen.
        lock: The descriptor that holds the lock.
    """

    paths: DaemonPaths
    ready: int
    lock: int

    def serve(self, command_line: CommandLineReader, settle: Callable[[], None]) -> None:
        """Serve hosts until the daemon ends; `settle` is called once its event loop runs."""

        async def run_daemon() -> None:
            daemon = Daemon(self.paths, command_line, self._release_lock)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, daemon.stop)
            settle()
            try:
                await daemon.run_until_idle(lambda: self._report_to_starter("ready"))
            except Exception as error:
                log.exception("the daemon failed")
                self._report_to_starter(str(error))
                raise

        anyio.run(run_daemon)

    def _report_to_starter(self, text: str) -> None:
        if self.ready >= 0:
            os.write(self.ready, f"{text}\n".encode("utf-8", "replace"))
            os.close(self.ready)
            self.ready = -1

    def _release_lock(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def detach_process(paths: DaemonPaths, ready: int) -> DaemonProcess:
    """Detach from the process that started us. Raises OSError and LockHeldError."""
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(3, ready)
    os.closerange(ready + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(ready, False)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    paths.create_run_dir()
    os.chdir(paths.data_dir)
    logs.redirect_output(logs.configure_logging(Path(paths.data_dir)))
    return DaemonProcess(paths, ready, _acquire_lock(paths))


def _acquire_lock(paths: DaemonPaths) -> int:
    """Return the descriptor of the daemon's lock, waiting for an earlier process that is ending."""
    poll_interval_s = 0.02
    lock_timeout_s = 20.0
    import fcntl

    lock = os.open(paths.daemon_lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + lock_timeout_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(lock)
                raise LockHeldError("another process holds the lock and does not answer") from None
            time.sleep(poll_interval_s)
        else:
            return lock
