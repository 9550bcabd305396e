"""Where the daemon writes: a file of its own, and to each host what concerns that host."""

import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

MOST = 1_000_000  # bytes of one log file
OLD = 3  # earlier files that are kept
NAME = "logs/daemon.log"
PRINTED = ".out"
LINE = "%(levelname)s %(name)s: %(message)s"
Tell = Callable[[str], None]


class Host:
    """To whom the words of a task go: the host for which it works.

    Attributes:
        tell: Writes on its stderr.
        level: The least that it wants to hear, a level of `logging`.
    """

    def __init__(self, tell: Tell, level: int) -> None:
        self.tell = tell
        self.level = level


current: ContextVar[Host | None] = ContextVar("current", default=None)


class ToHost(logging.Handler):
    """Sends a record to the host for which the task that made it works."""

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging` wants it."""
        host = current.get()
        if host is not None and record.levelno >= host.level:
            host.tell(self.format(record) + "\n")


class Private(RotatingFileHandler):
    """A file that only the person can read."""

    def _open(self) -> TextIOWrapper:
        number = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        os.fchmod(number, 0o600)
        return os.fdopen(number, "a", encoding="utf-8")


def begin(data_dir: Path) -> Path:
    """Begins to write; the file."""
    path = data_dir / NAME
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = Private(path, maxBytes=MOST, backupCount=OLD, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(f"%(asctime)s {LINE}"))
    to_host = ToHost()
    to_host.setFormatter(logging.Formatter(LINE))
    root = logging.getLogger()
    for each in root.handlers[:]:
        root.removeHandler(each)
    root.addHandler(file)
    root.addHandler(to_host)
    logging.getLogger("outrider.app.daemon").setLevel(logging.INFO)
    return path


def everything_to(path: Path) -> None:
    """What is printed anywhere in the process, or by programs that it starts, goes to a file beside the log."""
    place = path.with_suffix(PRINTED)
    number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.fchmod(number, 0o600)
    for each in (1, 2):
        os.dup2(number, each)
    os.close(number)


def trim(data_dir: Path) -> None:
    """Empties the file of what is printed when it has grown too large."""
    place = (data_dir / NAME).with_suffix(PRINTED)
    try:
        if place.stat().st_size > MOST:
            os.truncate(place, 0)
    except OSError:
        return  # the folder was removed: so shall we be
