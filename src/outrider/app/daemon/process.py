"""How a started program becomes a process of its own: nobody's child, on no terminal, holding nothing of its host."""

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
from outrider.app.daemon.daemon import Daemon, Reading
from outrider.relay.places import Place

SECONDS = 20.0  # in which an earlier process must let go of the lock
PAUSE = 0.02
log = logging.getLogger("outrider.app.daemon")


class Occupied(Exception):
    """Another process holds the place and cannot be reached."""


@dataclass
class Begun:
    """The process, on its own.

    Attributes:
        place: Ours.
        ready: Where whoever started us reads that we listen.
        lock: The descriptor that holds the place.
    """

    place: Place
    ready: int
    lock: int

    def run(self, reading: "Reading", settle: Callable[[], None]) -> None:
        """Serves until it ends."""
        anyio.run(self._serve, reading, settle)

    async def _serve(self, reading: "Reading", settle: Callable[[], None]) -> None:

        daemon = Daemon(self.place, reading, self._let_go)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, daemon.stop)
        settle()
        try:
            await daemon.run(lambda: self._say("ready"))
        except Exception as error:
            log.exception("the process ends")
            self._say(str(error))
            raise

    def _say(self, text: str) -> None:
        if self.ready >= 0:
            os.write(self.ready, f"{text}\n".encode("utf-8", "replace"))
            os.close(self.ready)
            self.ready = -1

    def _let_go(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def begin(place: Place, ready: int) -> Begun | None:
    """Leaves the process that started us behind; None in the half that ends at once. Raises OSError and Occupied."""
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(3, ready)
    os.closerange(ready + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(ready, False)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    place.prepare()
    os.chdir(place.folder)

    logs.everything_to(logs.begin(Path(place.folder)))
    return Begun(place, ready, _locked(place))


def _locked(place: Place) -> int:
    """The lock of whoever answers at the door; an earlier process that is leaving lets go of it in a moment."""
    import fcntl

    lock = os.open(place.alive, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(lock)
                raise Occupied("another process holds the place and does not answer") from None
            time.sleep(PAUSE)
        else:
            return lock
