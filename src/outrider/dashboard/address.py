"""Publish the addresses of running dashboards in private files.

A file is locked while its process lives, so that the file of a killed process is recognized.
"""

import json
import logging
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from outrider import __version__
from outrider.dashboard.sign_in_tokens import SignInTokens

log = logging.getLogger(__name__)
RUN_FOLDER = "run"
ADDRESS_FILE_PREFIX = "dashboard-"


@dataclass(frozen=True)
class DashboardAddress:
    """The address of one running dashboard.

    Attributes:
        place: Its address, without a token and with a final slash.
        token: The current sign-in token.
        kind: The command that runs it: `mcp`, `serve` or `dashboard`.
        pid: The id of its process.
        since: When it was started, in seconds since the epoch.
    """

    place: str
    token: str
    kind: str
    pid: int
    since: float
    version: str = __version__

    @property
    def url(self) -> str:
        """The URL that signs a browser in."""
        return f"{self.place}?token={self.token}"


class AddressFile:
    """The address file of this process's dashboard.

    Raises OSError if no file can be written.
    """

    def __init__(self, data_dir: Path, place: str, token: str, *, kind: str) -> None:
        self.address = DashboardAddress(place, token, kind, os.getpid(), time.time())
        folder = data_dir / RUN_FOLDER
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        port = place.rstrip("/").rpartition(":")[2].partition("/")[0]
        self._path = folder / f"{ADDRESS_FILE_PREFIX}{os.getpid()}-{port}.json"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock_file(self._file)
        self._write_address()

    def update_token(self, token: str) -> None:
        """Write the new token to the file."""
        self.address = replace(self.address, token=token)
        with suppress(OSError):  # if the disk is full, the old address remains
            self._write_address()

    def remove(self) -> None:
        """Delete the file when the dashboard ends."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._file)

    def _write_address(self) -> None:
        text = json.dumps(asdict(self.address)).encode()
        os.pwrite(self._file, text, 0)
        os.ftruncate(self._file, len(text))


@contextmanager
def publish_address(data_dir: Path, place: str, launch: SignInTokens, *, kind: str) -> Generator[None]:
    """Let other processes of the user find the dashboard while the body runs.

    If no file can be written, other processes cannot find it, which is logged.
    """
    try:
        file = AddressFile(data_dir, place, launch.token, kind=kind)
    except OSError as error:
        log.warning("`outrider dashboard` will not find %s: %s", place, error.strerror)
        yield
        return
    launch.on_change = file.update_token
    try:
        yield
    finally:
        file.remove()


def list_running(data_dir: Path) -> list[DashboardAddress]:
    """List running dashboards of this data directory, newest first; remove stale files."""
    max_file_bytes = 4_096
    running: list[DashboardAddress] = []
    for path in (data_dir / RUN_FOLDER).glob(f"{ADDRESS_FILE_PREFIX}*.json"):
        with suppress(OSError, ValueError, TypeError):
            if _is_abandoned(path):
                path.unlink()
            else:
                running.append(DashboardAddress(**json.loads(path.read_bytes()[:max_file_bytes])))
    return sorted(running, key=lambda each: -each.since)


def _lock_file(file: int) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_abandoned(path: Path) -> bool:
    """Return whether no process holds the file's lock."""
    file = os.open(path, os.O_RDWR)
    try:
        _lock_file(file)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True
