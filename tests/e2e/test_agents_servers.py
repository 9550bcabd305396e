"""Other MCP servers from a user's view: in a file that hosts share, and on the command line."""

import json
import os
import subprocess
from pathlib import Path

import anyio
import pytest

from support.apps.agent_runs import build_model_settings
from support.fakes import http_servers, mcp_servers
from support.fakes.model_apis import ModelServer, ModelTurn, play_turns
from support.processes import outrider_command

AGENT = "---\ndescription: Keeps a diary\nmcp: {mcp}\n---\nYou write.\n"


@pytest.fixture(autouse=True)
def configured_server(home: Path) -> None:
    program, *arguments = mcp_servers.build_command()
    notes = {"command": program, "args": arguments, "env": {"DIARY": "${HOME}/diary"}}
    servers = {"notes": notes, "shut": {"command": "no-such-program"}}
    folder = home / ".outrider"
    (folder / "agents").mkdir(parents=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (folder / "agents" / "writer.md").write_text(AGENT.format(mcp="notes"))


def run_outrider(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = outrider_command.build_command(*arguments)
    environ = os.environ | {"SCRIPTED_KEY": "sk-x"}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)  # noqa: PLW1510


def test_servers_are_listed_with_tools_that_ask_and_servers_that_fail():
    done = run_outrider("agents", "servers")
    assert done.returncode == 1
    assert "notes_look\n" in done.stdout
    assert "notes_wipe  asks before each call" in done.stdout
    assert "shut: server 'shut' cannot be started: no-such-program is not on PATH" in done.stdout
    one = json.loads(run_outrider("agents", "servers", "notes", "--json").stdout)
    assert {"name": "notes_append", "stake": "low", "title": "append"} in one["notes"]


def test_the_doctor_connects_to_each_server():
    done = run_outrider("doctor", "--set", "models.local=false")
    assert "✓ MCP server notes: 11 tools, 1 of them ask before each call" in done.stdout
    assert "MCP server 'shut' cannot be started: no-such-program is not on PATH" in done.stdout


def test_checking_an_unknown_server_names_it(home: Path):
    (home / ".outrider" / "agents" / "clerk.md").write_text(AGENT.format(mcp="nots"))
    (home / ".outrider" / "settings.json").write_text(json.dumps(build_model_settings("http://127.0.0.1:9")))
    done = run_outrider("agents", "check", "clerk", "writer")
    assert done.returncode == 1
    assert "✓ writer" in done.stdout
    assert "✗ clerk: mcp: no server 'nots'" in done.stdout
    assert "did you mean 'notes'?" in done.stdout


@pytest.mark.nightly
async def test_an_agent_on_the_terminal_uses_servers_and_leaves_no_process_behind(home: Path):
    turns = play_turns(ModelTurn(calls=[("notes_append", {"text": "rain"})]), ModelTurn(text="It is written."))
    async with http_servers.serve_app(ModelServer(turns).build_app()) as url:
        (home / ".outrider" / "settings.json").write_text(json.dumps(build_model_settings(url)))
        done = await anyio.to_thread.run_sync(lambda: run_outrider("ask", "Write.", "--agent", "writer"))
    assert (done.returncode, done.stdout) == (0, "It is written.\n")
    diary = [json.loads(line) for line in (home / "diary").read_text().splitlines()]
    assert [each["what"] for each in diary] == ["started", "append"]
    with pytest.raises(ProcessLookupError):
        os.kill(diary[0]["pid"], 0)
