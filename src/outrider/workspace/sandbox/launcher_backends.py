"""Code as a child of our launcher: kept in by Landlock and a filter of system calls, or by nothing but limits.

Landlock is the lower level. It keeps files from being read and written and, with the filter, every socket away; but
the code still sees which files and processes there are, and on kernels before 6.12 it may not send any signal,
because only then the kernel can tell its own processes from others.
"""

import ctypes
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outrider.core.errors import NotConfigured
from outrider.workspace.sandbox import seccomp, system_paths
from outrider.workspace.sandbox.backend import LaunchPlan, build_launch_command
from outrider.workspace.sandbox.job import IsolationLevel, Job, SandboxPaths, build_environment
from outrider.workspace.sandbox.rlimits import build_rlimits, count_threads
from outrider.workspace.sandbox.unprivileged_user import chown_tree

# Rights of landlock(7), by the version (ABI) of Linux' Landlock in which they came.
EXECUTE, WRITE, READ, READ_FOLDER = 1, 2, 4, 8
CHANGE_FOLDER_RIGHTS = 0x1FF0 & ~(1 << 6 | 1 << 11)  # remove and make everything but devices
REFER, TRUNCATE, DEVICE_CALLS = 1 << 13, 1 << 14, 1 << 15
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: REFER, 3: TRUNCATE, 5: DEVICE_CALLS}
CONNECT_AND_BIND, CONNECTS_SINCE = 3, 4
SCOPES, SCOPED_SINCE = 3, 6  # no signals to and no abstract sockets of others
READ_RIGHTS = EXECUTE | READ | READ_FOLDER


class LandlockBackend:
    """Landlock and a filter of system calls, where namespaces are forbidden.

    Args:
        abi: The version of Landlock to make do with; the kernel's own by default.
    """

    level: IsolationLevel = "landlock"

    def __init__(self, abi: int | None = None) -> None:
        self._abi = abi

    @property
    def abi(self) -> int:
        """The version of Landlock; 0 where there is none."""
        if self._abi is None:
            self._abi = _read_abi()
        return self._abi

    def describe_missing(self) -> str:
        min_abi = 1
        if not seccomp.is_supported():
            return "no filter of system calls can be made for this machine's processor"
        if self.abi < min_abi:
            return "the kernel has no Landlock (Linux 5.13 or newer, with landlock among its lsm=)"
        return ""

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        if uid is not None:
            check_folder_access(job.directory)
        del proxy  # by Landlock's rules of the network the code could reach any machine on the proxy's port
        filtered = seccomp.build_program(self._select_rules(uid), seccomp.NO_SOCKET_FAMILIES)
        return _build_supervised_plan(job, uid, self.level, lambda scratch: {
            "landlock": self._build_ruleset(job, scratch), "seccomp": filtered,
        })  # fmt: skip

    def _select_rules(self, uid: int | None) -> tuple[seccomp.SyscallRule, ...]:
        rules = seccomp.BASE_RULES + seccomp.SHARED_PROCESS_RULES
        rules += seccomp.FILE_ATTRIBUTE_RULES if uid is None else ()
        rules += seccomp.SIGNAL_RULES if self.abi < SCOPED_SINCE else ()
        return rules + (seccomp.TRUNCATE_RULES if self.abi < 3 else ())

    def _build_ruleset(self, job: Job, scratch: Path) -> tuple[int, tuple[int, int, int], list[tuple[str, int]]]:
        """Size and content of the rule set's attributes, and the places with the rights on them."""
        devices = ("null", "zero", "full", "random", "urandom")
        files = sum(rights for since, rights in RIGHTS_BY_ABI.items() if since <= self.abi)
        network = CONNECT_AND_BIND if self.abi >= CONNECTS_SINCE else 0
        scopes = SCOPES if self.abi >= SCOPED_SINCE else 0
        size = 24 if scopes else 16 if network else 8
        change = (READ_RIGHTS | WRITE | CHANGE_FOLDER_RIGHTS | REFER | TRUNCATE) & files
        looks = [
            *system_paths.list_system_trees(),
            *system_paths.list_public_files(),
            *job.readable_paths,
            scratch / "beside",
        ]
        rules = [(str(path), READ_RIGHTS & files) for path in looks]
        rules += [(f"/dev/{name}", (READ | WRITE) & files) for name in devices]
        return size, (files, network, scopes), [*rules, *((str(p), change) for p in (job.directory, scratch / "tmp"))]


class NoIsolationBackend:
    """Nothing but limits: for operators who have said so."""

    level: IsolationLevel = "none"

    def describe_missing(self) -> str:
        return ""

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        required_variables = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "PATH")  # programs of Windows do not start without
        del uid, proxy  # the code may do what the server may
        if sys.platform != "linux":  # the launcher knows no other system
            scratch = _create_scratch(job.beside, None)
            inside = SandboxPaths(str(job.directory), str(scratch / "beside"), str(scratch / "tmp"))
            kept = {name: os.environ[name] for name in required_variables if name in os.environ}
            return LaunchPlan(job.command(inside), build_environment(job, inside, self.level) | kept, scratch=scratch)
        return _build_supervised_plan(job, None, self.level, lambda _: {"landlock": None, "seccomp": None})


def check_folder_access(directory: Path) -> None:
    """Raises NotConfigured (`private_folder`) where other users cannot come to this folder."""
    if all(folder.stat().st_mode & 0o001 for folder in directory.resolve().parents):
        return
    raise NotConfigured(
        "code runs as another user than root, who cannot enter the folder of the workspaces",
        hint="the operator sets `data_dir` to a folder that all may enter (for instance /var/lib/outrider), "
        "installs bubblewrap, or runs Outrider as an ordinary user",
        code="private_folder",
    )


def _build_supervised_plan(job: Job, uid: int | None, level: IsolationLevel, build_restrictions: Any) -> LaunchPlan:
    scratch = _create_scratch(job.support_files, uid)
    inside = SandboxPaths(str(job.directory), str(scratch / "beside"), str(scratch / "tmp"))
    info, theirs = os.pipe()
    held, alive = os.pipe()
    spec = {
        "way": "supervise",
        "uid": uid,
        "info": theirs,
        "alive": held,
        "scratch": str(scratch),
        "folder": inside.resolve_folder(job),
        "command": job.command(inside),
        "limits": build_rlimits(job.limits, others=count_threads(uid)),
        **build_restrictions(scratch),
    }
    return LaunchPlan(
        build_launch_command(spec),
        build_environment(job, inside, level),
        info,
        alive_fd=alive,
        temp_folder=scratch,
        child_fds=[theirs, held],
    )


def _create_scratch(support_files: Mapping[str, bytes], uid: int | None) -> Path:
    """A folder for the moment; the supervisor removes it, also when the server is gone."""
    scratch = Path(tempfile.mkdtemp(prefix="outrider-code-"))
    for name in ("beside", "tmp"):
        (scratch / name).mkdir()
    for name, content in support_files.items():
        (scratch / "beside" / name).write_bytes(content)
    if uid is not None:
        chown_tree(scratch, uid)
    return scratch


def _read_abi() -> int:
    if sys.platform != "linux":
        return 0

    # landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION; the number is the same on all machines
    return max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))
