"""Recognise whether a process of this machine has ended."""

import os
from pathlib import Path


def read_process_mark(pid: int | None = None) -> str:
    """Return a name that no other process ever has; empty where the system does not tell enough.

    It is of the boot, the namespace of processes, the number and the time at which the process started.
    """
    proc = Path("/proc")
    number = os.getpid() if pid is None else pid
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str((proc / "self/ns/pid").readlink())
        # The name in brackets may have spaces; the 20th field after it is the start time (proc(5)).
        fields = (proc / str(number) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    is_ended = fields[0] in ("Z", "X")
    return "" if is_ended else f"{boot} {namespace} {number} {fields[19]}"


def is_process_gone(mark: str) -> bool:
    """Return whether the process with a mark has certainly ended; False for one of another machine."""
    parts, own = mark.split(" "), read_process_mark().split(" ")
    if len(parts) != 4 or parts[:2] != own[:2]:
        return False
    return read_process_mark(int(parts[2])) != mark
