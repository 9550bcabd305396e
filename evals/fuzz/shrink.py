"""Shrink an input that shows a problem."""

import time
from collections.abc import Callable


def shrink_input(data: bytes, fails: Callable[[bytes], bool], seconds: float = 60.0) -> bytes:
    """Drop halves, quarters and so on while the input still fails."""
    end = time.monotonic() + seconds
    size = len(data) // 2
    while size and time.monotonic() < end:
        at, smaller = 0, False
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data, smaller = shorter, True
            else:
                at += size
        size = size if smaller and size == 1 else min(size, len(data)) // 2
    return data
