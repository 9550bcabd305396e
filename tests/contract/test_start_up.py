"""`outrider mcp` loads little before a client sees its tools, and writes only protocol.

Modules are counted, not seconds: the count is the same on every machine (`bench/` has the seconds).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.timeouts import PROCESS_TIMEOUT_S

OUTRIDER = ("-m", "outrider", "mcp", "--no-daemon")
# The smallest possible server: the SDK's low-level one, with one tool.
BARE = """
import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult, Tool

async def tools(context, params):
    return ListToolsResult(tools=[Tool(name="nothing", input_schema={"type": "object"})])

async def main():
    server = Server("bare", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
# Modules beyond the bare server's: about 305 are our own. A library would add a hundred.
# On Python 3.14 the bare server imports less, and these more.
# From Python 3.13 on, a bare server does not load `csv`, so it is counted as ours.
FROM_OTHERS, IN_ALL = (17, 328) if sys.version_info >= (3, 14) else (14, 325 if sys.version_info >= (3, 13) else 324)
# Each of them is needed by some tool, but not before the tool's first call.
HEAVY = {
    "aiosqlite",
    "alembic",
    "anthropic",
    "cchardet",
    "claude_agent_sdk",
    "dateutil",
    "dbos",
    "ddgs",
    "feedparser",
    "gcld3",
    "genai_prices",
    "h2",
    "httpcore2",
    "kitoken",
    "lxml",
    "numpy",
    "openai",
    "pandas",
    "primp",
    "protego",
    "psycopg",
    "pydantic_ai",
    "pypdfium2",
    "selectolax",
    "sqlalchemy",
    "trafilatura",
    "uvicorn",
}
LOADED = re.compile(r"^import time:.*\|\s*(\S+)$", re.MULTILINE)

NOISY = '''
import atexit, os, subprocess, sys
from outrider import Toolset

print("noise: imported")
atexit.register(print, "noise: exit")
noisy = Toolset("noisy", "Prints wherever it can.", default=True)

@noisy.tool()
async def shout() -> str:
    """Print in every way there is."""
    print("noise: print")
    sys.__stdout__.write("noise: the first stdout" + chr(10))
    os.write(1, b"noise: the descriptor" + bytes([10]))
    subprocess.run([sys.executable, "-c", "print('noise: a child')"], check=True)
    os.system("echo noise: a shell")
    return "heard" if sys.stdin.read() == "" else "read the client's words"
'''


def exchange_messages(
    *command: str, environ: Mapping[str, str] | None = None, calls: Sequence[str] = ()
) -> tuple[str, str]:
    """List a server's tools, then call some; return its whole stdout and stderr."""
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    requests: list[tuple[str, dict[str, Any]]] = [("initialize", start), ("tools/list", {})]
    requests += [("tools/call", {"name": name, "arguments": {}}) for name in calls]
    with (
        tempfile.TemporaryFile("w+") as stderr,
        subprocess.Popen(
            [sys.executable, *command],
            env=os.environ | (environ or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        for number, (method, params) in enumerate(requests):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            if method == "initialize":
                process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        process.stdin.flush()
        said = read_answers(process.stdout, len(requests))
        rest, _ = process.communicate(timeout=PROCESS_TIMEOUT_S)
        stderr.seek(0)
        complaints = stderr.read()
    assert process.returncode == 0, complaints
    return said + rest, complaints


def read_answers(lines: Iterable[str], count: int) -> str:
    """Read until that many answers have arrived, because a server may stop as soon as its input ends."""
    said: list[str] = []
    for line in lines:
        said.append(line)
        if sum('"id":' in each for each in said) == count:
            break
    return "".join(said)


def list_imported_modules(*command: str) -> set[str]:
    """Lists the modules that a server imports from its first to its last line."""
    return set(LOADED.findall(exchange_messages("-X", "importtime", *command)[1]))


@pytest.fixture(scope="module")
def bare_modules(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    script = tmp_path_factory.mktemp("bare") / "bare.py"
    script.write_text(BARE)
    return list_imported_modules(str(script))


@pytest.mark.parametrize("options", [(), ("--toolsets", "all")], ids=["default", "all"])
def test_few_modules_are_imported_before_the_tools_are_listed(bare_modules: set[str], options: tuple[str, ...]):
    loaded = list_imported_modules(*OUTRIDER, *options)
    assert "outrider.serve.mcp" in loaded
    assert "mcp.server.lowlevel.server" in bare_modules
    added = loaded - bare_modules
    assert not {name for name in added if name.partition(".")[0] in HEAVY}
    assert len([name for name in added if not name.startswith("outrider")]) <= FROM_OTHERS
    assert len(added) <= IN_ALL


def test_commands_that_do_not_serve_load_no_mcp_sdk(tmp_path: Path):
    (tmp_path / "page.html").write_text("<p>tea</p>")
    extract = ["extract", str(tmp_path / "page.html")]
    for command in (["agents", "list"], ["fetch", "http://127.0.0.1:1/"], extract, ["daemon", "status"]):
        line = [sys.executable, "-X", "importtime", "-m", "outrider", *command]
        ended = subprocess.run(
            line, env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
        )
        loaded = set(LOADED.findall(ended.stderr))
        assert "click" in loaded
        assert not {"mcp", "mcp_types", "starlette"} & loaded, command


@pytest.fixture
def noisy_plugin(tmp_path: Path) -> dict[str, str]:
    """Install a package whose toolset prints at every opportunity; return the environment that finds it."""
    folder = tmp_path / "plugins"
    described = folder / "noisy-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "noisy.py").write_text(NOISY)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[outrider.toolsets]\nnoisy = noisy:noisy\n")
    return {"PYTHONPATH": str(folder)}


def test_output_printed_by_libraries_does_not_reach_the_client(noisy_plugin: dict[str, str]):
    said, complaints = exchange_messages(*OUTRIDER, environ=noisy_plugin, calls=["shout"])
    messages = [json.loads(line) for line in said.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    called = next(message for message in messages if message.get("id") == 2)
    assert called["result"]["content"][0]["text"] == "heard"
    for noise in ("imported", "print", "the first stdout", "the descriptor", "a child", "a shell", "exit"):
        assert f"noise: {noise}" in complaints
    assert "noise" not in said.replace("noisy", "")
