"""Resource limits of each process, as setrlimit(2) takes them."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from outrider.workspace.sandbox.job import ResourceLimits

# Since Linux 5.14 the processes of a user namespace are counted separately.
COUNTS_PER_NAMESPACE = sys.platform == "linux" and tuple(map(int, os.uname().release.split(".")[:2])) >= (5, 14)


def build_rlimits(limits: ResourceLimits) -> list[tuple[int, int]]:
    """Return the limits of a process, except the number of processes, as (resource, limit)."""
    import resource

    return [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CORE, 0),
    ]


def apply_rlimits(pid: int, limits: ResourceLimits, *, other_threads: int = 0) -> None:
    """Limit a process of our own user, and everything that it starts from then on.

    `other_threads` are threads outside the sandbox that the kernel counts together with the code's.
    """
    import resource

    process_limit = (resource.RLIMIT_NPROC, limits.processes + other_threads)
    for kind, limit in (*build_rlimits(limits), process_limit):
        _, hard = resource.prlimit(pid, kind)
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.prlimit(pid, kind, (value, value))
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")  # the first to be killed when memory runs out


def count_threads(uid: int | None) -> int:
    """Return the number of threads of a user (None: our own) that we can see, in our PID namespace."""
    user, total = os.geteuid() if uid is None else uid, 0
    for entry in os.scandir("/proc"):
        with suppress(OSError, ValueError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                total += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208 - many, and only counted
    return total
