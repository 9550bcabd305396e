"""Find process trees, measure their memory and count leftover processes. Linux only."""

import os
import time
from pathlib import Path

PROC_FOLDER = Path("/proc")


def find_processes(root: int, tag: str = "") -> dict[int, str]:
    """Find a process, its descendants, and processes with a tag: process id to start time."""
    parents, found = {}, {}
    for entry in PROC_FOLDER.glob("[0-9]*"):
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
    return found | {each: _read_start_time(each) for each in parents if _is_descendant(each, set(found), parents)}


def _is_descendant(number: int, roots: set[int], parents: dict[int, int]) -> bool:
    while number in parents:
        if number in roots:
            return True
        number = parents[number]
    return False


def _read_start_time(number: int) -> str:
    try:
        return (PROC_FOLDER / str(number) / "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def sum_memory_mb(processes: dict[int, str]) -> float:
    """Sum the proportional set sizes, which divide shared pages among their users."""
    total = 0
    for number in processes:
        try:
            lines = (PROC_FOLDER / str(number) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1_024


def count_running(processes: dict[int, str], seconds: float = 5.0) -> int:
    """Count the processes that still run after at most this many seconds."""
    deadline = time.monotonic() + seconds
    while (alive := [each for each, started in processes.items() if started and _is_running(each, started)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.1)
    return len(alive)


def _is_running(number: int, started: str) -> bool:
    try:
        fields = (PROC_FOLDER / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == started and fields[0] != "Z"


def kill_processes(processes: dict[int, str]) -> None:
    """Kill the processes that still run."""
    for number, started in processes.items():
        if started and _is_running(number, started):
            os.kill(number, 9)
