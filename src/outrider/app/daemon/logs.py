"""Logging of the daemon: to its own file, and to the host concerned."""

import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

MAX_LOG_BYTES = 1_000_000  # of one file
LOG_FILE = "logs/daemon.log"
OUTPUT_SUFFIX = ".out"
WriteText = Callable[[str], None]


class LogTarget:
    """The host that receives the log records of a task.

    Attributes:
        write: Writes to the host's stderr.
        level: The minimum level, as in `logging`.
    """

    def __init__(self, write: WriteText, level: int) -> None:
        self.write = write
        self.level = level


current_target: ContextVar[LogTarget | None] = ContextVar("current", default=None)


class HostLogHandler(logging.Handler):
    """Sends each record to the host of the task that logged it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record to the current host, if its level is high enough."""
        target = current_target.get()
        if target is not None and record.levelno >= target.level:
            target.write(self.format(record) + "\n")


class PrivateLogFile(RotatingFileHandler):
    """A log file that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")


def configure_logging(data_dir: Path) -> Path:
    """Configure logging, and return the path of the log file."""
    line_format = "%(levelname)s %(name)s: %(message)s"
    backup_count = 3
    path = data_dir / LOG_FILE
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = PrivateLogFile(path, maxBytes=MAX_LOG_BYTES, backupCount=backup_count, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(f"%(asctime)s {line_format}"))
    host_handler = HostLogHandler()
    host_handler.setFormatter(logging.Formatter(line_format))
    root = logging.getLogger()
    for each in root.handlers[:]:
        root.removeHandler(each)
    root.addHandler(file)
    root.addHandler(host_handler)
    logging.getLogger("outrider.app.daemon").setLevel(logging.INFO)
    return path


def redirect_output(path: Path) -> None:
    """Redirect stdout and stderr to a file next to the log.

    Children inherit this.
    """
    output_path = path.with_suffix(OUTPUT_SUFFIX)
    descriptor = os.open(output_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.fchmod(descriptor, 0o600)
    for standard_descriptor in (1, 2):
        os.dup2(descriptor, standard_descriptor)
    os.close(descriptor)


def trim_output(data_dir: Path) -> None:
    """Empty the file of redirected output when it has grown too large."""
    output_path = (data_dir / LOG_FILE).with_suffix(OUTPUT_SUFFIX)
    try:
        if output_path.stat().st_size > MAX_LOG_BYTES:
            os.truncate(output_path, 0)
    except OSError:
        return  # the folder was removed, after which the daemon ends soon
