"""Processes that need not import everything anew: one that has forks them, and each then is as any other process.

A `Nursery` runs a program of this folder, which has a function `run(arguments)`. What a test kills is a process of its
own, with its own standard output, directory and environment; only its imports were done before.
"""

import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

LONGEST = 1 << 20  # bytes of a wish
TESTS = Path(__file__).parents[2]  # `python -m` finds this package from there


class Child:
    """A process that a nursery has forked."""

    def __init__(self, pid: int) -> None:
        self._watch = os.pidfd_open(pid)

    def kill(self) -> None:
        """Ends it as a power cut would, and waits until it is gone."""
        if self._watch >= 0:
            if self.lives(0):
                signal.pidfd_send_signal(self._watch, signal.SIGKILL)
                select.select([self._watch], [], [])
            os.close(self._watch)
            self._watch = -1

    def lives(self, seconds: float) -> bool:
        """Whether it still lives after that time; what waits here takes nothing of its processor."""
        return not select.select([self._watch], [], [], seconds)[0]


class Nursery:
    """Forks processes of one program.

    Args:
        program: The program's module, in this folder.
        modules: What it imports beforehand; `outrider.agents.*` are all modules of a package.
    """

    def __init__(self, program: str, *modules: str) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-m", "support.processes.fork_server", program, str(theirs.fileno()), *modules]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=TESTS)
        theirs.close()

    def fork(self, arguments: Sequence[str], environ: Mapping[str, str], folder: Path, output: IO[Any]) -> Child:
        """A process with that environment, directory and standard output."""
        wish = json.dumps([list(arguments), dict(environ), str(folder)]).encode()
        socket.send_fds(self._socket, [wish], [output.fileno()])
        return Child(int(self._socket.recv(32)))

    def close(self) -> None:
        """Ends the process that forks."""
        self._socket.close()
        self._process.wait()


def warm(name: str) -> Any:
    """Imports a module, or with `.*` at its end all of a package; and what it names in `WARM`."""
    found = importlib.import_module(name.removesuffix(".*"))
    if name.endswith("*"):
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)
    for each in getattr(found, "WARM", ()):
        importlib.import_module(each)
    return found


def _serve(program: str, number: int, modules: Sequence[str]) -> None:
    run = importlib.import_module(program).run
    for name in modules:
        warm(name)
    with socket.socket(fileno=number) as wishes:
        while True:
            wish, outputs, _, _ = socket.recv_fds(wishes, LONGEST, 1)
            if not wish:
                return
            pid = os.fork()
            if not pid:
                wishes.close()
                become(run, json.loads(wish), {1: outputs[0]})
            os.close(outputs[0])
            wishes.send(str(pid).encode())


def become(
    run: Any,
    wish: tuple[list[str], dict[str, str], str],
    streams: Mapping[int, int],
    watcher: socket.socket | None = None,
) -> None:
    """Runs the program and ends this process.

    Args:
        wish: Its arguments, environment and directory.
        streams: Its open files, by the numbers that they are to have.
        watcher: Hears the exit code at the very end, as one byte.
    """
    arguments, environ, folder = wish
    for number, stream in streams.items():
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.path[:0] = [each for each in environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    code = 1
    try:
        run(arguments)
        code = 0
    except BaseException:  # noqa: BLE001 - as the interpreter would
        sys.excepthook(*sys.exc_info())  # ty: ignore[invalid-argument-type]
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if watcher:
            watcher.send(bytes([code]))
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
