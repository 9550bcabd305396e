"""Memory of a large page given back to the system: glibc keeps what was freed for the next page, which is smaller."""

from collections.abc import Callable
from functools import lru_cache


def release_memory(size: int) -> None:
    """Gives back what is free after a page of so many bytes; nothing where the page is not large."""
    large_page_bytes = (
        2_000_000  # bytes of a source; one page of a hundred. What is given back, the next pages have to ask for again
    )
    if size > large_page_bytes:
        _load_malloc_trim()(0)


@lru_cache(maxsize=1)
def _load_malloc_trim() -> Callable[[int], object]:
    """The C library's function; of one that has none (musl, macOS, Windows), nothing."""
    from ctypes import CDLL

    try:
        return CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return int
