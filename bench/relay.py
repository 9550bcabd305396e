"""Measure the start of `outrider mcp` with a warm shared process, and its memory."""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.peers import ROOT
from bench.process_tree import sum_memory_mb
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part

HOST_COUNT = 20
RELAY, NO_DAEMON, BARE_PYTHON = "outrider mcp", "outrider mcp --no-daemon", "bare Python process"


EMPTY_SERVER_CODE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}), flush=True)
"""


def run(*, quick: bool) -> Part:
    method = (
        "A new process, which the installed command starts over stdio as hosts do, is timed until it has answered "
        "`initialize` and `tools/list`. `outrider mcp` relays to the user's shared process, which is warm. The "
        "baseline is an interpreter that imports `json` and returns empty answers. The very first `outrider mcp` "
        f"starts the shared process and waits for it. Memory is the mean of {HOST_COUNT} processes connected at once, "
        "without the shared process. PSS divides shared pages among the processes that share them."
    )
    with tempfile.TemporaryDirectory(prefix="outrider-bench-") as home:
        try:
            first = _measure_first_start(home, 1 if quick else 5)
            wall, cpu = _measure_warm_starts(home, 3 if quick else 31)
            return Part(
                "Hosts that share one process",
                method,
                [
                    Comparison("wall ms, warm", BARE_PYTHON, wall, digits=1),
                    Comparison("CPU ms of the host's process, warm", BARE_PYTHON, cpu, digits=1),
                    Comparison("wall ms, nothing runs yet", NO_DAEMON, first, digits=0),
                    Comparison(
                        f"MB resident (RSS) of each of {HOST_COUNT}",
                        NO_DAEMON,
                        _measure_memory(home, "VmRSS"),
                        digits=1,
                    ),
                    Comparison(
                        f"MB of its own (PSS) of each of {HOST_COUNT}",
                        NO_DAEMON,
                        _measure_memory(home, "Pss"),
                        digits=1,
                    ),
                ],
            )
        finally:
            _stop_daemon(home)


def _list_commands() -> dict[str, list[str]]:
    # The least that a host can start: an interpreter that returns an empty answer to each request.
    outrider = str(Path(sys.executable).with_name("outrider"))
    return {
        BARE_PYTHON: [sys.executable, "-c", EMPTY_SERVER_CODE],
        RELAY: [outrider, "mcp"],
        NO_DAEMON: [outrider, "mcp", "--no-daemon"],
    }


def _start_server(home: str, command: list[str]) -> StdioServer:
    # Installed programs have byte code. If the environment forbids writing it, compilation would be measured.
    return StdioServer(command, HOME=home, PYTHONDONTWRITEBYTECODE="")


def _measure_warm_starts(home: str, turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    wall: dict[str, list[float]] = {name: [] for name in _list_commands()}
    cpu: dict[str, list[float]] = {name: [] for name in _list_commands()}
    for turn in range(turns + 1):
        for name, command in _list_commands().items():
            with _start_server(home, command) as server:
                server.list_tools()
                seconds, used = server.kill()
            if turn:  # the first turn starts the shared process
                wall[name].append(seconds * 1000)
                cpu[name].append(used * 1000)
    return wall, cpu


def _measure_first_start(home: str, turns: int) -> dict[str, list[float]]:
    first_relay = "outrider mcp, the first one"
    found: dict[str, list[float]] = {NO_DAEMON: [], first_relay: []}
    for turn in range(turns + 1):
        _stop_daemon(home)
        for name, command in ((NO_DAEMON, _list_commands()[NO_DAEMON]), (first_relay, _list_commands()[RELAY])):
            with _start_server(home, command) as server:
                server.list_tools()
                seconds, _ = server.kill()
            if turn:
                found[name].append(seconds * 1000)
    return found


def _measure_memory(home: str, measure: str) -> dict[str, list[float]]:
    """Return each contender's mean over this many processes at once."""
    found = {}
    for name, command in _list_commands().items():
        with ExitStack() as stack:
            servers = [stack.enter_context(_start_server(home, command)) for _ in range(HOST_COUNT)]
            for server in servers:
                server.list_tools()
            each = [
                sum_memory_mb({server.pid: ""}) if measure == "Pss" else _read_resident_mb(server.pid)
                for server in servers
            ]
        found[name] = [sum(each) / len(each)]
    return found


def _read_resident_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024


def _stop_daemon(home: str) -> None:
    command = [sys.executable, "-m", "outrider", "daemon", "stop"]
    subprocess.run(command, env=dict(os.environ) | {"HOME": home}, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
