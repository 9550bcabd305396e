"""Scale time limits to the load of the machine."""

import time


def scale_to_load(seconds: float) -> float:
    """Return the time in which a process gets as much done as in so many seconds on an idle machine.

    It is for limits of the product that must come after one thing and before another; `timeouts` bound hangs. A short
    piece of work shows how slow the machine is now; the load average covers the last minute, and ignores quotas.
    """
    work_s = 0.02  # the span of several turns on a shared processor
    started, worked = time.monotonic(), time.thread_time()
    while (done_s := time.thread_time() - worked) < work_s:
        pass
    slowdown = (time.monotonic() - started) / done_s
    return seconds * max(1.0, slowdown)
