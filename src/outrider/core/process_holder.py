"""Identify the process that holds a lease.

Others can then notice its death.
"""

import os
import platform
import uuid
from pathlib import Path


def build_holder() -> str:
    """Return a unique name for this process, of at most 200 characters."""
    return f"{uuid.uuid4().hex} {build_process_mark()}"[:200]


def is_holder_dead(holder: str) -> bool:
    """Return whether a lease's holder was a process of this machine that has certainly ended."""
    return is_process_gone(holder.partition(" ")[2])


def build_process_mark() -> str:
    """Return a name of this process that no later process gets.

    This is true even if a later process has the same number.
    """
    return _read_linux_mark(os.getpid()) or f"{platform.node()} {os.getpid()}"


def is_process_gone(mark: str) -> bool:
    """Return whether the process with a mark has certainly ended; False for one of another machine."""
    place, _, number = mark.rpartition(" ")
    if place == platform.node() and number.isdecimal():
        if os.name == "nt":  # signal 0 would end the process there
            return False
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
        except OSError:  # another user's process
            return False
        return False
    parts, own = mark.split(" "), _read_linux_mark(os.getpid()).split(" ")
    if len(parts) != 4 or parts[:2] != own[:2]:
        return False
    return _read_linux_mark(int(parts[2])) != mark


def _read_linux_mark(pid: int) -> str:
    """Return boot, namespace, number and start time of a process; empty if it ended or the system does not say."""
    proc = Path("/proc")
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str((proc / "self/ns/pid").readlink())
        # The name in brackets may have spaces; the 20th field after it is the start time (proc(5)).
        fields = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    is_ended = fields[0] in ("Z", "X")
    return "" if is_ended else f"{boot} {namespace} {pid} {fields[19]}"
