"""Enforce a workspace's disk quota.

Usage is measured periodically and counted in between.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from outrider.core.errors import Refused


class StorageQuota:
    """The quota of the tree below `root`, or no limit. Blocking and thread-safe."""

    def __init__(self, root: Path, max_bytes: int | None) -> None:
        self.max_bytes = max_bytes
        self._root = root
        self._used_bytes = 0
        self._measured_at = float("-inf")
        self._lock = threading.Lock()

    def reserve(self, size: int) -> None:
        """Count bytes that are about to be written. Raises Refused(code=quota) if they exceed the quota."""
        remeasure_interval_s = 10.0  # code that runs in the workspace writes without reserving
        if self.max_bytes is None:
            return
        with self._lock:
            if time.monotonic() - self._measured_at > remeasure_interval_s or self._used_bytes + size > self.max_bytes:
                self._used_bytes, self._measured_at = measure_size(self._root), time.monotonic()
            if self._used_bytes + size > self.max_bytes:
                raise Refused(
                    f"the workspace uses {self._used_bytes:,} of {self.max_bytes:,} bytes; {size:,} more do not fit",
                    hint="remove or empty files that are no longer needed",
                    code="quota",
                )
            self._used_bytes += size


def measure_size(root: Path) -> int:
    """Return the bytes of all files below a folder, without following links."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total
