"""Run code as a child of our launcher.

Landlock and a system call filter confine it, or only resource limits.

Landlock is the weaker level. It restricts reading and writing of files, and the filter blocks all sockets; but the code
still sees which files and processes exist, and on kernels before 6.12 it cannot send any signals, because only newer
kernels can tell its own processes from others.
"""

import ctypes
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from outrider.core.errors import NotConfigured
from outrider.workspace.sandbox import seccomp, system_paths
from outrider.workspace.sandbox.backend import LaunchPlan, build_launch_command
from outrider.workspace.sandbox.job import IsolationLevel, Job, SandboxPaths, build_environment
from outrider.workspace.sandbox.rlimits import build_rlimits, count_threads

# Rights of landlock(7), by the version (ABI) of Landlock that introduced them.
EXECUTE, WRITE, READ, READ_FOLDER = 1, 2, 4, 8
REFER, TRUNCATE, DEVICE_CALLS = 1 << 13, 1 << 14, 1 << 15
TRUNCATE_ABI = 3
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: REFER, TRUNCATE_ABI: TRUNCATE, 5: DEVICE_CALLS}
CONNECT_AND_BIND, NETWORK_ABI = 3, 4
SCOPES, SCOPE_ABI = 3, 6  # signals to other processes, and their abstract sockets
READ_RIGHTS = EXECUTE | READ | READ_FOLDER
# A range of users that own no files: systemd takes its dynamic users from it (its docs/UIDS-GIDS.md).
FIRST_UID, UID_COUNT = 61_184, 4_336
SANDBOX_UIDS = range(FIRST_UID, FIRST_UID + UID_COUNT)


class LandlockBackend:
    """Confines code by Landlock and a filter of system calls, for machines that forbid namespaces.

    Args:
        abi: The Landlock version to use; the kernel's by default.
    """

    level: IsolationLevel = "landlock"

    def __init__(self, abi: int | None = None) -> None:
        self._abi = abi

    @property
    def abi(self) -> int:
        """The Landlock version; 0 without Landlock."""
        if self._abi is None:
            self._abi = 0
            if sys.platform == "linux":
                # landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION; the number is the same everywhere.
                self._abi = max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))
        return self._abi

    def describe_missing(self) -> str:
        if not seccomp.is_supported():
            return "system calls cannot be filtered on this machine's processor"
        if self.abi < 1:
            return "the kernel has no Landlock (it needs Linux 5.13 or newer, with landlock in its lsm= list)"
        return ""

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        if uid is not None:
            check_folder_access(job.directory)
        del proxy  # Landlock filters ports only: the code could reach any machine on the proxy's port
        rules = seccomp.BASE_RULES + seccomp.SHARED_PROCESS_RULES
        rules += seccomp.FILE_ATTRIBUTE_RULES if uid is None else ()
        rules += seccomp.SIGNAL_RULES if self.abi < SCOPE_ABI else ()
        rules += seccomp.TRUNCATE_RULES if self.abi < TRUNCATE_ABI else ()
        program = seccomp.build_program(rules, seccomp.NO_SOCKET_FAMILIES)

        def build_restrictions(scratch: Path) -> dict[str, Any]:
            return {"landlock": self._build_ruleset(job, scratch), "seccomp": program}

        return _build_supervised_plan(job, uid, self.level, build_restrictions)

    def _build_ruleset(self, job: Job, scratch: Path) -> tuple[int, tuple[int, int, int], list[tuple[str, int]]]:
        """Return size and content of the ruleset's attributes, and paths with the rights on them."""
        change_folder_rights = 0x1FF0 & ~(1 << 6 | 1 << 11)  # remove and create everything but devices
        devices = ("null", "zero", "full", "random", "urandom")
        files = sum(rights for abi, rights in RIGHTS_BY_ABI.items() if abi <= self.abi)
        network = CONNECT_AND_BIND if self.abi >= NETWORK_ABI else 0
        scopes = SCOPES if self.abi >= SCOPE_ABI else 0
        size = 24 if scopes else 16 if network else 8
        change = (READ_RIGHTS | WRITE | change_folder_rights | REFER | TRUNCATE) & files
        readable = [
            *system_paths.list_system_trees(),
            *system_paths.list_public_files(),
            *job.readable_paths,
            scratch / "support",
        ]
        rules = [(str(path), READ_RIGHTS & files) for path in readable]
        rules += [(f"/dev/{name}", (READ | WRITE) & files) for name in devices]
        rules += [(str(path), change) for path in (job.directory, scratch / "tmp")]
        return size, (files, network, scopes), rules


class NoIsolationBackend:
    """Sets resource limits only, for operators who have chosen that."""

    level: IsolationLevel = "none"

    def describe_missing(self) -> str:
        return ""

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        required_variables = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "PATH")  # Windows programs need these
        del uid, proxy  # the code has the rights of the server
        if sys.platform != "linux":  # the launcher supports no other system
            scratch = _create_scratch(job.support_files, None)
            paths = SandboxPaths(str(job.directory), str(scratch / "support"), str(scratch / "tmp"))
            required = {name: os.environ[name] for name in required_variables if name in os.environ}
            environ = build_environment(job, paths, self.level) | required
            return LaunchPlan(job.command(paths), environ, scratch_folder=scratch)
        return _build_supervised_plan(job, None, self.level, lambda _: {"landlock": None, "seccomp": None})


def check_folder_access(directory: Path) -> None:
    """Raise NotConfigured (`private_folder`) if other users cannot enter this folder."""
    if all(folder.stat().st_mode & 0o001 for folder in directory.resolve().parents):
        return
    raise NotConfigured(
        "code runs as an unprivileged user, who cannot enter the folder of the workspaces",
        hint="the operator must set `data_dir` to a folder that all users can enter (for instance /var/lib/outrider), "
        "install bubblewrap, or run Outrider as an ordinary user",
        code="private_folder",
    )


def _build_supervised_plan(
    job: Job, uid: int | None, level: IsolationLevel, build_restrictions: Callable[[Path], dict[str, Any]]
) -> LaunchPlan:
    scratch = _create_scratch(job.support_files, uid)
    paths = SandboxPaths(str(job.directory), str(scratch / "support"), str(scratch / "tmp"))
    info_read, info_write = os.pipe()
    alive_read, alive_write = os.pipe()
    spec = {
        "mode": "confine",
        "uid": uid,
        "info": info_write,
        "alive": alive_read,
        "scratch": str(scratch),
        "folder": paths.resolve_folder(job),
        "command": job.command(paths),
        "limits": build_rlimits(job.limits),
        "processes": (job.limits.processes, count_threads(uid)),
        **build_restrictions(scratch),
    }
    return LaunchPlan(
        build_launch_command(spec),
        build_environment(job, paths, level),
        info_read,
        alive_fd=alive_write,
        temp_folder=scratch,
        child_fds=[info_write, alive_read],
    )


def _create_scratch(support_files: Mapping[str, bytes], uid: int | None) -> Path:
    """Create a temporary folder; the supervisor deletes it, even if the server is gone."""
    scratch = Path(tempfile.mkdtemp(prefix="outrider-code-"))
    for name in ("support", "tmp"):
        (scratch / name).mkdir()
    for name, content in support_files.items():
        (scratch / "support" / name).write_bytes(content)
    if uid is not None:
        chown_tree(scratch, uid)
    return scratch


def find_unused_uid(directory: Path) -> int | None:
    """Return the user for code in this workspace.

    There is one per workspace, unknown to the system. It is None if we are not root.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_uid for entry in pwd.getpwall()}
    start = zlib.crc32(os.fsencode(directory))
    return next(uid for step in range(UID_COUNT) if (uid := FIRST_UID + (start + step) % UID_COUNT) not in known)


def find_owner_uid(directory: Path, level: IsolationLevel, unused_uid: int) -> int | None:
    """Return the user for code in a folder whose files keep their owner; None for the server's own, root.

    Namespaces confine root as well. Landlock does not, so with it code can only read a folder of root.
    """
    owner = directory.stat().st_uid
    if owner:
        return owner
    return None if level == "namespaces" else unused_uid


def chown_tree(directory: Path, uid: int) -> None:
    """Give a tree to a user, without following links; files with hard links keep their owner: they may lie outside."""
    os.chown(directory, uid, uid)
    for _, folders, names, descriptor in os.fwalk(directory):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if facts.st_uid != uid and (stat.S_ISDIR(facts.st_mode) or facts.st_nlink == 1):
                    os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)
