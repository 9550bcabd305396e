"""Limits of the kernel on each process, as numbers of setrlimit(2), and who else is counted with the code."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from outrider.workspace.sandbox.job import ResourceLimits

# Since Linux 5.14 the processes of a user namespace are counted by themselves.
COUNTS_PER_NAMESPACE = sys.platform == "linux" and tuple(map(int, os.uname().release.split(".")[:2])) >= (5, 14)


def build_rlimits(limits: ResourceLimits, *, others: int = 0) -> list[tuple[int, int]]:
    """What a process may take, as (resource, most).

    `others` are threads outside that the kernel counts with the code's.
    """
    import resource

    return [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes + others),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CORE, 0),
    ]


def apply_rlimits(pid: int, limits: ResourceLimits, *, others: int = 0) -> None:
    """Limits a process of our own user; what it starts inherits that."""
    oom_score = "1000"  # oom_score_adj: where memory runs out, the kernel ends this first
    import resource

    for what, most in build_rlimits(limits, others=others):
        _, hard = resource.prlimit(pid, what)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(pid, what, (value, value))
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(oom_score)


def count_threads(uid: int | None) -> int:
    """Threads that a user (None: we) has on this machine."""
    user, total = os.geteuid() if uid is None else uid, 0
    for entry in os.scandir("/proc"):
        with suppress(OSError, ValueError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                total += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208 - many, and only counted
    return total
