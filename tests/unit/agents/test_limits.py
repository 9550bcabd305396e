"""Agents that would not stop by themselves are stopped, and what they had found by then is kept."""

from typing import Any

import anyio
import pytest

from support.apps.agent_runs import office
from support.fakes.model_apis import Asked, Turn, script


def busy(asked: Asked) -> Turn:
    if asked.body.get("tool_choice") == "none":
        return Turn(text="What I have: little.")
    return Turn(text=f"Step {asked.turns + 1}.", calls=[("count", {})])


async def test_after_its_steps_a_run_sums_up_once_without_tools():
    async with office(busy) as house:
        run = await house.run(budgets={"steps": 3})
    assert (run.status, run.stop_reason, run.answer) == ("partial", "steps", "What I have: little.")
    assert run.usage["requests"] == 4


async def test_a_run_that_needs_all_its_steps_is_complete():
    async with office(script(Turn(calls=[("count", {})]), Turn(text="Done."))) as house:
        run = await house.run(budgets={"steps": 2})
    assert (run.status, run.stop_reason) == ("completed", "done")


@pytest.mark.parametrize(
    ("budget", "reason"), [({"tokens": 250}, "tokens"), ({"cost": 0.0025}, "cost")], ids=["tokens", "cost"]
)
async def test_tokens_and_money_are_limits(budget: dict[str, Any], reason: str):
    async with office(busy) as house:
        profiles = house.app.loaded.settings.models.profiles
        from outrider.agents.settings import Price

        profiles["scripted"] = profiles["scripted"].model_copy(update={"price": Price(input=10, output=10)})
        run = await house.run(budgets=budget)
    assert (run.status, run.stop_reason, run.answer) == ("partial", reason, "Step 3.")
    assert run.cost == pytest.approx(0.0033)


async def test_time_ends_a_run_in_the_middle_of_a_word():
    held = anyio.Event()
    answers = iter([Turn(text="Short.")])
    async with office(lambda asked: next(answers, Turn(text="A long answer, never finished.", between=held))) as house:
        await house.run()  # loads what is heavy
        held_again = await house.run(budgets={"seconds": 1})
        held.set()
    assert (held_again.status, held_again.stop_reason) == ("partial", "time")
    assert held_again.answer.startswith("A long")


async def test_going_in_circles_is_noticed_told_and_ended():
    async with office(script(Turn(text="Again.", calls=[("look", {"text": "a"})]))) as house:
        run = await house.run()
    assert (run.status, run.stop_reason, run.answer) == ("partial", "repetition", "Again.")
    assert len(house.server.asked) == 5
    assert "same call 3 times" in house.server.asked[3].results[-1]


async def test_the_same_call_with_new_results_is_no_circle():
    def patient(asked: Asked) -> Turn:
        return Turn(calls=[("count", {})]) if asked.turns < 8 else Turn(text="Eight.")

    async with office(patient) as house:
        run = await house.run()
    assert (run.status, run.answer) == ("completed", "Eight.")


async def test_the_houses_budgets_hold_for_agents_of_a_workspace():
    async with office(busy, agents={"budgets": {"steps": 2}}) as house:
        strange = await house.begin(budgets={"steps": 900}, origin="workspace")
        ours = await house.begin(budgets={"steps": 3}, origin="home")
        assert (strange.budgets["steps"], ours.budgets["steps"]) == (2, 3)
        await house.end(strange)
        await house.end(ours)
