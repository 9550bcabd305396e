"""Measure the memory of all processes of an execution: limits of one process do not bound their sum."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def iter_descendants(pid: int) -> Iterator[int]:
    """Yield all descendants of a process; none where the system does not say (only Linux does)."""
    parents = [pid]
    while parents:
        parent = parents.pop()
        children: list[int] = []
        with suppress(OSError, ValueError):
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - called many times a second
                children += map(int, Path(f"/proc/{parent}/task/{task}/children").read_text().split())
        parents += children
        yield from children


def measure_memory(pid: int) -> int:
    """Return the bytes of memory that the descendants of `pid` use.

    Memory that processes share counts for each of them; if the sum is too large, `measure_shared_memory` is exact,
    which takes longer.
    """
    return sum(_read_resident(descendant) for descendant in iter_descendants(pid))


def measure_shared_memory(pid: int) -> int:
    """Return the same with shared memory divided between its processes (proportional set size)."""
    total = 0
    for descendant in iter_descendants(pid):
        try:
            lines = Path(f"/proc/{descendant}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
        except (OSError, ValueError, StopIteration):
            total += _read_resident(descendant)
    return total


def _read_resident(pid: int) -> int:
    """Return the bytes of anonymous and shared pages; those of program files are not counted."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 0
