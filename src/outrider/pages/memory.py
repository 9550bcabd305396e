"""Limit parsers' memory, and return freed memory to the system.

Glibc would keep it.
"""

import gc
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock

STATUS_FILE = Path("/proc/self/status")  # of Linux only


def release_memory(size: int) -> None:
    """Release free memory after a page of `size` bytes, if the page was large."""
    large_page_bytes = 2_000_000  # one page in a hundred; after smaller ones the next page reuses the memory
    if size > large_page_bytes:
        trim_memory()


def trim_memory() -> None:
    """Release free memory."""
    _load_malloc_trim()(0)


@contextmanager
def limit_memory_growth(size: int) -> Generator[None]:
    """Limit the bytes that this process may add, where the system can.

    Linux counts the memory that a process may write (`RLIMIT_DATA`). A parser in C that needs more ends its process.
    """
    used = re.search(r"VmData:\s+(\d+)", STATUS_FILE.read_text()) if STATUS_FILE.exists() else None
    if used is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(used[1]) * 1024 + size
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def lift_memory_limit() -> None:
    """Lift the limit for the rest of its block, where one was set."""
    if STATUS_FILE.exists():
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


@lru_cache(maxsize=1)
def _load_malloc_trim() -> Callable[[int], object]:
    """Return the C library's malloc_trim, or a function that does nothing (musl, macOS, Windows)."""
    from ctypes import CDLL

    try:
        return CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return int


class GcPause:
    """A pause of the garbage collector, shared by all readers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._was_enabled = False  # before the first reader

    @contextmanager
    def pause(self) -> Generator[None]:
        """Disable the garbage collector until the last reader has left its block."""
        with self._lock:
            if not self._readers:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
                if not self._readers and self._was_enabled:
                    gc.enable()


GC_PAUSE = GcPause()
