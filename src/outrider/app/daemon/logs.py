"""Where the daemon writes: a file of its own, and to each host what concerns that host."""

import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

MAX_LOG_BYTES = 1_000_000  # bytes of one log file
LOG_FILE = "logs/daemon.log"
OUTPUT_SUFFIX = ".out"
WriteText = Callable[[str], None]


class LogTarget:
    """To whom the words of a task go: the host for which it works.

    Attributes:
        write: Writes on its stderr.
        level: The least that it wants to hear, a level of `logging`.
    """

    def __init__(self, write: WriteText, level: int) -> None:
        self.write = write
        self.level = level


current_target: ContextVar[LogTarget | None] = ContextVar("current", default=None)


class HostLogHandler(logging.Handler):
    """Sends a record to the host for which the task that made it works."""

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging` wants it."""
        host = current_target.get()
        if host is not None and record.levelno >= host.level:
            host.write(self.format(record) + "\n")


class PrivateLogFile(RotatingFileHandler):
    """A file that only the person can read."""

    def _open(self) -> TextIOWrapper:
        number = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        os.fchmod(number, 0o600)
        return os.fdopen(number, "a", encoding="utf-8")


def configure_logging(data_dir: Path) -> Path:
    """Begins to write; the file."""
    line_format = "%(levelname)s %(name)s: %(message)s"
    kept_files = 3  # earlier files that are kept
    path = data_dir / LOG_FILE
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = PrivateLogFile(path, maxBytes=MAX_LOG_BYTES, backupCount=kept_files, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(f"%(asctime)s {line_format}"))
    to_host = HostLogHandler()
    to_host.setFormatter(logging.Formatter(line_format))
    root = logging.getLogger()
    for each in root.handlers[:]:
        root.removeHandler(each)
    root.addHandler(file)
    root.addHandler(to_host)
    logging.getLogger("outrider.app.daemon").setLevel(logging.INFO)
    return path


def redirect_output(path: Path) -> None:
    """What is printed anywhere in the process, or by programs that it starts, goes to a file beside the log."""
    place = path.with_suffix(OUTPUT_SUFFIX)
    number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.fchmod(number, 0o600)
    for each in (1, 2):
        os.dup2(number, each)
    os.close(number)


def trim_output(data_dir: Path) -> None:
    """Empties the file of what is printed when it has grown too large."""
    place = (data_dir / LOG_FILE).with_suffix(OUTPUT_SUFFIX)
    try:
        if place.stat().st_size > MAX_LOG_BYTES:
            os.truncate(place, 0)
    except OSError:
        return  # the folder was removed: so shall we be
