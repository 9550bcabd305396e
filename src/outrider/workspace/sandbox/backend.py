"""One way to keep code in: what a backend is, and what it gives to be started."""

import marshal
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from outrider.workspace.sandbox.job import Job, Level

LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass
class Plan:
    """A command that is ready to be started, with the descriptors that belong to it.

    It says on `info` which process leads the code, as JSON with `child-pid`; the code begins when a line has come on
    its standard input. In a namespace it has written an empty line before, when it is ready.

    Attributes:
        info: We read that here. None where the command is the code itself, without a starter.
        alive: While we hold this, the code may live; None where a namespace sees to it.
        own_pids: The code has process numbers of its own: ending its first process ends them all.
        unlimited: The limits of its processes are not set yet.
        scratch: A folder that goes with it, where no supervisor removes it.
        temporary: Its temporary files, where they are on the machine's disk.
        theirs: Descriptors that the command gets; closed here once it has been started.
    """

    command: list[str]
    environ: Mapping[str, str]
    info: int | None = None
    alive: int | None = None
    own_pids: bool = False
    unlimited: bool = False
    scratch: Path | None = None
    temporary: Path | None = None
    theirs: list[int] = field(default_factory=list)

    def started(self) -> None:
        """Lets go of what is the command's now."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Lets go of everything; what still lives under a supervisor ends."""
        self.started()
        self.let_go()
        if self.info is not None:
            os.close(self.info)
            self.info = None
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def let_go(self) -> None:
        """Tells the supervisor, if there is one, to end the code."""
        if self.alive is not None:
            os.close(self.alive)
            self.alive = None


class Backend(Protocol):
    """A way to run code. `level` names what it keeps in."""

    level: Level

    def missing(self) -> str:
        """Why it cannot be used on this machine, with the remedy, as far as can be seen without trying; else empty."""
        ...

    def plan(self, job: Job, uid: int | None, proxy: Path | None) -> Plan:
        """How to start a job. Blocking.

        Args:
            job: What to run.
            uid: The user to become; None stays who we are.
            proxy: The socket of the way to the web; None where there is none.
        """
        ...


def launched(spec: Mapping[str, Any]) -> list[str]:
    """The command that does what `launch.py` understands."""
    return [sys.executable, "-I", "-S", str(LAUNCHER), marshal.dumps(dict(spec)).hex()]
