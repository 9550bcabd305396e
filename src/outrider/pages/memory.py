"""Return freed memory to the system after large pages, because glibc keeps it."""

from collections.abc import Callable
from functools import lru_cache


def release_memory(size: int) -> None:
    """Release free memory after a page of `size` bytes, if the page was large."""
    large_page_bytes = 2_000_000  # one page in a hundred; after smaller ones the next page reuses the memory
    if size > large_page_bytes:
        trim_memory()


def trim_memory() -> None:
    """Release free memory."""
    _load_malloc_trim()(0)


@lru_cache(maxsize=1)
def _load_malloc_trim() -> Callable[[int], object]:
    """Return the C library's malloc_trim, or a function that does nothing (musl, macOS, Windows)."""
    from ctypes import CDLL

    try:
        return CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return int
