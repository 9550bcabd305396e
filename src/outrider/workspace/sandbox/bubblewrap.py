"""Namespaces, by bubblewrap: the code sees a system of its own, with nothing in it that is not bound here.

Bubblewrap is never started as root: then the code could write `/proc/sys/kernel/core_pattern` of the machine (seen
with 0.8 and 0.11). As root we first become a user that nothing belongs to.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from outrider.workspace.sandbox import seccomp, system_paths
from outrider.workspace.sandbox.backend import LaunchPlan, build_launch_command
from outrider.workspace.sandbox.job import IsolationLevel, Job, ResourceLimits, SandboxPaths, build_environment
from outrider.workspace.sandbox.rlimits import build_rlimits, count_threads

BWRAP_PATHS = SandboxPaths("/workspace", "/run/outrider", "/tmp")  # noqa: S108 - a file system of the sandbox's own
WEB_SOCKET = "/run/outrider/web.sock"
PASSWD_CONTENT = b"sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n"
ETC_FILES = {"passwd": PASSWD_CONTENT, "group": b"sandbox:x:1000:\n", "hosts": b"127.0.0.1 localhost sandbox\n"}
# The first process. When it says that it is there it is sure to die with bubblewrap, and bubblewrap with the server;
# then a line comes, once the limits are set. Bubblewrap's own first process is sure of that only a moment later: with
# it one server in ten that was killed during a start left everything running.
WAIT_COMMAND = ("/bin/sh", "-c", 'echo; read -r go || exit 125; "$@"', "gate")


class BubblewrapBackend:
    """All namespaces unshared, no capability, a filter of system calls, an empty network."""

    level: IsolationLevel = "namespaces"

    def __init__(self, program: str = "") -> None:
        self._program = program or shutil.which("bwrap") or ""

    def describe_missing(self) -> str:
        if not self._program:
            return "bubblewrap is not installed"
        return "" if seccomp.is_supported() else "no filter of system calls can be made for this machine's processor"

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        identity_options = "--uid 1000 --gid 1000 --hostname sandbox --die-with-parent --as-pid-1 --cap-drop ALL"
        unshare_options = "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try"
        max_tmp_bytes = 256_000_000  # bytes of /tmp, at most
        reading, writing = os.pipe()
        theirs = [writing]
        words: list[str | Path] = [
            Path(self._program),
            *unshare_options.split(),
            *identity_options.split(),
            *_build_system_mounts(),
        ]
        words += ["--size", str(min(max_tmp_bytes, job.limits.memory)), "--tmpfs", BWRAP_PATHS.temporary]
        words += [word for path in job.readable_paths for word in ("--ro-bind", path, str(path))]
        beside = {f"{BWRAP_PATHS.support}/{name}": content for name, content in job.support_files.items()}
        for place, content in (beside | {f"/etc/{name}": content for name, content in ETC_FILES.items()}).items():
            theirs.append(_create_memfd(content))
            words += ["--ro-bind-data", str(theirs[-1]), place]
        words += ["--bind", proxy, WEB_SOCKET] if proxy else []
        words += ["--bind", job.directory, BWRAP_PATHS.workspace, "--chdir", BWRAP_PATHS.resolve_folder(job)]
        theirs.append(_create_memfd(seccomp.build_program(seccomp.BASE_RULES, seccomp.OWN_SOCKET_FAMILIES)))
        words += ["--remount-ro", "/", "--seccomp", str(theirs[-1]), "--info-fd", str(writing), "--"]
        words += [*WAIT_COMMAND, *job.command(BWRAP_PATHS)]
        command = [str(word) for word in words] if uid is None else _build_staged_command(words, uid, job.limits)
        environ = build_environment(job, BWRAP_PATHS, self.level)
        return LaunchPlan(command, environ, reading, has_pid_namespace=True, needs_limits=uid is None, child_fds=theirs)


def _build_system_mounts() -> list[str | Path]:
    shm_bytes = 64_000_000  # bytes of /dev/shm
    words: list[str | Path] = []
    for path in system_paths.list_system_trees():
        linked = path.is_symlink() and not str(path.readlink()).startswith("/")
        words += ["--symlink", str(path.readlink()), str(path)] if linked else ["--ro-bind", str(path), str(path)]
    for path in system_paths.list_public_files():
        words += ["--ro-bind", str(path), str(path)]
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    return [*words, "--size", str(shm_bytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108


def _build_staged_command(words: list[str | Path], uid: int, limits: ResourceLimits) -> list[str]:
    """The command by way of the launcher, which knows sources (the paths among the words) by their numbers."""
    bwrap_processes = 3  # processes of its own, which count
    sources = [word for word in words if isinstance(word, Path)]
    numbers = iter(range(len(sources)))
    command = [next(numbers) if isinstance(word, Path) else word for word in words]
    most = build_rlimits(replace(limits, processes=limits.processes + bwrap_processes), others=count_threads(uid))
    spec = {"way": "stage", "uid": uid, "parent": os.getpid(), "limits": most, "command": command}
    return build_launch_command(spec | {"sources": [str(path) for path in sources]})


def _create_memfd(content: bytes) -> int:
    """A file without a name, to be read from its beginning."""
    descriptor = os.memfd_create("outrider")
    try:
        os.truncate(descriptor, len(content))
        os.pwrite(descriptor, content, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
