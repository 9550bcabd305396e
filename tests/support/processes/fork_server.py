"""Fork processes from one with all imports done; afterwards they are ordinary processes.

A `ForkServer` runs a program of this folder, which has a function `run(arguments)`. A test kills a separate process
with its own standard output, directory and environment; only its imports were done before.
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

MAX_REQUEST_BYTES = 1 << 20  # bytes of a request
TESTS_FOLDER = Path(__file__).parents[2]  # the folder from which `python -m` finds this package


class ForkedProcess:
    """A process forked by a `ForkServer`."""

    def __init__(self, pid: int) -> None:
        self._pidfd = os.pidfd_open(pid)

    def kill(self) -> None:
        """Kill it, as a power cut would, and wait until it is gone."""
        if self._pidfd >= 0:
            if self.is_alive_after(0):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                select.select([self._pidfd], [], [])
            os.close(self._pidfd)
            self._pidfd = -1

    def is_alive_after(self, seconds: float) -> bool:
        """Return whether it is still alive after that time; waiting here uses no processor time."""
        return not select.select([self._pidfd], [], [], seconds)[0]


class ForkServer:
    """Forks processes of one program.

    Args:
        program: The program's module, in this folder.
        modules: The modules to import beforehand; `outrider.agents.*` means all modules of a package.
    """

    def __init__(self, program: str, *modules: str) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-m", "support.processes.fork_server", program, str(theirs.fileno()), *modules]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=TESTS_FOLDER)
        theirs.close()

    def fork_process(
        self, arguments: Sequence[str], environ: Mapping[str, str], folder: Path, output: IO[Any]
    ) -> ForkedProcess:
        """Fork a process with that environment, directory and standard output."""
        wish = json.dumps([list(arguments), dict(environ), str(folder)]).encode()
        socket.send_fds(self._socket, [wish], [output.fileno()])
        return ForkedProcess(int(self._socket.recv(32)))

    def close(self) -> None:
        """End the forking process."""
        self._socket.close()
        self._process.wait()


def import_program(name: str) -> Any:
    """Import a module, or with `.*` a whole package, and its `PRELOADED_MODULES`."""
    found = importlib.import_module(name.removesuffix(".*"))
    if name.endswith("*"):
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)
    for each in getattr(found, "PRELOADED_MODULES", ()):
        import_program(each)
    return found


def _serve_forks(program: str, number: int, modules: Sequence[str]) -> None:
    run = importlib.import_module(program).run
    for name in modules:
        import_program(name)
    with socket.socket(fileno=number) as wishes:
        while True:
            wish, outputs, _, _ = socket.recv_fds(wishes, MAX_REQUEST_BYTES, 1)
            if not wish:
                return
            pid = os.fork()
            if not pid:
                wishes.close()
                run_program_and_exit(run, json.loads(wish), {1: outputs[0]})
            os.close(outputs[0])
            wishes.send(str(pid).encode())


def run_program_and_exit(
    run: Any,
    request: tuple[list[str], dict[str, str], str],
    streams: Mapping[int, int],
    exit_channel: socket.socket | None = None,
) -> None:
    """Run the program and end this process.

    Args:
        request: Its arguments, environment and directory.
        streams: Its open files by their descriptor numbers.
        exit_channel: Receives the exit code as one byte at the very end.
    """
    arguments, environ, folder = request
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
    except SystemExit as ended:
        code = _exit_code(ended)
    except BaseException:  # noqa: BLE001 - as the interpreter would
        sys.excepthook(*sys.exc_info())  # ty: ignore[invalid-argument-type]
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if exit_channel:
            exit_channel.send(bytes([code]))
        os._exit(code)


def _exit_code(ended: SystemExit) -> int:
    """Convert the argument of SystemExit to an exit code, as the interpreter does."""
    if ended.code is None or isinstance(ended.code, int):
        return (ended.code or 0) & 0xFF
    sys.stderr.write(f"{ended.code}\n")
    return 1


if __name__ == "__main__":
    _serve_forks(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
