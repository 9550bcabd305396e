"""Test that limits stop runs and keep their partial answers."""

from typing import Any

import anyio
import pytest

from support.apps.agent_runs import open_scripted_app
from support.fakes.model_apis import ModelTurn, ScriptedRequest, play_turns


def call_tool_forever(asked: ScriptedRequest) -> ModelTurn:
    if asked.body.get("tool_choice") == "none":
        return ModelTurn(text="What I have: little.")
    return ModelTurn(text=f"Step {asked.turn_count + 1}.", calls=[("count", {})])


async def test_after_its_steps_a_run_sums_up_once_without_tools():
    async with open_scripted_app(call_tool_forever) as scripted:
        run = await scripted.run_to_end(budgets={"steps": 3})
    assert (run.status, run.stop_reason, run.answer) == ("partial", "steps", "What I have: little.")
    assert run.usage["requests"] == 4


async def test_a_run_that_needs_all_its_steps_is_complete():
    async with open_scripted_app(play_turns(ModelTurn(calls=[("count", {})]), ModelTurn(text="Done."))) as scripted:
        run = await scripted.run_to_end(budgets={"steps": 2})
    assert (run.status, run.stop_reason) == ("completed", "done")


@pytest.mark.parametrize(
    ("budget", "reason"), [({"tokens": 250}, "tokens"), ({"cost": 0.0025}, "cost")], ids=["tokens", "cost"]
)
async def test_tokens_and_money_are_limits(budget: dict[str, Any], reason: str):
    async with open_scripted_app(call_tool_forever) as scripted:
        profiles = scripted.app.loaded.settings.models.profiles
        from outrider.agents.settings import TokenPrice

        profiles["scripted"] = profiles["scripted"].model_copy(update={"price": TokenPrice(input=10, output=10)})
        run = await scripted.run_to_end(budgets=budget)
    assert (run.status, run.stop_reason, run.answer) == ("partial", reason, "Step 3.")
    assert run.cost == pytest.approx(0.0033)


async def test_the_time_limit_ends_a_run_in_the_middle_of_an_answer():
    held = anyio.Event()
    async with open_scripted_app(
        lambda asked: ModelTurn(text="A long answer, never finished.", wait_between=held)
    ) as scripted:
        run = await scripted.run_to_end(budgets={"seconds": 1})
        for seconds in (5, 25, 125):  # a busy machine needs longer for the first word
            if not run.answer:
                run = await scripted.run_to_end(budgets={"seconds": seconds})
        held.set()
    assert (run.status, run.stop_reason) == ("partial", "time")
    assert run.answer.startswith("A long")


async def test_repeating_one_call_is_reported_to_the_model_and_ends_the_run():
    async with open_scripted_app(play_turns(ModelTurn(text="Again.", calls=[("look", {"text": "a"})]))) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.stop_reason, run.answer) == ("partial", "repetition", "Again.")
    assert len(scripted.model_server.requests) == 5
    assert "same call 3 times" in scripted.model_server.requests[3].results[-1]


@pytest.mark.nightly
async def test_loops_are_detected_despite_random_parts_of_results():
    looping_calls = {
        "boundary": ("overhear", {}),
        "boundary within a boundary": ("overhear_marked", {}),
        "references of sources": ("find_anew", {}),
        "made-up ids": ("open_anew", {}),
        "number of a bug": ("break_down", {}),
    }
    for random_part, call in looping_calls.items():
        async with open_scripted_app(play_turns(ModelTurn(text="Again.", calls=[call]))) as scripted:
            run = await scripted.run_to_end()
        assert (run.status, run.stop_reason) == ("partial", "repetition"), random_part
        assert len(scripted.model_server.requests) == 5, random_part
        assert "same call 3 times" in scripted.model_server.requests[3].results[-1], random_part


async def test_returning_to_a_list_between_its_entries_is_not_a_loop():
    def browse(asked: ScriptedRequest) -> ModelTurn:
        if asked.turn_count == 12:
            return ModelTurn(text="Six.")
        return ModelTurn(calls=[("count" if asked.turn_count % 2 else "overhear", {})])

    async with open_scripted_app(browse) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.answer) == ("completed", "Six.")


async def test_the_same_call_with_new_results_is_not_a_loop():
    def patient(asked: ScriptedRequest) -> ModelTurn:
        return ModelTurn(calls=[("count", {})]) if asked.turn_count < 8 else ModelTurn(text="Eight.")

    async with open_scripted_app(patient) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.answer) == ("completed", "Eight.")


async def test_the_apps_budgets_hold_for_agents_of_a_workspace():
    async with open_scripted_app(call_tool_forever, agents={"budgets": {"steps": 2}}) as scripted:
        strange = await scripted.start_run(budgets={"steps": 900}, origin="workspace")
        ours = await scripted.start_run(budgets={"steps": 3}, origin="home")
        assert (strange.budgets["steps"], ours.budgets["steps"]) == (2, 3)
        await scripted.wait_for_end(strange)
        await scripted.wait_for_end(ours)
