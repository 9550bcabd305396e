"""The interface of sandbox backends, and the launch plan that they produce."""

import marshal
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from outrider.workspace.sandbox.job import IsolationLevel, Job


@dataclass
class LaunchPlan:
    """A command that is ready to start, with its file descriptors.

    The command writes to `info_fd` which process leads the code, as JSON with `child-pid`; the code starts when a line
    arrives on its standard input. In a PID namespace it writes an empty line before that, when it is ready.

    Attributes:
        info_fd: Our reading end; None if the command is the code itself, without a launcher.
        alive_fd: The code may live as long as we hold this; None without a launcher.
        has_pid_namespace: The code has its own PID namespace: killing its first process kills all.
        needs_limits: The resource limits of its processes are not set yet.
        scratch_folder: A folder to delete at the end, unless a supervisor does so.
        temp_folder: Its temporary files, if they are on the machine's disk.
        child_fds: Descriptors that the command inherits; closed here once it has started.
    """

    command: list[str]
    environ: Mapping[str, str]
    info_fd: int | None = None
    alive_fd: int | None = None
    has_pid_namespace: bool = False
    needs_limits: bool = False
    scratch_folder: Path | None = None
    temp_folder: Path | None = None
    child_fds: list[int] = field(default_factory=list)

    def close_child_fds(self) -> None:
        """Close the descriptors that the command has inherited."""
        while self.child_fds:
            os.close(self.child_fds.pop())

    def close(self) -> None:
        """Close everything; code that still runs under a supervisor is killed."""
        self.close_child_fds()
        self.release()
        if self.info_fd is not None:
            os.close(self.info_fd)
            self.info_fd = None
        if self.scratch_folder:
            shutil.rmtree(self.scratch_folder, ignore_errors=True)

    def release(self) -> None:
        """Have the supervisor, if there is one, kill the code."""
        if self.alive_fd is not None:
            os.close(self.alive_fd)
            self.alive_fd = None


class SandboxBackend(Protocol):
    """A way to isolate code; `level` names its strength."""

    level: IsolationLevel

    def describe_missing(self) -> str:
        """Return why it is not usable on this machine, with the remedy; empty if nothing is obviously missing."""
        ...

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        """Return how to start a job. Blocking.

        Args:
            job: The job.
            uid: The user to switch to; None to stay our own user.
            proxy: The socket of the egress proxy; None without web access.
        """
        ...


def build_launch_command(spec: Mapping[str, Any]) -> list[str]:
    """Return the command that runs `launch.py` with this specification."""
    launcher_script = Path(__file__).with_name("launch.py")
    return [sys.executable, "-I", "-S", str(launcher_script), marshal.dumps(dict(spec)).hex()]
