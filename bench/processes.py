"""A family of processes: what memory it holds, and what is left of it. Linux only."""

import os
import time
from pathlib import Path

PROC = Path("/proc")


def family(root: int, tag: str = "") -> dict[int, str]:
    """A process, its descendants, and whoever has the tag in its environment: process id to when it was started."""
    parents, found = {}, {}
    for entry in PROC.glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            tagged = tag and tag.encode() in (entry / "environ").read_bytes()
        except OSError:
            continue
        number = int(entry.name)
        if fields[0] == "Z":
            continue
        parents[number] = int(fields[1])
        if tagged or number == root:
            found[number] = fields[19]
    return found | {each: _started(each) for each in parents if _descends(each, set(found), parents)}


def _descends(number: int, roots: set[int], parents: dict[int, int]) -> bool:
    while number in parents:
        if number in roots:
            return True
        number = parents[number]
    return False


def _started(number: int) -> str:
    try:
        return (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def megabytes(processes: dict[int, str]) -> float:
    """Their proportional set size: shared pages are shared out among those who share them."""
    total = 0
    for number in processes:
        try:
            lines = (PROC / str(number) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1_024


def left(processes: dict[int, str], seconds: float = 5.0) -> int:
    """How many of them still run after so many seconds at most."""
    deadline = time.monotonic() + seconds
    while (alive := [each for each, started in processes.items() if started and _runs(each, started)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.1)
    return len(alive)


def _runs(number: int, started: str) -> bool:
    try:
        fields = (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == started and fields[0] != "Z"


def end(processes: dict[int, str]) -> None:
    """Ends those of them that still run."""
    for number, started in processes.items():
        if started and _runs(number, started):
            os.kill(number, 9)
