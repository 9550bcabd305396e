"""How much of its room a workspace has used: measured now and then, and added up in between."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from outrider.core.errors import Refused

FRESH_SECONDS = 10.0  # code that runs in the workspace writes, too, without telling us


class Room:
    """The room of the tree below `root`. Blocking and safe from several threads."""

    def __init__(self, root: Path, quota: int) -> None:
        self._root = root
        self._quota = quota
        self._used = 0
        self._measured_at = float("-inf")
        self._lock = threading.Lock()

    def claim(self, more: int) -> None:
        """Notes that so many bytes are about to be written. Raises Refused(code=quota) where there is no room."""
        with self._lock:
            if time.monotonic() - self._measured_at > FRESH_SECONDS or self._used + more > self._quota:
                self._used, self._measured_at = size_of(self._root), time.monotonic()
            if self._used + more > self._quota:
                raise Refused(
                    f"the workspace holds {self._used:,} of at most {self._quota:,} bytes; {more:,} more do not fit",
                    hint="remove or empty files that are no longer needed",
                    code="quota",
                )
            self._used += more


def size_of(root: Path) -> int:
    """Bytes of all files below a folder, links not followed."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total
