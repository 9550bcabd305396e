"""Test runs that block on a person and continue after the decision."""

from pathlib import Path

import anyio
import pytest

from outrider.core.errors import Refused
from support.apps.agent_runs import open_scripted_app
from support.apps.agent_tools import read_ledger_lines
from support.fakes.model_apis import ModelTurn, play_turns

ASKS = play_turns(
    ModelTurn(text="I send it.", calls=[("note", {"text": "before"}), ("send", {"text": "hello"})]),
    ModelTurn(text="Sent or not."),
)


async def test_a_blocked_run_pauses_and_continues_once_allowed(home: Path):
    async with open_scripted_app(ASKS) as scripted:
        run = await scripted.run_to_end()
        assert (run.status, run.stop_reason, run.attempt) == ("blocked", "blocked", 1)
        assert [line.split()[1] for line in read_ledger_lines(home)] == ["before"]
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
        assert (question.tool, question.arguments, question.stake) == ("send", {"text": "hello"}, "high")
        await scripted.app.runs.questions.decide(question.id, "approved")
        resumed = await scripted.app.runs.resume(run.id)
        assert resumed.attempt == 2
        ended = await scripted.wait_for_end(resumed)
    assert (ended.status, ended.answer) == ("completed", "Sent or not.")
    assert [line.split()[1] for line in read_ledger_lines(home)] == ["before", "hello"]
    assert ended.usage["requests"] == 2


async def test_a_rejection_carries_its_reason_to_the_agent(home: Path):
    async with open_scripted_app(ASKS) as scripted:
        run = await scripted.run_to_end()
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
        await scripted.app.runs.questions.decide(question.id, "rejected", reason="not on Sundays")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
    assert ended.status == "completed"
    assert "not on Sundays" in scripted.model_server.requests[1].results[1]
    assert [line.split()[1] for line in read_ledger_lines(home)] == ["before"]


async def test_an_always_allowed_call_is_not_asked_about_again(home: Path):
    async with open_scripted_app(ASKS) as scripted:
        run = await scripted.run_to_end()
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
        await scripted.app.runs.questions.decide(question.id, "always_approved")
        await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
        second = await scripted.run_to_end()
    assert second.status == "completed"
    assert sorted(line.split()[1] for line in read_ledger_lines(home)) == ["before", "before", "hello", "hello"]


async def test_a_resume_before_the_decision_asks_the_same_question_again():
    async with open_scripted_app(ASKS) as scripted:
        run = await scripted.run_to_end()
        (asked,) = await scripted.app.runs.questions.list_pending(run.id)
        again = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
        (still,) = await scripted.app.runs.questions.list_pending(run.id)
    assert (again.status, again.attempt) == ("blocked", 2)
    assert asked.id == still.id


async def test_two_questions_of_one_step_are_asked_together_and_decided_separately(home: Path):
    turns = play_turns(ModelTurn(calls=[("send", {"text": "a"}), ("enter", {})]), ModelTurn(text="End."))
    async with open_scripted_app(turns) as scripted:
        run = await scripted.run_to_end()
        asked = {each.tool: each for each in await scripted.app.runs.questions.list_pending(run.id)}
        assert (asked["send"].kind, asked["enter"].kind) == ("approval", "authentication")
        assert asked["enter"].details == {"provider": "shop"}
        await scripted.app.runs.questions.decide(asked["send"].id, "approved")
        half = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
        assert half.status == "blocked"
        await scripted.app.runs.questions.decide(asked["enter"].id, "approved")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
    assert ended.status == "completed"
    assert "in, from half way" in scripted.model_server.requests[1].results[1]
    assert len(read_ledger_lines(home)) == 1


async def test_an_agent_of_a_workspace_can_only_raise_stakes():
    async with open_scripted_app(
        play_turns(ModelTurn(calls=[("send", {"text": "x"}), ("note", {"text": "y"})]), ModelTurn(text="."))
    ) as scripted:
        strange = await scripted.run_to_end(origin="workspace", stakes={"send": "never_ask", "note": "high"})
        asked = {each.tool for each in await scripted.app.runs.questions.list_pending(strange.id)}
        ours = await scripted.run_to_end(origin="home", stakes={"send": "never_ask"})
    assert (strange.status, asked) == ("blocked", {"send", "note"})
    assert ours.status == "completed"


async def test_cancelling_a_blocked_run_ends_it():
    async with open_scripted_app(ASKS) as scripted:
        run = await scripted.run_to_end()
        await scripted.app.runs.cancel(run.id)
        assert (await scripted.app.runs.get(run.id)).status == "cancelled"
        assert (await scripted.app.runs.resume(run.id)).status == "cancelled"


async def test_cancelling_stops_the_model_and_the_followers():
    held = anyio.Event()
    async with open_scripted_app(play_turns(ModelTurn(text="Never to be finished.", wait_between=held))) as scripted:
        run = await scripted.start_run()
        async for event in scripted.app.runs.follow(run.id):
            if event.kind == "text":
                await scripted.app.runs.cancel(run.id)
        ended = await scripted.app.runs.get(run.id)
        held.set()
    assert (ended.status, ended.stop_reason) == ("cancelled", "cancelled")


async def test_tools_that_are_not_offered_are_named(home: Path):
    from outrider.core.errors import NotFound

    async with open_scripted_app(ASKS) as scripted:
        with pytest.raises(NotFound) as caught:
            await scripted.start_run(toolsets=["ledgr"])
    assert "ledger" in caught.value.hint
    assert not isinstance(caught.value, Refused)
