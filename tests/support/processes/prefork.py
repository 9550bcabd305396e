"""Commands that start at once: a process that has imported all that a program needs forks one for whoever starts it.

What runs is a process that is spoken to over the very pipes of whoever started the command; only its imports were done
before. It is not for tests about processes: what is killed there would be the command alone.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from support.processes.fork_server import MAX_REQUEST_BYTES, TESTS_FOLDER, import_program, run_program_and_exit

# Hands over its streams, and ends as the program does. Without `site` it takes 15 ms.
CLIENT_SOURCE = """
import json, os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect("\\0" + sys.argv[1])
socket.send_fds(door, [json.dumps([sys.argv[2:], dict(os.environ), os.getcwd()]).encode()], [0, 1, 2])
nothing = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(nothing, number)
sys.exit((door.recv(1) or b"\\1")[0])
"""


def build_command(program: str, *arguments: str | Path) -> list[str]:
    """A command that runs a program of this folder, which has `run(arguments)` and names in `WARM` what it imports."""
    return [sys.executable, "-ISc", CLIENT_SOURCE, _start_server(program), *map(str, arguments)]


@cache
def _start_server(program: str) -> str:
    """Starts the process that forks, which ends with this one; the name of its socket, which is no file."""
    name = f"outrider-warmed-{uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"\0{name}")
        door.listen()
        server = [sys.executable, "-m", "support.processes.prefork", program, str(door.fileno())]
        _servers.append(subprocess.Popen(server, stdin=subprocess.PIPE, pass_fds=[door.fileno()], cwd=TESTS_FOLDER))
    return name


_servers: list[Any] = []  # their standard input is closed when this process ends


def _serve_programs(program: str, number: int) -> None:
    run = import_program(program).run
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what ends
    with socket.socket(fileno=number) as door:
        while 0 not in select.select([door, 0], [], [])[0]:
            visitor, _ = door.accept()
            with visitor:
                wish, streams, _, _ = socket.recv_fds(visitor, MAX_REQUEST_BYTES, 3)
                if not os.fork():
                    door.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    run_program_and_exit(run, json.loads(wish), dict(enumerate(streams)), visitor)
                for each in streams:
                    os.close(each)


if __name__ == "__main__":
    _serve_programs(sys.argv[1], int(sys.argv[2]))
