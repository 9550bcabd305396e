"""Test how runs survive errors of models, providers and tools."""

import json

import pytest

from support.apps.agent_runs import open_scripted_app
from support.fakes.model_apis import ModelTurn, ScriptedRequest, play_turns


@pytest.mark.parametrize(
    "fault",
    [ModelTurn(status=503), ModelTurn(status=429, headers={"retry-after": "0"}), ModelTurn(text="Half", cut_off=True)],
)
async def test_transient_failures_are_retried(fault: ModelTurn):
    answers = iter([fault])
    async with open_scripted_app(lambda asked: next(answers, ModelTurn(text="Whole."))) as scripted:
        run = await scripted.start_run()
        events = await scripted.collect_events(run)
        ended = await scripted.app.runs.get(run.id)
    assert (ended.status, ended.answer) == ("completed", "Whole.")
    assert {"status": "running", "restarted": 1} in [event.data for event in events]


@pytest.mark.parametrize(
    "fault",
    [ModelTurn(status=401), ModelTurn(status=500), ModelTurn(garbage=True), ModelTurn(cut_off=True, text="x" * 50)],
)
@pytest.mark.nightly
async def test_the_next_model_of_the_chain_replaces_a_failing_one(fault: ModelTurn):
    def play(asked: ScriptedRequest) -> ModelTurn:
        return fault if asked.body["model"] == "bad" else ModelTurn(text="From the other.")

    async with open_scripted_app(play) as scripted:
        url = scripted.app.loaded.settings.models.profiles["scripted"].base_url
        profiles = scripted.app.loaded.settings.models.profiles
        profiles["bad"] = profiles["scripted"].model_copy(update={"model": "bad", "base_url": url})
        run = await scripted.run_to_end(model=["bad", "scripted"])
    assert (run.status, run.answer, run.model) == ("completed", "From the other.", "compatible:scripted")


async def test_a_provider_that_fails_permanently_ends_the_run_and_gives_the_reason():
    async with open_scripted_app(
        play_turns(ModelTurn(text="I begin.", calls=[("look", {"text": "a"})]), ModelTurn(status=404))
    ) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.stop_reason, run.answer) == ("failed", "model_error", "I begin.")
    assert run.error is not None
    assert run.error["code"] == "model_error"
    # On a busy machine, an earlier request may have timed out; it is retried and named first.
    assert run.error["message"].endswith("compatible:scripted: HTTP 404: scripted: Bearer [key]")


async def test_invented_tools_and_broken_arguments_are_answered_with_what_is_wrong():
    calls = [("lok", {"to": "Mars"}), ("look", '{"text": '), ("look", {"colour": 5})]
    async with open_scripted_app(play_turns(ModelTurn(calls=calls), ModelTurn(text="I see."))) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.answer) == ("completed", "I see.")
    unknown, broken, wrong = scripted.model_server.requests[1].results
    assert "no tool 'lok'; did you mean look or unlock?" in unknown
    assert len(unknown) < 120, "the other tools are not listed"
    assert "JSON" in broken or "json" in broken
    assert "colour: no such parameter" in wrong


async def test_a_model_that_gives_only_invalid_responses_is_stopped():
    async with open_scripted_app(play_turns(ModelTurn(calls=[("fly", {})]))) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.stop_reason) == ("failed", "nonsense")
    assert len(scripted.model_server.requests) < 10
    assert run.error is not None
    assert run.error["message"] == "the model gave 5 invalid responses, the last: Unknown tool name: 'fly'"


async def test_a_web_page_instead_of_an_answer_is_reported_with_the_setting_to_check():
    async with open_scripted_app(play_turns(ModelTurn(garbage=True))) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.stop_reason) == ("failed", "model_error")
    assert run.error is not None
    assert "check that base_url leads to a model's API" in run.error["message"]


async def test_tool_failures_give_the_model_a_hint_and_bugs_reveal_no_details():
    async with open_scripted_app(
        play_turns(ModelTurn(calls=[("fail", {}), ("break_down", {})]), ModelTurn(text="Well."))
    ) as scripted:
        run = await scripted.run_to_end()
    assert run.status == "completed"
    failed, bug = scripted.model_server.requests[1].results
    assert "the shop is closed" in failed
    assert "go to another shop" in failed
    assert "incident" in bug
    assert "secret detail" not in bug


async def test_untrusted_text_is_marked_as_such():
    async with open_scripted_app(
        play_turns(ModelTurn(calls=[("overhear", {})]), ModelTurn(text="I do not."))
    ) as scripted:
        await scripted.run_to_end()
    result = scripted.model_server.requests[1].results[0]
    assert result.startswith("<untrusted-")
    assert "evil.example" in result
    assert "never an instruction" in scripted.model_server.requests[0].text


async def test_calls_that_share_an_id_are_distinguished():
    """The script's chat format names every first call `call_0`, so two steps use the same id."""
    turns = play_turns(
        ModelTurn(calls=[("note", {"text": "a"})]), ModelTurn(calls=[("note", {"text": "b"})]), ModelTurn(text="Both.")
    )
    async with open_scripted_app(turns) as scripted:
        run = await scripted.run_to_end()
        steps = await scripted.app.runs.steps.list_steps(run.id)
    assert run.answer == "Both."
    assert [(each["key"], each["outcome"]) for each in steps if each["kind"] == "tool"] == [
        ("call_0", "ok"),
        ("call_0_2", "ok"),
    ]


async def test_a_content_filter_refusal_ends_the_run_as_refused():
    async with open_scripted_app(play_turns(ModelTurn(finish_reason="content_filter"))) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.stop_reason) == ("failed", "refused")


async def test_without_a_model_the_error_names_the_three_ways():
    from outrider.core.errors import NotConfigured

    async with open_scripted_app(play_turns(ModelTurn())) as scripted:
        scripted.app.loaded.settings.models.default.clear()
        with pytest.raises(NotConfigured) as caught:
            await scripted.start_run()
    assert caught.value.code == "no_model"
    for way in ("ANTHROPIC_API_KEY", "Ollama", "settings.json"):
        assert way in caught.value.hint


async def test_a_run_keeps_the_agent_that_it_began_with():
    async with open_scripted_app(play_turns(ModelTurn(text="x"))) as scripted:
        run = await scripted.run_to_end(tools=["look"], toolsets=[])
    assert scripted.model_server.requests[0].tool_names == ["look"]
    assert run.definition["tools"] == ["look"]
    assert json.dumps(run.definition)
