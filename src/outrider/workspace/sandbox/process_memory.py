"""What the processes below one take together: memory that many take together, no limit of a process bounds."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096


def iter_descendants(pid: int) -> Iterator[int]:
    """The processes that a process has started, and theirs; none where the system does not say (only Linux does)."""
    waiting = [pid]
    while waiting:
        for child in _list_children(waiting.pop()):
            waiting.append(child)
            yield child


def measure_memory(pid: int) -> int:
    """Bytes of memory that the processes below `pid` take.

    What processes share counts for each of them at first; where that is too much, the kernel is asked for the shares
    (`limit`), which takes longer.
    """
    return sum(_read_resident(each) for each in iter_descendants(pid))


def measure_shared_memory(pid: int) -> int:
    """As `memory`, but what processes share is divided between them."""
    return sum(_read_proportional_share(each) for each in iter_descendants(pid))


def _list_children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError, ValueError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - many times a second
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def _read_resident(pid: int) -> int:
    """Anonymous and shared pages; those of program files belong to nobody."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 0


def _read_proportional_share(pid: int) -> int:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _read_resident(pid)
