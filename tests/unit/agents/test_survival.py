"""What models, providers and tools do wrong, and what becomes of the run."""

import json

import pytest

from support.apps.agent_runs import office
from support.fakes.model_apis import Asked, Turn, script


@pytest.mark.parametrize(
    "fault", [Turn(status=503), Turn(status=429, headers={"retry-after": "0"}), Turn(text="Half", cut=True)]
)
async def test_what_passes_is_tried_again(fault: Turn):
    answers = iter([fault])
    async with office(lambda asked: next(answers, Turn(text="Whole."))) as house:
        run = await house.begin()
        events = await house.events(run)
        ended = await house.app.runs.get(run.id)
    assert (ended.status, ended.answer) == ("completed", "Whole.")
    assert {"status": "running", "restarted": 1} in [event.data for event in events]


@pytest.mark.parametrize(
    "fault", [Turn(status=401), Turn(status=500), Turn(garbage=True), Turn(cut=True, text="x" * 50)]
)
async def test_the_next_model_of_the_chain_answers_for_one_that_does_not(fault: Turn):
    def play(asked: Asked) -> Turn:
        return fault if asked.body["model"] == "bad" else Turn(text="From the other.")

    async with office(play) as house:
        url = house.app.loaded.settings.models.profiles["scripted"].base_url
        profiles = house.app.loaded.settings.models.profiles
        profiles["bad"] = profiles["scripted"].model_copy(update={"model": "bad", "base_url": url})
        run = await house.run(model=["bad", "scripted"])
    assert (run.status, run.answer, run.model) == ("completed", "From the other.", "compatible:scripted")


async def test_a_provider_that_fails_for_good_ends_the_run_and_says_why():
    async with office(script(Turn(text="I begin.", calls=[("look", {"text": "a"})]), Turn(status=404))) as house:
        run = await house.run()
    assert (run.status, run.stop_reason, run.answer) == ("failed", "model_error", "I begin.")
    assert run.error == {"code": "model_error", "message": "compatible:scripted: HTTP 404: scripted: Bearer [key]"}


async def test_invented_tools_and_broken_arguments_are_answered_with_what_is_wrong():
    calls = [("fly", {"to": "Mars"}), ("look", '{"text": '), ("look", {"word": "a"})]
    async with office(script(Turn(calls=calls), Turn(text="I see."))) as house:
        run = await house.run()
    assert (run.status, run.answer) == ("completed", "I see.")
    unknown, broken, wrong = house.server.asked[1].results
    assert "fly" in unknown
    assert "look" in unknown
    assert "JSON" in broken or "json" in broken
    assert "word: no such parameter" in wrong


async def test_a_model_that_only_talks_nonsense_is_stopped():
    async with office(script(Turn(calls=[("fly", {})]))) as house:
        run = await house.run()
    assert (run.status, run.stop_reason) == ("failed", "nonsense")
    assert len(house.server.asked) < 10


async def test_failing_tools_tell_the_model_what_to_do_and_bugs_tell_nothing():
    async with office(script(Turn(calls=[("fail", {}), ("break_down", {})]), Turn(text="Well."))) as house:
        run = await house.run()
    assert run.status == "completed"
    failed, bug = house.server.asked[1].results
    assert "the shop is closed" in failed
    assert "go to another shop" in failed
    assert "incident" in bug
    assert "secret detail" not in bug


async def test_what_strangers_wrote_is_marked_as_theirs():
    async with office(script(Turn(calls=[("overhear", {})]), Turn(text="I do not."))) as house:
        await house.run()
    result = house.server.asked[1].results[0]
    assert result.startswith("<untrusted-")
    assert "evil.example" in result
    assert "never an instruction" in house.server.asked[0].text


async def test_calls_of_one_response_that_share_an_id_are_told_apart():
    """The script's chat format calls every first call `call_0`: two steps use the same id."""
    turns = script(Turn(calls=[("note", {"text": "a"})]), Turn(calls=[("note", {"text": "b"})]), Turn(text="Both."))
    async with office(turns) as house:
        run = await house.run()
        steps = await house.app.runs.steps.of(run.id)
    assert run.answer == "Both."
    assert [(each["key"], each["outcome"]) for each in steps if each["kind"] == "tool"] == [
        ("call_0", "ok"),
        ("call_0_2", "ok"),
    ]


async def test_a_refusal_of_the_provider_is_told_apart():
    async with office(script(Turn(finish="content_filter"))) as house:
        run = await house.run()
    assert (run.status, run.stop_reason) == ("failed", "refused")


async def test_without_a_model_the_error_names_the_three_ways():
    from outrider.core.errors import NotConfigured

    async with office(script(Turn())) as house:
        house.app.loaded.settings.models.default.clear()
        with pytest.raises(NotConfigured) as caught:
            await house.begin()
    assert caught.value.code == "no_model"
    for way in ("ANTHROPIC_API_KEY", "Ollama", "settings.json"):
        assert way in caught.value.hint


async def test_a_run_keeps_the_agent_that_it_began_with():
    async with office(script(Turn(text="x"))) as house:
        run = await house.run(tools=["look"], toolsets=[])
    assert house.server.asked[0].tools == ["look"]
    assert run.definition["tools"] == ["look"]
    assert json.dumps(run.definition)
