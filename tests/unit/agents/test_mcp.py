"""Agents with tools of other MCP servers: the same consent, limits and memory as for every other tool."""

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from outrider.core.errors import InvalidInput, NotFound, Unavailable
from support.apps.agent_runs import Office, office
from support.fakes import mcp_servers
from support.fakes.model_apis import Script, Turn, script

PROGRAM = str(Path(mcp_servers.__file__))
LOOK = script(Turn(calls=[("notes_look", {})]), Turn(text="Seen."))
WIPE = script(Turn(calls=[("notes_wipe", {"text": "all"})]), Turn(text="Wiped or not."))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return tmp_path / "diary"


def house(play: Script, pages: Path, **server: Any) -> AbstractAsyncContextManager[Office]:
    notes = {"command": sys.executable, "args": [PROGRAM], "env": {"DIARY": str(pages)}} | server
    return office(play, mcpServers={"notes": notes})


def done(pages: Path) -> Sequence[dict[str, Any]]:
    """What the server was really asked to do."""
    every = [json.loads(line) for line in pages.read_text().splitlines()] if pages.exists() else []
    return [each for each in every if each["what"] != "started"]


async def test_an_agent_calls_another_servers_tool(pages: Path):
    async with house(LOOK, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"])
    assert (run.status, run.answer) == ("completed", "Seen.")
    offered = office.server.asked[0].tools
    assert {"notes_look", "notes_say_it", "notes_wipe"} <= set(offered)
    (result,) = office.server.asked[1].results
    assert "look:" in result
    assert "<untrusted-" in result
    assert [each["what"] for each in done(pages)] == ["look"]


async def test_a_caller_adds_a_server_as_any_toolset(pages: Path):
    async with house(LOOK, pages) as office:
        run = await office.begin(toolsets=[], add=["notes"])
        ended = await office.end(run)
    assert ended.status == "completed"
    assert [each["what"] for each in done(pages)] == ["look"]


async def test_what_another_agent_adds_asks_for_every_call(pages: Path):
    turns = script(Turn(calls=[("notes_look", {})]), Turn(text="Seen."))
    async with house(turns, pages) as office:
        above = await office.run(toolsets=["ledger"])
        run = await office.begin(toolsets=[], add=["notes"], above=above)
        ended = await office.end(run)
    assert (ended.status, done(pages)) == ("blocked", [])


async def test_one_tool_can_be_chosen(pages: Path):
    async with house(LOOK, pages) as office:
        await office.run(toolsets=[], mcp="notes/look")
    assert office.server.asked[0].tools == ["notes_look"]


async def test_calls_are_in_the_record_of_the_house(pages: Path):
    async with house(LOOK, pages) as office:
        await office.run(toolsets=[], mcp=["notes"])
        (event,) = await office.app.events.recent()
    assert (event.toolset, event.tool, event.outcome) == ("mcp_notes", "notes_look", "ok")


async def test_what_does_not_say_that_it_only_reads_asks_first_and_is_done_once(pages: Path):
    async with house(WIPE, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"])
        assert (run.status, done(pages)) == ("blocked", [])
        (question,) = await office.app.runs.questions.pending(run.id)
        assert (question.tool, question.arguments, question.stake) == ("notes_wipe", {"text": "all"}, "high")
        await office.app.runs.questions.decide(question.id, "approved")
        ended = await office.end(await office.app.runs.resume(run.id))
    assert ended.status == "completed"
    (wiped,) = done(pages)
    assert wiped["key"] == f"{run.id}:{question.call_id}"


async def test_an_agents_own_stakes_hold(pages: Path):
    async with house(WIPE, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"], stakes={"notes_wipe": "low"})
    assert run.status == "completed"
    assert [each["what"] for each in done(pages)] == ["wipe"]


async def test_an_agent_of_a_workspace_asks_before_every_call_elsewhere(pages: Path):
    async with house(LOOK, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"], origin="workspace", stakes={"*": "never_ask"})
    assert (run.status, done(pages)) == ("blocked", [])


async def test_the_operator_can_withhold_a_tool(pages: Path):
    notes = {"command": sys.executable, "args": [PROGRAM], "env": {"DIARY": str(pages)}}
    async with office(LOOK, mcpServers={"notes": notes}, tools={"disable": ["notes_wipe"]}) as house:
        await house.run(toolsets=[], mcp=["notes"])
    assert "notes_wipe" not in house.server.asked[0].tools
    assert "notes_look" in house.server.asked[0].tools


async def test_a_server_that_dies_is_named_to_the_agent_and_is_back_for_the_next_call(pages: Path):
    turns = script(Turn(calls=[("notes_die", {})]), Turn(calls=[("notes_look", {})]), Turn(text="Well."))
    async with house(turns, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"])
    assert run.status == "completed"
    first, second = office.server.asked[2].results
    assert "error (server_died)" in first
    assert "look:" in second


async def test_a_call_that_takes_too_long_is_given_up(pages: Path):
    turns = script(Turn(calls=[("notes_slow", {})]), Turn(calls=[("notes_look", {})]), Turn(text="Late."))
    async with house(turns, pages, timeout_s=1) as office:
        run = await office.run(toolsets=[], mcp=["notes"])
    assert run.status == "completed"
    first, second = office.server.asked[2].results
    assert "did not finish within 1 seconds" in first
    assert "look:" in second


async def test_a_server_that_is_gone_when_the_run_goes_on_is_no_end_of_it(pages: Path):
    async with house(WIPE, pages) as office:
        run = await office.run(toolsets=[], mcp=["notes"])
        (question,) = await office.app.runs.questions.pending(run.id)
    async with house(WIPE, pages, command="no-such-program", args=[]) as office:
        await office.app.runs.questions.decide(question.id, "approved")
        ended = await office.end(await office.app.runs.resume(run.id))
    assert (ended.status, done(pages)) == ("completed", [])
    (result,) = office.server.asked[0].results
    assert "server 'notes' cannot be started" in result


async def test_wrong_names_are_told_before_the_run_begins(pages: Path):
    async with house(LOOK, pages) as office:
        with pytest.raises(NotFound, match="no server 'nots'"):
            await office.begin(mcp=["nots"])
        with pytest.raises(InvalidInput, match="server 'notes' has no tool 'lok'"):
            await office.begin(mcp=["notes/lok"])
    async with house(LOOK, pages, command="no-such-program") as office:
        with pytest.raises(Unavailable, match="cannot be started"):
            await office.begin(mcp=["notes"])
