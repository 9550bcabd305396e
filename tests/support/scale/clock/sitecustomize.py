"""Shift a process's time of day by the seconds in a file; imported at its start.

Only `time.time` is shifted, which nearly all code uses; intervals are measured by other clocks, which are also right on
a machine with a wrong date. (libfaketime cannot be used: it breaks `time.sleep` of Python 3.11.)
"""

import os
import time
from pathlib import Path

POLL_INTERVAL_S = 0.2  # seconds between two looks into the file


class Wrong:
    """The clock."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._true = time.time
        self._looked = 0.0
        self._seconds = 0.0

    def __call__(self) -> float:
        now = time.monotonic()
        if now - self._looked > POLL_INTERVAL_S:
            self._looked, self._seconds = now, float(self._file.read_text())
        return self._true() + self._seconds


wrong = Wrong(Path(os.environ["WRONG_BY"]))
vars(time).update(time=wrong, time_ns=lambda: int(wrong() * 1e9))
