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
from outrider.workspace.sandbox import seccomp, system
from outrider.workspace.sandbox.backend import Plan, launched
from outrider.workspace.sandbox.identity import hand_over
from outrider.workspace.sandbox.job import Inside, Job, Level, environment
from outrider.workspace.sandbox.rlimits import rlimits, threads_of

# Rights of landlock(7), by the version (ABI) of Linux' Landlock in which they came.
EXECUTE, WRITE, READ, READ_FOLDER = 1, 2, 4, 8
CHANGE_FOLDER = 0x1FF0 & ~(1 << 6 | 1 << 11)  # remove and make everything but devices
REFER, TRUNCATE, DEVICE_CALLS = 1 << 13, 1 << 14, 1 << 15
EVERY = {1: (1 << 13) - 1, 2: REFER, 3: TRUNCATE, 5: DEVICE_CALLS}
CONNECT_AND_BIND, CONNECTS_SINCE = 3, 4
SCOPES, SCOPED_SINCE = 3, 6  # no signals to and no abstract sockets of others
LOOK = EXECUTE | READ | READ_FOLDER
DEVICES = ("null", "zero", "full", "random", "urandom")
FIRST_ABI = 1
SYSTEM_NEEDS = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "PATH")  # programs of Windows do not start without


class Landlock:
    """Landlock and a filter of system calls, where namespaces are forbidden.

    Args:
        abi: The version of Landlock to make do with; the kernel's own by default.
    """

    level: Level = "landlock"

    def __init__(self, abi: int | None = None) -> None:
        self._abi = abi

    @property
    def abi(self) -> int:
        """The version of Landlock; 0 where there is none."""
        if self._abi is None:
            self._abi = _abi()
        return self._abi

    def missing(self) -> str:
        if not seccomp.supported():
            return "no filter of system calls can be made for this machine's processor"
        if self.abi < FIRST_ABI:
            return "the kernel has no Landlock (Linux 5.13 or newer, with landlock among its lsm=)"
        return ""

    def plan(self, job: Job, uid: int | None, proxy: Path | None) -> Plan:
        if uid is not None:
            check_entry(job.directory)
        del proxy  # by Landlock's rules of the network the code could reach any machine on the proxy's port
        filtered = seccomp.program(self._rules(uid), seccomp.NO_SOCKETS)
        return _supervised(job, uid, self.level, lambda scratch: {
            "landlock": self._landlock(job, scratch), "seccomp": filtered,
        })  # fmt: skip

    def _rules(self, uid: int | None) -> tuple[seccomp.Rule, ...]:
        rules = seccomp.ALWAYS + seccomp.SHARED
        rules += seccomp.OWNED if uid is None else ()
        rules += seccomp.UNSCOPED if self.abi < SCOPED_SINCE else ()
        return rules + (seccomp.UNTRUNCATED if self.abi < 3 else ())

    def _landlock(self, job: Job, scratch: Path) -> tuple[int, tuple[int, int, int], list[tuple[str, int]]]:
        """Size and content of the rule set's attributes, and the places with the rights on them."""
        files = sum(rights for since, rights in EVERY.items() if since <= self.abi)
        network = CONNECT_AND_BIND if self.abi >= CONNECTS_SINCE else 0
        scopes = SCOPES if self.abi >= SCOPED_SINCE else 0
        size = 24 if scopes else 16 if network else 8
        change = (LOOK | WRITE | CHANGE_FOLDER | REFER | TRUNCATE) & files
        looks = [*system.trees(), *system.public(), *job.reads, scratch / "beside"]
        rules = [(str(path), LOOK & files) for path in looks]
        rules += [(f"/dev/{name}", (READ | WRITE) & files) for name in DEVICES]
        return size, (files, network, scopes), [*rules, *((str(p), change) for p in (job.directory, scratch / "tmp"))]


class Plain:
    """Nothing but limits: for operators who have said so."""

    level: Level = "none"

    def missing(self) -> str:
        return ""

    def plan(self, job: Job, uid: int | None, proxy: Path | None) -> Plan:
        del uid, proxy  # the code may do what the server may
        if sys.platform != "linux":  # the launcher knows no other system
            scratch = _scratch(job.beside, None)
            inside = Inside(str(job.directory), str(scratch / "beside"), str(scratch / "tmp"))
            kept = {name: os.environ[name] for name in SYSTEM_NEEDS if name in os.environ}
            return Plan(job.command(inside), environment(job, inside, self.level) | kept, scratch=scratch)
        return _supervised(job, None, self.level, lambda _: {"landlock": None, "seccomp": None})


def check_entry(directory: Path) -> None:
    """Raises NotConfigured (`private_folder`) where other users cannot come to this folder."""
    if all(folder.stat().st_mode & 0o001 for folder in directory.resolve().parents):
        return
    raise NotConfigured(
        "code runs as another user than root, who cannot enter the folder of the workspaces",
        hint="the operator sets `data_dir` to a folder that all may enter (for instance /var/lib/outrider), "
        "installs bubblewrap, or runs Outrider as an ordinary user",
        code="private_folder",
    )


def _supervised(job: Job, uid: int | None, level: Level, walls: Any) -> Plan:
    scratch = _scratch(job.beside, uid)
    inside = Inside(str(job.directory), str(scratch / "beside"), str(scratch / "tmp"))
    info, theirs = os.pipe()
    held, alive = os.pipe()
    spec = {
        "way": "supervise",
        "uid": uid,
        "info": theirs,
        "alive": held,
        "scratch": str(scratch),
        "folder": inside.folder(job),
        "command": job.command(inside),
        "limits": rlimits(job.limits, others=threads_of(uid)),
        **walls(scratch),
    }
    return Plan(
        launched(spec), environment(job, inside, level), info, alive=alive, temporary=scratch, theirs=[theirs, held]
    )


def _scratch(beside: Mapping[str, bytes], uid: int | None) -> Path:
    """A folder for the moment; the supervisor removes it, also when the server is gone."""
    scratch = Path(tempfile.mkdtemp(prefix="outrider-code-"))
    for name in ("beside", "tmp"):
        (scratch / name).mkdir()
    for name, content in beside.items():
        (scratch / "beside" / name).write_bytes(content)
    if uid is not None:
        hand_over(scratch, uid)
    return scratch


def _abi() -> int:
    if sys.platform != "linux":
        return 0

    # landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION; the number is the same on all machines
    return max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))
