"""What a call costs beside the tool itself: validation, policy, time limit, event record, protocol."""

import sys
import tempfile
import time
from pathlib import Path

from bench.figures import Measured, Part
from bench.peers import HERE, outrider
from bench.server import Server

BARE, OURS = "bare SDK server", "outrider mcp"
CALLS = 500
TOOLSET = '''
from outrider import Toolset

echoes = Toolset("echoes", "Says things back.", default=True)

@echoes.tool()
async def echo(text: str, times: int = 1) -> str:
    """Say it back."""
    return text * times
'''


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        path = plugin(Path(folder))
        data = f"data_dir={folder}/data"
        ours = outrider("--toolsets", "echoes", "--set", data)
        with Server(ours, PYTHONPATH=str(path)) as own, Server([sys.executable, str(HERE / "bare.py")]) as bare:
            wall, cpu = measured({BARE: bare, OURS: own}, 3 if quick else 21)
    return Part(
        "Overhead of a call",
        f"A tool that repeats a word, {CALLS} calls a turn over stdio, one after another. Outrider validates the "
        "arguments, applies its policy and time limit, and writes a record of each call to its database. The bare "
        "server does none of this.",
        [
            Measured("CPU milliseconds a call", BARE, cpu),
            Measured("wall milliseconds a call", BARE, wall),
        ],
    )


def plugin(folder: Path) -> Path:
    """A package with a toolset of its own, as anybody may install one."""
    described = folder / "echoes-1.0.dist-info"
    described.mkdir()
    (folder / "echoes.py").write_text(TOOLSET)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: echoes\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[outrider.toolsets]\nechoes = echoes:echoes\n")
    return folder


def measured(servers: dict[str, Server], turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    wall: dict[str, list[float]] = {name: [] for name in servers}
    cpu: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(turns + 1):
        for name, server in servers.items():
            started, used = time.perf_counter(), server.cpu()
            for _ in range(CALLS):
                answer = server.request("tools/call", {"name": "echo", "arguments": {"text": "ahoi", "times": 2}})
                assert answer["content"][0]["text"] == "ahoiahoi"
            if turn:  # the first turn opens the database
                wall[name].append((time.perf_counter() - started) * 1000 / CALLS)
                cpu[name].append((server.cpu() - used) * 1000 / CALLS)
    return wall, cpu
