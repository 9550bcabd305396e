"""Limit all processes of an execution together.

This needs cgroups (version 2) that the user may create.
"""

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path

from outrider.workspace.sandbox.job import ResourceLimits

CGROUP_MOUNT = Path("/sys/fs/cgroup")


class Cgroup:
    """The cgroup of one execution. Blocking, but each operation is a short write to a kernel file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def create(cls, parent: Path, limits: ResourceLimits) -> "Cgroup | None":
        """Create a cgroup with these limits; return None if the kernel refuses."""
        folder = parent / f"outrider-{uuid.uuid4().hex}"
        try:
            folder.mkdir()
            (folder / "memory.max").write_text(str(limits.memory))
            (folder / "pids.max").write_text(str(limits.processes))
            with suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            return None
        return cls(folder)

    def add_process(self, pid: int) -> bool:
        """Add a process, with everything that it starts from then on; return whether that worked."""
        try:
            (self._folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    @property
    def has_oom_kill(self) -> bool:
        """Whether the kernel has killed a process because the memory limit was reached."""
        with suppress(OSError):
            events = dict(line.split() for line in (self._folder / "memory.events").read_text().splitlines())
            return events.get("oom_kill", "0") != "0"
        return False

    def remove(self) -> None:
        """Kill the remaining processes and remove the cgroup. The kernel may need a moment to empty it."""
        with suppress(OSError):
            (self._folder / "cgroup.kill").write_text("1")
        for _ in range(50):
            try:
                self._folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.002)
            else:
                return


def find_parent_group(chosen: str = "", mount: Path = CGROUP_MOUNT) -> Path | None:
    """Return the cgroup to create others in: the operator's choice, else our own or its parent, else None."""
    candidates = [Path(chosen)] if chosen else []
    if not chosen:
        with suppress(OSError):
            for line in Path("/proc/self/cgroup").read_text().splitlines():
                if line.startswith("0::/"):
                    own = mount / line.removeprefix("0::/")
                    # A cgroup that contains processes cannot have children with limits: then use its parent.
                    candidates = [own, own.parent] if own != mount else [own]
                    break
    for folder in candidates:
        with suppress(OSError):
            controllers = set((folder / "cgroup.subtree_control").read_text().split())
            is_writable = all(os.access(path, os.W_OK) for path in (folder, folder / "cgroup.procs"))
            if controllers >= {"memory", "pids"} and is_writable:
                return folder
    return None
