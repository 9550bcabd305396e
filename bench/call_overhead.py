"""Measure the overhead of a call: validation, policy, time limit, record and protocol."""

import sys
import tempfile
import time
from pathlib import Path

from bench.peers import BENCH_FOLDER, build_outrider_command
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part

BARE_SERVER, OUTRIDER_SERVER = "bare SDK server", "outrider mcp"
CALLS_PER_TURN = 500


TOOLSET_SOURCE = '''
from outrider import Toolset

echoes = Toolset("echoes", "Says things back.", default=True)

@echoes.tool()
async def echo(text: str, times: int = 1) -> str:
    """Say it back."""
    return text * times
'''


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        path = write_plugin(Path(folder))
        data = f"data_dir={folder}/data"
        ours = build_outrider_command("--toolsets", "echoes", "--set", data)
        with (
            StdioServer(ours, PYTHONPATH=str(path)) as own,
            StdioServer([sys.executable, str(BENCH_FOLDER / "bare_server.py")]) as bare,
        ):
            wall, cpu = measure_calls({BARE_SERVER: bare, OUTRIDER_SERVER: own}, 3 if quick else 21)
    return Part(
        "Overhead of a call",
        f"A tool that repeats a word, {CALLS_PER_TURN} calls a turn over stdio, one after another. Outrider validates "
        "the arguments, applies its policy and time limit, and writes a record of each call to its database. The "
        "bare server does none of this.",
        [
            Comparison("CPU milliseconds a call", BARE_SERVER, cpu),
            Comparison("wall milliseconds a call", BARE_SERVER, wall),
        ],
    )


def write_plugin(folder: Path) -> Path:
    """Write a plugin package with a toolset."""
    described = folder / "echoes-1.0.dist-info"
    described.mkdir()
    (folder / "echoes.py").write_text(TOOLSET_SOURCE)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: echoes\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[outrider.toolsets]\nechoes = echoes:echoes\n")
    return folder


def measure_calls(servers: dict[str, StdioServer], turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    wall: dict[str, list[float]] = {name: [] for name in servers}
    cpu: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(turns + 1):
        for name, server in servers.items():
            started, used = time.perf_counter(), server.read_cpu_seconds()
            for _ in range(CALLS_PER_TURN):
                answer = server.send_request("tools/call", {"name": "echo", "arguments": {"text": "ahoi", "times": 2}})
                assert answer["content"][0]["text"] == "ahoiahoi"
            if turn:  # the first turn opens the database
                wall[name].append((time.perf_counter() - started) * 1000 / CALLS_PER_TURN)
                cpu[name].append((server.read_cpu_seconds() - used) * 1000 / CALLS_PER_TURN)
    return wall, cpu
