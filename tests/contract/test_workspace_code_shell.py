"""The shell keeps its state for the session's next command, and for no other session."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.workspace.sandbox.seccomp import is_supported
from support.apps import mcp_clients
from support.apps.code_app import cancel_once_begun, make_home, open_code_app, run_python, run_shell

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
]


@pytest.fixture
def home() -> Generator[Path]:
    with make_home() as folder:
        yield folder


@pytest.fixture
async def app(home: Path) -> AsyncGenerator[App]:
    async with open_code_app(home) as opened:
        yield opened


async def test_a_shell_keeps_its_folder_and_variables(app: App):
    await run_shell(app, "mkdir -p a/b; total=5; names=(x 'y z'); export MODE=fast; greet() { echo hello $1; }; cd a")
    for command, exit_code, shown in (
        ('echo $total "${names[1]}"; greet you; basename $PWD', 0, "5 y z\nhello you\na\n"),
        ("sh -c 'echo $MODE'", 0, "fast\n"),
        ("exit 3", 3, ""),
        ('echo $total "${names[1]}"; greet again; basename $PWD', 0, "5 y z\nhello again\na\n"),
        ("set -euo pipefail; false; echo never", 1, ""),
        ("false; echo $total | cat", 0, "5\n"),
        ("for i in 1 2 3; do break; done; echo $i", 0, "1\n"),
        ("break", 0, ""),
        ("exec > /dev/null; echo hidden", 0, ""),
        ("cat; read line || echo no input", 0, "no input\n"),
        ("printf '%s|' 'a\\n \\t' \"b\nc\"; echo ü", 0, "a\\n \\t|b\nc|ü\n"),
        ("if then", 2, ""),
        ("cd b && basename $PWD", 0, "b\n"),
    ):
        found = await run_shell(app, command)
        assert (found.data["exit_code"], found.data["stdout"]) == (exit_code, shown), (command, found.text)
        assert "note" not in found.data, command
    found = await run_shell(app, "echo ${total-gone}; basename $PWD", working_dir="a")
    assert found.data["stdout"] == "5\na\n"
    assert (await run_shell(app, "echo ${total-gone}", reset=True)).data["stdout"] == "gone\n"


async def test_a_process_started_by_the_shell_keeps_running(app: App):
    found = await run_shell(app, "(while [ ! -e stop ]; do sleep 0.05; done; echo stopped) & echo begun")
    assert found.data["stdout"] == "begun\n"
    found = await run_shell(app, "touch stop; wait")
    assert found.data["stdout"] == "stopped\n"


async def test_output_that_resembles_the_end_marker_is_output(app: App):
    found = await run_shell(app, "printf '\\x1e%032d00000002{}' 0; printf '\\x1e%.0s' {1..40}; echo done")
    assert found.data["stdout"].endswith("done\n")
    assert (await run_shell(app, "head -c 3000000 /dev/zero | tr '\\0' x")).data["truncated"] is True
    assert (await run_shell(app, "echo next")).data["stdout"] == "next\n"


async def test_sessions_share_no_shell(app: App):
    await run_shell(app, "secret=mine; cd /")
    for call in (Call(session="others"), Call(session="mine", identity="somebody")):
        found = await app.call("execute_shell", call, command="echo [$secret] $PWD")
        assert found.data["stdout"].startswith("[] /")
        assert found.data["stdout"] != "[] /\n"
    assert (await run_python(app, "'secret' in globals()")).data["value"] == "False"


async def test_an_ended_shell_reports_what_was_lost(app: App):
    await run_shell(app, "table=1; rows=2")
    found = await run_shell(app, "sleep 60", timeout=1)
    assert found.data["timed_out"] is True
    assert "stopped after 1 s" in found.data["note"]
    assert "lost: rows, table, and what this call" in found.data["note"]
    assert (await run_shell(app, "echo ${table-gone}; table=1")).data["stdout"] == "gone\n"
    await cancel_once_begun(app, run_shell, "touch begun; sleep 60")
    assert "its call was cancelled; lost: table" in (await run_shell(app, "true")).data["note"]


async def test_a_shell_stays_within_the_memory_limit(home: Path):
    async with open_code_app(home, code={"memory_bytes": 300_000_000}) as app:
        found = await run_shell(app, "x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#x}")
        assert "400000000" not in found.data["stdout"]


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_a_client_keeps_its_shell(home: Path, era: str):
    async with open_code_app(home) as app, mcp_clients.connect_client(app.build_server("workspace"), era) as client:
        await client.call_tool("execute_shell", {"command": "mkdir sub; cd sub; x=1"})
        found = await client.call_tool("execute_shell", {"command": "echo $x; basename $PWD"})
        assert found.structured_content["stdout"] == "1\nsub\n"
