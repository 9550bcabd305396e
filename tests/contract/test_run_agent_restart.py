"""Test that runs survive the end of calls, connections and processes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.types import InputRequiredResult

from outrider.core.context import Call
from outrider.serve.http import build_http_app
from support.apps import agents_app
from support.apps.agents_app import AgentsApp, ChatTurn, ScriptedChatModel
from support.apps.mcp_clients import NEWEST_VERSION, FormAnswerer, answer_requests, connect_client
from support.fakes import http_servers
from support.results import read_first_text
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
WRITER = {"tools": ["add_observation"], "stakes": {"add_observation": "high"}}
WRITER_TURNS = {
    "writer": [ChatTurn(calls=[("add_observation", {"observation": "written once"})]), ChatTurn(text="Written down.")],
    "chief": [ChatTurn(calls=[("run_writer", {"query": "write"})]), ChatTurn(text="I had it written down.")],
}
WRITER_AGENTS: dict[str, dict[str, Any]] = {"writer": WRITER, "chief": {"tools": ["run_writer"]}}


@asynccontextmanager
async def open_processes(home: Path, count: int, **settings: Any) -> AsyncGenerator[list[Any]]:
    """Open one app repeatedly, one after another, with the same home and model."""
    model = ScriptedChatModel(WRITER_TURNS)
    async with agents_app.serve_chat_model(model) as flags:
        flags |= {"data_dir": str(home / "data")}
        yield [
            agents_app.open_agents_app_over_model(home, model, flags, WRITER_AGENTS, **settings) for _ in range(count)
        ]


async def test_a_question_is_answered_after_everything_was_stopped_and_started_again(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_processes(home, 2) as (before, after):
            async with (
                before as hosted,
                connect_client(hosted.app.build_server(), NEWEST_VERSION, "person", FormAnswerer(None)) as caller,
            ):
                first = await caller.session.call_tool("run_chief", {"query": "go"}, allow_input_required=True)
                assert isinstance(first, InputRequiredResult)
            async with (
                after as hosted,
                connect_client(hosted.app.build_server(), NEWEST_VERSION, "person", FormAnswerer(None)) as caller,
            ):
                done = await caller.session.call_tool(
                    "run_chief",
                    {"query": "go"},
                    request_state=first.request_state,
                    input_responses=answer_requests(first),
                )
                observed = (await hosted.app.call("get_current_state", Call())).data["observations"]
    assert done.content[0].resource.text == "I had it written down."
    assert observed == ["written once"]


async def test_a_call_returns_before_its_agent_once_the_waiting_time_is_over(home: Path):
    held = anyio.Event()
    script = {"slow": [ChatTurn(text="at last", wait_before=held)]}
    settings = {"data_dir": str(home / "data"), "run_agent": {"detach_s": 0.5}}
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with (
            agents_app.open_agents_app(home, script, {"slow": {}}, **settings) as hosted,
            open_client(hosted) as caller,
        ):
            detached = await caller.call_tool("run_slow", {"query": "take your time"})
            run = detached.meta["outrider/run"]
            held.set()
            done = await caller.call_tool("agent_run", {"runId": run["runId"], "waitSeconds": 30})
    assert not detached.is_error
    assert run["status"] == "running"
    assert "still working" in read_first_text(detached)
    assert f'agent_run {{"runId": "{run["runId"]}"}}' in read_first_text(detached)
    assert done.content[0].resource.text == "at last"


@asynccontextmanager
async def open_client(hosted: AgentsApp) -> AsyncGenerator[Client]:
    async with connect_client(hosted.app.build_server(), NEWEST_VERSION) as caller:
        yield caller


async def test_a_connection_that_is_lost_leaves_the_run_running(home: Path):
    held = anyio.Event()
    script = {"slow": [ChatTurn(text="finished alone", wait_before=held)]}
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with (
            agents_app.open_agents_app(home, script, {"slow": {}}, data_dir=str(home / "data")) as hosted,
            http_servers.serve_app(build_http_app(hosted.app.build_servers())) as url,
        ):
            with pytest.raises(httpx2.ReadTimeout):
                await call_without_reading(url)
            held.set()
            (run,) = await list_run_ids(hosted)
            async for _ in hosted.app.runs.follow(run):
                pass
            left = await hosted.app.runs.get(run)
    assert (left.answer, left.identity) == ("finished alone", "ann@a.example")


async def call_without_reading(url: str) -> None:
    """Calls the agent over HTTP and hangs up while it works."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
    }
    params = {"name": "run_slow", "arguments": {"query": "q"}, "_meta": meta}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": NEWEST_VERSION,
        "mcp-method": "tools/call",
        "mcp-name": "run_slow",
        "x-api-user-email": "ann@a.example",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx2.AsyncClient(timeout=5) as web:
        answer = await web.post(f"{url}/mcp", json=body, headers=headers)
        raise AssertionError(answer.text)


async def list_run_ids(hosted: AgentsApp) -> list[str]:
    from outrider.agents.run import RunStore

    return [run.id for run in await RunStore(hosted.app.database).list_runs()]
