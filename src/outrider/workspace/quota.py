"""How much of its room a workspace has used: measured now and then, and added up in between."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from outrider.core.errors import Refused


class StorageQuota:
    """The room of the tree below `root`. Blocking and safe from several threads."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._used_bytes = 0
        self._measured_at = float("-inf")
        self._lock = threading.Lock()

    def reserve(self, more: int) -> None:
        """Notes that so many bytes are about to be written. Raises Refused(code=quota) where there is no room."""
        remeasure_interval_s = 10.0  # code that runs in the workspace writes, too, without telling us
        with self._lock:
            if time.monotonic() - self._measured_at > remeasure_interval_s or self._used_bytes + more > self._max_bytes:
                self._used_bytes, self._measured_at = measure_size(self._root), time.monotonic()
            if self._used_bytes + more > self._max_bytes:
                raise Refused(
                    f"the workspace holds {self._used_bytes:,} of at most {self._max_bytes:,} bytes; {more:,} more do not fit",
                    hint="remove or empty files that are no longer needed",
                    code="quota",
                )
            self._used_bytes += more


def measure_size(root: Path) -> int:
    """Bytes of all files below a folder, links not followed."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total
