"""Namespaces, by bubblewrap: the code sees a system of its own, with nothing in it that is not bound here.

Bubblewrap is never started as root: then the code could write `/proc/sys/kernel/core_pattern` of the machine (seen
with 0.8 and 0.11). As root we first become a user that nothing belongs to.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from outrider.workspace.sandbox import seccomp, system
from outrider.workspace.sandbox.backend import Plan, launched
from outrider.workspace.sandbox.job import Inside, Job, Level, Limits, environment
from outrider.workspace.sandbox.rlimits import rlimits, threads_of

INSIDE = Inside("/workspace", "/run/outrider", "/tmp")  # noqa: S108 - a file system of the sandbox's own
SOCKET = "/run/outrider/web.sock"
SHARED_MEMORY = 64_000_000  # bytes of /dev/shm
TEMPORARY = 256_000_000  # bytes of /tmp, at most
PEOPLE = b"sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n"
FILES = {"passwd": PEOPLE, "group": b"sandbox:x:1000:\n", "hosts": b"127.0.0.1 localhost sandbox\n"}
# The first process. When it says that it is there it is sure to die with bubblewrap, and bubblewrap with the server;
# then a line comes, once the limits are set. Bubblewrap's own first process is sure of that only a moment later: with
# it one server in ten that was killed during a start left everything running.
GATE = ("/bin/sh", "-c", 'echo; read -r go || exit 125; "$@"', "gate")
OF_BUBBLEWRAP = 3  # processes of its own, which count
APART = "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try"
NOBODY = "--uid 1000 --gid 1000 --hostname sandbox --die-with-parent --as-pid-1 --cap-drop ALL"


class Bubblewrap:
    """All namespaces unshared, no capability, a filter of system calls, an empty network."""

    level: Level = "namespaces"

    def __init__(self, program: str = "") -> None:
        self._program = program or shutil.which("bwrap") or ""

    def missing(self) -> str:
        if not self._program:
            return "bubblewrap is not installed"
        return "" if seccomp.supported() else "no filter of system calls can be made for this machine's processor"

    def plan(self, job: Job, uid: int | None, proxy: Path | None) -> Plan:
        reading, writing = os.pipe()
        theirs = [writing]
        words: list[str | Path] = [Path(self._program), *APART.split(), *NOBODY.split(), *_system()]
        words += ["--size", str(min(TEMPORARY, job.limits.memory)), "--tmpfs", INSIDE.temporary]
        words += [word for path in job.reads for word in ("--ro-bind", path, str(path))]
        beside = {f"{INSIDE.beside}/{name}": content for name, content in job.beside.items()}
        for place, content in (beside | {f"/etc/{name}": content for name, content in FILES.items()}).items():
            theirs.append(_memory(content))
            words += ["--ro-bind-data", str(theirs[-1]), place]
        words += ["--bind", proxy, SOCKET] if proxy else []
        words += ["--bind", job.directory, INSIDE.workspace, "--chdir", INSIDE.folder(job)]
        theirs.append(_memory(seccomp.program(seccomp.ALWAYS, seccomp.OWN_SOCKETS)))
        words += ["--remount-ro", "/", "--seccomp", str(theirs[-1]), "--info-fd", str(writing), "--"]
        words += [*GATE, *job.command(INSIDE)]
        command = [str(word) for word in words] if uid is None else _staged(words, uid, job.limits)
        environ = environment(job, INSIDE, self.level)
        return Plan(command, environ, reading, own_pids=True, unlimited=uid is None, theirs=theirs)


def _system() -> list[str | Path]:
    words: list[str | Path] = []
    for path in system.trees():
        linked = path.is_symlink() and not str(path.readlink()).startswith("/")
        words += ["--symlink", str(path.readlink()), str(path)] if linked else ["--ro-bind", str(path), str(path)]
    for path in system.public():
        words += ["--ro-bind", str(path), str(path)]
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    return [*words, "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108


def _staged(words: list[str | Path], uid: int, limits: Limits) -> list[str]:
    """The command by way of the launcher, which knows sources (the paths among the words) by their numbers."""
    sources = [word for word in words if isinstance(word, Path)]
    numbers = iter(range(len(sources)))
    command = [next(numbers) if isinstance(word, Path) else word for word in words]
    most = rlimits(replace(limits, processes=limits.processes + OF_BUBBLEWRAP), others=threads_of(uid))
    spec = {"way": "stage", "uid": uid, "parent": os.getpid(), "limits": most, "command": command}
    return launched(spec | {"sources": [str(path) for path in sources]})


def _memory(content: bytes) -> int:
    """A file without a name, to be read from its beginning."""
    descriptor = os.memfd_create("outrider")
    try:
        os.truncate(descriptor, len(content))
        os.pwrite(descriptor, content, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
