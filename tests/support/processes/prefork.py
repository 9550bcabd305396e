"""Commands that start at once, forked from a process that has all imports.

The forked process uses the pipes of the caller directly; only its imports were done before. Signals to the command
reach it: SIGTERM, SIGINT and SIGHUP are passed on, and it is killed with the command.
"""

import atexit
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from uuid import uuid4

from support.processes.fork_server import MAX_REQUEST_BYTES, TESTS_FOLDER, import_program, run_program_and_exit

# Passes on its streams and signals, and ends like the program. Without `site` it takes 15 ms.
CLIENT_SOURCE = """
import json, os, signal, socket, sys
forwarded = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
signal.pthread_sigmask(signal.SIG_BLOCK, forwarded)
server = socket.socket(socket.AF_UNIX)
server.connect("\\0" + sys.argv[1])
socket.send_fds(server, [json.dumps([sys.argv[2:], dict(os.environ), os.getcwd()]).encode()], [0, 1, 2])
nothing = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(nothing, number)
pid = int(server.recv(16))
for each in forwarded:
    signal.signal(each, lambda number, _: os.kill(pid, number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, forwarded)
sys.exit((server.recv(1) or b"\\1")[0])
"""


def build_command(program: str, *arguments: str | Path) -> list[str]:
    """A command that runs a program of this folder, which has `run(arguments)` and may have `PRELOADED_MODULES`."""
    return [sys.executable, "-ISc", CLIENT_SOURCE, _start_server(program), *map(str, arguments)]


@cache
def _start_server(program: str) -> str:
    """Start the forking process, which ends with this one; return its abstract socket's name.

    It returns when the imports are done, so that no test's time limit has to cover them.
    """
    name = f"outrider-warmed-{uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        command = [sys.executable, "-m", "support.processes.prefork", program, str(listener.fileno())]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[listener.fileno()], cwd=TESTS_FOLDER
        )
        atexit.register(_end_server, server)
        assert server.stdout
        assert server.stdout.read(1), f"{program} could not be imported"
    return name


def _end_server(server: subprocess.Popen[bytes]) -> None:
    """End a forking process by the end of its standard input."""
    with server:  # closes its pipes, and waits
        pass


def _serve_programs(program: str, number: int) -> None:
    run = import_program(program).run
    os.write(1, b".")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended processes are not awaited
    with socket.socket(fileno=number) as listener:
        while 0 not in select.select([listener, 0], [], [])[0]:
            visitor, _ = listener.accept()
            with visitor:
                wish, streams, _, _ = socket.recv_fds(visitor, MAX_REQUEST_BYTES, 3)
                if not os.fork():
                    listener.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _die_with(visitor)
                    visitor.send(b"%16d" % os.getpid())
                    run_program_and_exit(run, json.loads(wish), dict(enumerate(streams)), visitor)
                for each in streams:
                    os.close(each)


def _die_with(visitor: socket.socket) -> None:
    """Make the kernel kill this process when the command that it replaces is gone."""
    fcntl.fcntl(visitor, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(visitor, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(visitor, fcntl.F_SETFL, os.O_ASYNC)


if __name__ == "__main__":
    _serve_programs(sys.argv[1], int(sys.argv[2]))
