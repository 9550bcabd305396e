"""Time limits that hold on a busy machine."""

import os


def scale_to_load(seconds: float) -> float:
    """The time in which a process gets as much done as in so many seconds on an idle machine."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
