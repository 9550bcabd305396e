"""Isolate code with bubblewrap's namespaces: it only sees the files bound into its file system.

Bubblewrap never runs as root: the code could then write `/proc/sys/kernel/core_pattern` of the machine (seen with 0.8
and 0.11). As root we first switch to a user that owns nothing.
"""

import os
import shutil
from pathlib import Path
from typing import Any

from outrider.workspace.sandbox import seccomp, system_paths
from outrider.workspace.sandbox.backend import LaunchPlan, build_launch_command
from outrider.workspace.sandbox.job import IsolationLevel, Job, ResourceLimits, SandboxPaths, build_environment
from outrider.workspace.sandbox.rlimits import build_rlimits, count_threads

BWRAP_PATHS = SandboxPaths("/workspace", "/run/outrider", "/tmp")  # noqa: S108 - in the sandbox's own file system
WEB_SOCKET = "/run/outrider/web.sock"
PASSWD_CONTENT = b"sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n"
ETC_FILES = {"passwd": PASSWD_CONTENT, "group": b"sandbox:x:1000:\n", "hosts": b"127.0.0.1 localhost sandbox\n"}
# The first process in the sandbox. Once it has written its line, it is certain to die with bubblewrap, and bubblewrap
# with the server. It starts the code when a line arrives, after the limits are set. Bubblewrap's own first process gets
# that guarantee a moment too late: if the server was killed during a start, everything sometimes kept running.
WAIT_COMMAND = ("/bin/sh", "-c", 'echo; read -r go || exit 125; "$@"', "gate")


class BubblewrapBackend:
    """Unshares all namespaces, drops all capabilities, filters system calls, and provides no network."""

    level: IsolationLevel = "namespaces"

    def __init__(self, program: str = "") -> None:
        self._program = program or shutil.which("bwrap") or ""

    def describe_missing(self) -> str:
        if not self._program:
            return "bubblewrap is not installed"
        return "" if seccomp.is_supported() else "system calls cannot be filtered on this machine's processor"

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        identity_options = "--uid 1000 --gid 1000 --hostname sandbox --die-with-parent --as-pid-1 --cap-drop ALL"
        unshare_options = "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try"
        max_tmp_bytes = 256_000_000
        info_read, info_write = os.pipe()
        alive_read, alive_write = os.pipe()
        child_fds = [info_write, alive_read]
        # Sources on the machine's disk stay Path objects, so that `_build_launch_spec` recognizes them.
        words: list[str | Path] = [Path(self._program), *unshare_options.split(), *identity_options.split()]
        words += _build_system_mounts()
        words += ["--size", str(min(max_tmp_bytes, job.limits.memory)), "--tmpfs", BWRAP_PATHS.temporary]
        words += [word for path in job.readable_paths for word in ("--ro-bind", path, str(path))]
        files = {f"{BWRAP_PATHS.support}/{name}": content for name, content in job.support_files.items()}
        files |= {f"/etc/{name}": content for name, content in ETC_FILES.items()}
        for path, content in files.items():
            child_fds.append(_create_memfd(content))
            words += ["--ro-bind-data", str(child_fds[-1]), path]
        words += ["--bind", proxy, WEB_SOCKET] if proxy else []
        words += ["--bind", job.directory, BWRAP_PATHS.workspace, "--chdir", BWRAP_PATHS.resolve_folder(job)]
        child_fds.append(_create_memfd(seccomp.build_program(seccomp.BASE_RULES, seccomp.OWN_SOCKET_FAMILIES)))
        words += ["--remount-ro", "/", "--seccomp", str(child_fds[-1]), "--info-fd", str(info_write), "--"]
        words += [*WAIT_COMMAND, *job.command(BWRAP_PATHS)]
        spec = _build_launch_spec(words, uid, job.limits) | {"info": info_write, "alive": alive_read}
        return LaunchPlan(
            build_launch_command(spec),
            build_environment(job, BWRAP_PATHS, self.level),
            info_read,
            alive_fd=alive_write,
            has_pid_namespace=True,
            needs_limits=uid is None,
            child_fds=child_fds,
        )


def _build_system_mounts() -> list[str | Path]:
    shm_bytes = 64_000_000
    words: list[str | Path] = []
    for path in system_paths.list_system_trees():
        is_relative_link = path.is_symlink() and not str(path.readlink()).startswith("/")
        words += (
            ["--symlink", str(path.readlink()), str(path)] if is_relative_link else ["--ro-bind", str(path), str(path)]
        )
    for path in system_paths.list_public_files():
        words += ["--ro-bind", str(path), str(path)]
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    return [*words, "--size", str(shm_bytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108


def _build_launch_spec(words: list[str | Path], uid: int | None, limits: ResourceLimits) -> dict[str, Any]:
    """Return how the launcher starts bubblewrap; for another user it replaces sources (paths) by mounts."""
    bwrap_processes = 3  # its own processes count towards the limit
    spec: dict[str, Any] = {"mode": "bubblewrap", "uid": uid, "scratch": ""}
    if uid is None:
        return {**spec, "sources": [], "limits": [], "processes": None, "command": [str(word) for word in words]}
    sources = [word for word in words if isinstance(word, Path)]
    numbers = iter(range(len(sources)))
    return {
        **spec,
        "sources": [str(path) for path in sources],
        "limits": build_rlimits(limits),
        "processes": (limits.processes + bwrap_processes, count_threads(uid)),
        "command": [next(numbers) if isinstance(word, Path) else word for word in words],
    }


def _create_memfd(content: bytes) -> int:
    """Return a descriptor of an anonymous file with this content, positioned at its start."""
    descriptor = os.memfd_create("outrider")
    try:
        os.truncate(descriptor, len(content))
        os.pwrite(descriptor, content, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
