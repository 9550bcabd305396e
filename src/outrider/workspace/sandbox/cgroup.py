"""Limits of the kernel on all processes of an execution together, where this user may make cgroups (version 2)."""

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path

from outrider.workspace.sandbox.job import ResourceLimits

CGROUP_MOUNT = Path("/sys/fs/cgroup")


class Cgroup:
    """A cgroup of one execution. Blocking, but quick: each of it is a small write to a file of the kernel's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def create(cls, parent: Path, limits: ResourceLimits) -> "Cgroup | None":
        """A group with these limits; None where the kernel does not let us."""
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
        """Puts a process into it; what it starts from then on is in it, too."""
        try:
            (self._folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    @property
    def has_oom_kill(self) -> bool:
        """Whether the kernel has ended something for want of memory."""
        with suppress(OSError):
            events = dict(line.split() for line in (self._folder / "memory.events").read_text().splitlines())
            return events.get("oom_kill", "0") != "0"
        return False

    def remove(self) -> None:
        """Ends what is left in it, and removes it. The kernel may need a moment until it is empty."""
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
    """The cgroup below which we may make others: the operator's, else our own or the one above it; None if none."""
    places = [Path(chosen)] if chosen else _list_own_groups(mount)
    return next((place for place in places if _is_usable(place)), None)


def _list_own_groups(mount: Path) -> list[Path]:
    """Our own group and the one above. Groups with processes in them cannot have limited ones below: then the other."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/"):
                own = mount / line.removeprefix("0::/")
                return [own, own.parent] if own != mount else [own]
    return []


def _is_usable(place: Path) -> bool:
    required_controllers = {"memory", "pids"}
    with suppress(OSError):
        given = set((place / "cgroup.subtree_control").read_text().split())
        return given >= required_controllers and all(
            os.access(path, os.W_OK) for path in (place, place / "cgroup.procs")
        )
    return False
