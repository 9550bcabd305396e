"""Test that tools of other MCP servers obey consent, limits and audit."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from outrider.core.errors import InvalidInput, NotFound, Unavailable
from support.apps.agent_runs import ScriptedApp, open_scripted_app
from support.busy_machine import scale_to_load
from support.fakes import mcp_servers
from support.fakes.model_apis import ModelTurn, TurnScript, play_turns

LOOK = play_turns(ModelTurn(calls=[("notes_look", {})]), ModelTurn(text="Seen."))
WIPE = play_turns(ModelTurn(calls=[("notes_wipe", {"text": "all"})]), ModelTurn(text="Wiped or not."))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return tmp_path / "diary"


def open_app_with_server(play: TurnScript, pages: Path, **server: Any) -> AbstractAsyncContextManager[ScriptedApp]:
    program, *arguments = mcp_servers.build_command()
    notes = {"command": program, "args": arguments, "env": {"DIARY": str(pages)}} | server
    return open_scripted_app(play, mcpServers={"notes": notes})


def list_effects(pages: Path) -> Sequence[dict[str, Any]]:
    """Lists the calls that reached the server."""
    every = [json.loads(line) for line in pages.read_text().splitlines()] if pages.exists() else []
    return [each for each in every if each["what"] != "started"]


@pytest.mark.nightly
async def test_an_agent_calls_another_servers_tool(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"])
    assert (run.status, run.answer) == ("completed", "Seen.")
    offered = scripted.model_server.requests[0].tool_names
    assert {"notes_look", "notes_say_it", "notes_wipe"} <= set(offered)
    (result,) = scripted.model_server.requests[1].results
    assert "look:" in result
    assert "<untrusted-" in result
    assert [each["what"] for each in list_effects(pages)] == ["look"]


async def test_a_caller_adds_a_server_as_any_toolset(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        run = await scripted.start_run(toolsets=[], add=["notes"])
        ended = await scripted.wait_for_end(run)
    assert ended.status == "completed"
    assert [each["what"] for each in list_effects(pages)] == ["look"]


async def test_a_server_added_by_another_agent_asks_before_every_call(pages: Path):
    turns = play_turns(ModelTurn(calls=[("notes_look", {})]), ModelTurn(text="Seen."))
    async with open_app_with_server(turns, pages) as scripted:
        parent = await scripted.run_to_end(toolsets=["ledger"])
        run = await scripted.start_run(toolsets=[], add=["notes"], parent=parent)
        ended = await scripted.wait_for_end(run)
    assert (ended.status, list_effects(pages)) == ("blocked", [])


async def test_one_tool_can_be_chosen(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        await scripted.run_to_end(toolsets=[], mcp="notes/look")
    assert scripted.model_server.requests[0].tool_names == ["notes_look"]


async def test_calls_are_in_the_record_of_the_app(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        await scripted.run_to_end(toolsets=[], mcp=["notes"])
        (event,) = await scripted.app.events.list_recent()
    assert (event.toolset, event.tool, event.outcome) == ("mcp_notes", "notes_look", "ok")


@pytest.mark.nightly
async def test_a_tool_not_marked_read_only_asks_first_and_runs_once(pages: Path):
    async with open_app_with_server(WIPE, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"])
        assert (run.status, list_effects(pages)) == ("blocked", [])
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
        assert (question.tool, question.arguments, question.stake) == ("notes_wipe", {"text": "all"}, "high")
        await scripted.app.runs.questions.decide(question.id, "approved")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
    assert ended.status == "completed"
    (wiped,) = list_effects(pages)
    assert wiped["key"] == f"{run.id}:{question.call_id}"


async def test_an_agents_own_stakes_hold(pages: Path):
    async with open_app_with_server(WIPE, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"], stakes={"notes_wipe": "low"})
    assert run.status == "completed"
    assert [each["what"] for each in list_effects(pages)] == ["wipe"]


async def test_an_agent_of_a_workspace_asks_before_every_call_elsewhere(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"], origin="workspace", stakes={"*": "never_ask"})
    assert (run.status, list_effects(pages)) == ("blocked", [])


async def test_the_operator_can_withhold_a_tool(pages: Path):
    program, *arguments = mcp_servers.build_command()
    notes = {"command": program, "args": arguments, "env": {"DIARY": str(pages)}}
    async with open_scripted_app(
        LOOK, mcpServers={"notes": notes}, tools={"disable": ["notes_wipe"]}
    ) as open_app_with_server:
        await open_app_with_server.run_to_end(toolsets=[], mcp=["notes"])
    assert "notes_wipe" not in open_app_with_server.model_server.requests[0].tool_names
    assert "notes_look" in open_app_with_server.model_server.requests[0].tool_names


async def test_a_dying_server_is_reported_to_the_agent_and_restarted_for_the_next_call(pages: Path):
    turns = play_turns(
        ModelTurn(calls=[("notes_die", {})]), ModelTurn(calls=[("notes_look", {})]), ModelTurn(text="Well.")
    )
    async with open_app_with_server(turns, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"])
    assert run.status == "completed"
    first, second = scripted.model_server.requests[2].results
    assert "error (server_died)" in first
    assert "look:" in second


async def test_a_call_that_exceeds_its_time_limit_is_abandoned(pages: Path):
    turns = play_turns(
        ModelTurn(calls=[("notes_slow", {})]), ModelTurn(calls=[("notes_look", {})]), ModelTurn(text="Late.")
    )
    limit_s = scale_to_load(1)
    async with open_app_with_server(turns, pages, timeout_s=limit_s) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"])
    assert run.status == "completed"
    first, second = scripted.model_server.requests[2].results
    assert f"timed out after {limit_s:g} s" in first
    assert "look:" in second


async def test_a_server_that_is_missing_when_the_run_resumes_does_not_end_the_run(pages: Path):
    async with open_app_with_server(WIPE, pages) as scripted:
        run = await scripted.run_to_end(toolsets=[], mcp=["notes"])
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
    async with open_app_with_server(WIPE, pages, command="no-such-program", args=[]) as scripted:
        await scripted.app.runs.questions.decide(question.id, "approved")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
    assert (ended.status, list_effects(pages)) == ("completed", [])
    (result,) = scripted.model_server.requests[0].results
    assert "server 'notes' cannot be started" in result


async def test_wrong_names_are_reported_before_the_run_begins(pages: Path):
    async with open_app_with_server(LOOK, pages) as scripted:
        with pytest.raises(NotFound, match="no server 'nots'"):
            await scripted.start_run(mcp=["nots"])
        with pytest.raises(InvalidInput, match="server 'notes' has no tool 'lok'"):
            await scripted.start_run(mcp=["notes/lok"])
    async with open_app_with_server(LOOK, pages, command="no-such-program") as scripted:
        with pytest.raises(Unavailable, match="cannot be started"):
            await scripted.start_run(mcp=["notes"])
