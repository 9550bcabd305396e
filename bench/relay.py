"""Hosts that start `outrider mcp` while the process that they share is warm; and what each of them holds."""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.figures import Measured, Part
from bench.peers import ROOT
from bench.processes import megabytes
from bench.server import Server

HOSTS = 20
RELAY, ALONE, PYTHON = "outrider mcp", "outrider mcp --no-daemon", "bare Python process"
FIRST = "outrider mcp, the first one"
# The least that a host can start: an interpreter that answers every request with nothing.
NOTHING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}), flush=True)
"""

METHOD = (
    "A new process over stdio, started by the installed command as hosts do, until it has answered `initialize` and "
    "`tools/list`. `outrider mcp` relays to the user's shared process, which is warm. The yardstick is an interpreter "
    "that imports `json` and returns empty answers. The very first `outrider mcp` starts the shared process and waits "
    f"for it. Memory is the mean of {HOSTS} processes connected at once, without the shared process. PSS divides "
    "shared pages among the processes that share them."
)


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory(prefix="outrider-bench-") as home:
        try:
            first = _first(home, 1 if quick else 5)
            wall, cpu = _warm(home, 3 if quick else 31)
            return Part(
                "Hosts that share one process",
                METHOD,
                [
                    Measured("wall ms, warm", PYTHON, wall, digits=1),
                    Measured("CPU ms of the host's process, warm", PYTHON, cpu, digits=1),
                    Measured("wall ms, nothing runs yet", ALONE, first, digits=0),
                    Measured(f"MB resident (RSS) of each of {HOSTS}", ALONE, _memory(home, "VmRSS"), digits=1),
                    Measured(f"MB of its own (PSS) of each of {HOSTS}", ALONE, _memory(home, "Pss"), digits=1),
                ],
            )
        finally:
            _stop(home)


def _commands() -> dict[str, list[str]]:
    outrider = str(Path(sys.executable).with_name("outrider"))
    return {
        PYTHON: [sys.executable, "-c", NOTHING],
        RELAY: [outrider, "mcp"],
        ALONE: [outrider, "mcp", "--no-daemon"],
    }


def _server(home: str, command: list[str]) -> Server:
    # Installed programs have byte code; a shell that forbids writing it would measure the compiler.
    return Server(command, HOME=home, PYTHONDONTWRITEBYTECODE="")


def _warm(home: str, turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    wall: dict[str, list[float]] = {name: [] for name in _commands()}
    cpu: dict[str, list[float]] = {name: [] for name in _commands()}
    for turn in range(turns + 1):
        for name, command in _commands().items():
            with _server(home, command) as server:
                server.tools()
                seconds, used = server.end()
            if turn:  # the first turn starts the shared process
                wall[name].append(seconds * 1000)
                cpu[name].append(used * 1000)
    return wall, cpu


def _first(home: str, turns: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {ALONE: [], FIRST: []}
    for turn in range(turns + 1):
        _stop(home)
        for name, command in ((ALONE, _commands()[ALONE]), (FIRST, _commands()[RELAY])):
            with _server(home, command) as server:
                server.tools()
                seconds, _ = server.end()
            if turn:
                found[name].append(seconds * 1000)
    return found


def _memory(home: str, measure: str) -> dict[str, list[float]]:
    """Of each contender the mean of so many at once."""
    found = {}
    for name, command in _commands().items():
        with ExitStack() as stack:
            servers = [stack.enter_context(_server(home, command)) for _ in range(HOSTS)]
            for server in servers:
                server.tools()
            each = [megabytes({server.pid: ""}) if measure == "Pss" else _resident(server.pid) for server in servers]
        found[name] = [sum(each) / len(each)]
    return found


def _resident(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024


def _stop(home: str) -> None:
    command = [sys.executable, "-m", "outrider", "daemon", "stop"]
    subprocess.run(command, env=dict(os.environ) | {"HOME": home}, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
