"""Create a profile directory per browser run and remove those of killed processes."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PROFILE_PREFIX = "outrider-browser-"
LOCK_FILE_NAME = ".owner"


class BrowserProfile:
    """A new profile directory, locked while this process lives.

    Attributes:
        path: The directory.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PROFILE_PREFIX, dir=parent))
        self._lock = os.open(self.path / LOCK_FILE_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        _lock_file(self._lock)

    def remove(self) -> None:
        """Remove the directory with all that the browser wrote."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


def remove_stale_profiles(parent: Path | None = None) -> int:
    """Remove the profiles whose process has ended; return how many."""
    folder = parent or Path(tempfile.gettempdir())
    return sum(_remove_if_stale(path) for path in folder.glob(f"{PROFILE_PREFIX}*"))


def _remove_if_stale(path: Path) -> bool:
    try:
        lock = os.open(path / LOCK_FILE_NAME, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # being created just now, or another user's
    try:
        _lock_file(lock)
    except OSError:
        return False
    else:
        shutil.rmtree(path, ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _lock_file(descriptor: int) -> None:
    """Lock the file for this process. Raises OSError when another has it."""
    import fcntl  # missing on Windows

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
