"""One way to keep code in: what a backend is, and what it gives to be started."""

import marshal
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from outrider.workspace.sandbox.job import IsolationLevel, Job

LAUNCHER_SCRIPT = Path(__file__).with_name("launch.py")


@dataclass
class LaunchPlan:
    """A command that is ready to be started, with the descriptors that belong to it.

    It says on `info_fd` which process leads the code, as JSON with `child-pid`; the code begins when a line has come on
    its standard input. In a namespace it has written an empty line before, when it is ready.

    Attributes:
        info_fd: We read that here. None where the command is the code itself, without a starter.
        alive_fd: While we hold this, the code may live; None where a namespace sees to it.
        has_pid_namespace: The code has process numbers of its own: ending its first process ends them all.
        needs_limits: The limits of its processes are not set yet.
        scratch_folder: A folder that goes with it, where no supervisor removes it.
        temp_folder: Its temporary files, where they are on the machine's disk.
        child_fds: Descriptors that the command gets; closed here once it has been started.
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
        """Lets go of what is the command's now."""
        while self.child_fds:
            os.close(self.child_fds.pop())

    def close(self) -> None:
        """Lets go of everything; what still lives under a supervisor ends."""
        self.close_child_fds()
        self.release()
        if self.info_fd is not None:
            os.close(self.info_fd)
            self.info_fd = None
        if self.scratch_folder:
            shutil.rmtree(self.scratch_folder, ignore_errors=True)

    def release(self) -> None:
        """Tells the supervisor, if there is one, to end the code."""
        if self.alive_fd is not None:
            os.close(self.alive_fd)
            self.alive_fd = None


class SandboxBackend(Protocol):
    """A way to run code. `level` names what it keeps in."""

    level: IsolationLevel

    def describe_missing(self) -> str:
        """Why it cannot be used on this machine, with the remedy, as far as can be seen without trying; else empty."""
        ...

    def build_plan(self, job: Job, uid: int | None, proxy: Path | None) -> LaunchPlan:
        """How to start a job. Blocking.

        Args:
            job: What to run.
            uid: The user to become; None stays who we are.
            proxy: The socket of the way to the web; None where there is none.
        """
        ...


def build_launch_command(spec: Mapping[str, Any]) -> list[str]:
    """The command that does what `launch.py` understands."""
    return [sys.executable, "-I", "-S", str(LAUNCHER_SCRIPT), marshal.dumps(dict(spec)).hex()]
