"""Tools of other MCP servers that hosts see next to ours, added and removed while the process runs."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult, ToolListChangedNotification

from outrider.app import App, open_app
from outrider.core.call_history import CallFilter, CallHistory
from outrider.settings import load
from support.databases import sqlite
from support.fakes import mcp_servers
from support.results import read_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio


def write_servers(home: Path, **servers: Any) -> None:
    (home / ".outrider").mkdir(exist_ok=True)
    (home / ".outrider" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


def build_program(home: Path) -> dict[str, Any]:
    program, *arguments = mcp_servers.build_command()
    return {"command": program, "args": arguments, "env": {"DIARY": str(home / "diary")}}


async def list_names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@asynccontextmanager
async def open_host(home: Path, asked: list[str], told: anyio.Event) -> AsyncGenerator[tuple[App, Client]]:
    """A host with an earlier protocol, which is notified of changed lists and accepts all questions."""
    flags = {"toolsets": ["planning", "mcp_servers"]}
    loaded = sqlite.prepare_database(load(flags, environ=dict(os.environ), home=home, workspace=home))

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async def allow(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    options: Any = {"mode": "legacy", "message_handler": hear, "elicitation_callback": allow}
    async with open_app(loaded) as app, Client(app.build_server(), **options) as client:
        yield app, client


async def test_a_server_is_added_listed_used_and_removed_while_the_host_is_connected(home: Path):
    told = anyio.Event()
    asked: list[str] = []
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_host(home, asked, told) as (app, client):
            assert "notes_look" not in await list_names(client)
            assert "There are none" in read_text(await client.call_tool("list_mcp_servers", {}))

            write_servers(home, notes=build_program(home), shut={"command": "no-such-program"})
            await told.wait()
            while "notes_look" not in await list_names(client):
                await anyio.lowlevel.checkpoint()
            listed = read_text(await client.call_tool("list_mcp_servers", {}))
            assert "notes: 11 tools" in listed
            assert "shut: server 'shut' cannot be started" in listed
            assert "mcp:notes" in read_text(await client.call_tool("notes_look", {}))
            assert asked == []
            await client.call_tool("notes_wipe", {"text": "all"})
            assert "notes_wipe" in asked[0]

            write_servers(home)
            while "notes_look" in await list_names(client):
                await anyio.lowlevel.checkpoint()
            assert "create_goal" in await list_names(client)
            await app.events.flush()
            records = (await CallHistory(app.database).list_batch(CallFilter(), limit=50)).items
    assert {record.tool for record in records} == {"list_mcp_servers", "notes_look", "notes_wipe"}
    diary = [json.loads(line) for line in (home / "diary").read_text().splitlines()]
    assert [entry["what"] for entry in diary][-1] == "wipe"
    with pytest.raises(ProcessLookupError):
        os.kill(diary[0]["pid"], 0)


async def test_the_names_of_a_server_with_a_long_name_fit_into_64_characters(home: Path):
    server = "the-department-s-shared-notebook-of-observations"
    write_servers(home, **{server: build_program(home)})
    flags = {"toolsets": ["mcp_servers"], "names": "builtin"}
    loaded = sqlite.prepare_database(load(flags, environ=dict(os.environ), home=home, workspace=home))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_app(loaded) as app, Client(app.build_server()) as client:
            prefix = "builtin_mcp_servers__the_depart"
            while not (names := {name for name in await list_names(client) if name.startswith(prefix)}):
                await anyio.lowlevel.checkpoint()
            assert len(names) == 11
            assert max(map(len, names)) <= 64
            (look,) = (name for name in names if "_look_" in name)
            assert f"mcp:{server}" in read_text(await client.call_tool(look, {}))


async def test_enabling_all_toolsets_starts_no_programs_of_the_user(home: Path):
    write_servers(home, notes=build_program(home))
    loaded = sqlite.prepare_database(load({"toolsets": ["all"]}, environ=dict(os.environ), home=home, workspace=home))
    async with open_app(loaded) as app, Client(app.build_server()) as client:
        assert not any(name.startswith("notes_") for name in await list_names(client))
    assert not (home / "diary").exists()


async def test_a_malformed_file_leaves_the_servers_as_they_were(home: Path):
    write_servers(home, notes=build_program(home))
    loaded = sqlite.prepare_database(load({}, environ=dict(os.environ), home=home, workspace=home))
    async with open_app(loaded) as app:
        assert app.remote_servers.names == ["notes"]
        (home / ".outrider" / "mcp.json").write_text('{"mcpServers": ')
        assert app.remote_servers.names == ["notes"]
        write_servers(home, other=build_program(home))
        assert app.remote_servers.names == ["other"]
