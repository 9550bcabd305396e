"""Test thinking, text and tools in every wire format over HTTP."""

import json

import pytest

from support.apps.agent_runs import SCRIPTED_API_KEY, open_scripted_app
from support.fakes.model_apis import API_FORMATS, ModelTurn, ScriptedRequest, play_turns


@pytest.mark.parametrize("wire", API_FORMATS)
async def test_thinking_text_and_tools_arrive_in_every_format(wire: str):
    turns = play_turns(
        ModelTurn(thinking="First I look.", text="Looking.", calls=[("look", {"text": "a"}), ("note", {"text": "b"})]),
        ModelTurn(thinking="Now I know.", text="It is **done**: ü.", tokens=(200, 20)),
    )
    async with open_scripted_app(turns, wire) as scripted:
        run = await scripted.start_run("What is there?")
        events = await scripted.collect_events(run)
        ended = await scripted.app.runs.get(run.id)
    assert (ended.status, ended.stop_reason, ended.answer) == ("completed", "done", "It is **done**: ü.")
    assert ended.thoughts == "First I look.\n\nNow I know."
    assert (ended.usage["requests"], ended.usage["input_tokens"], ended.usage["output_tokens"]) == (2, 300, 30)

    def join_deltas(kind: str, step: int) -> str:
        return "".join(event.data["text"] for event in events if event.kind == kind and event.data["step"] == step)

    assert (join_deltas("thinking", 1), join_deltas("text", 1), join_deltas("text", 2)) == (
        "First I look.",
        "Looking.",
        "It is **done**: ü.",
    )
    started = {event.data["tool"]: event.data for event in events if event.kind == "tool_started"}
    assert json.loads(started["look"]["arguments"]) == {"text": "a"}
    outcomes = {event.data["tool"]: event.data["outcome"] for event in events if event.kind == "tool_ended"}
    assert outcomes == {"look": "ok", "note": "ok"}
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    asked = scripted.model_server.requests
    assert "What is there?" in asked[0].text
    assert {"look", "note", "send"} <= set(asked[0].tool_names)
    assert ["seen: a" in result or "noted: b" in result for result in asked[1].results] == [True, True]


@pytest.mark.parametrize("wire", API_FORMATS)
async def test_the_key_reaches_the_provider_and_nothing_else(wire: str, home):
    async with open_scripted_app(play_turns(ModelTurn(status=400)), wire) as scripted:
        run = await scripted.run_to_end()
        assert SCRIPTED_API_KEY in json.dumps(dict(scripted.model_server.requests[0].headers))
        assert (run.status, run.stop_reason) == ("failed", "model_error")
        assert "HTTP 400" in run.error["message"]
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"scripted" in kept
    assert SCRIPTED_API_KEY.encode() not in kept


async def test_repeated_prefixes_are_cached_and_counted_on_anthropics_api():
    turns = play_turns(ModelTurn(calls=[("look", {"text": "a"})]), ModelTurn(text="Done.", cached=80))
    async with open_scripted_app(turns, "anthropic") as scripted:
        run = await scripted.run_to_end()
        bodies = [request.body for request in scripted.model_server.requests]
    assert run.usage["cached_tokens"] == 80
    for body in bodies:
        assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
        assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
        assert body["messages"][-1]["content"][-1]["cache_control"]["type"] == "ephemeral"
    assert bodies[0]["tools"] == bodies[1]["tools"]
    assert bodies[0]["system"] == bodies[1]["system"]


async def test_a_conversation_continues_where_it_was():
    def play(asked: ScriptedRequest) -> ModelTurn:
        return ModelTurn(text=f"Turn {asked.turn_count}.", thinking="Hm.")

    async with open_scripted_app(play) as scripted:
        first = await scripted.run_to_end("One?")
        conversation = await scripted.app.runs.conversations.get(first.conversation_id)
        agent = (await scripted.app.runs.get(first.id)).definition
        from outrider.agents.assignment import Assignment
        from outrider.agents.definition import Agent
        from outrider.core.context import Call

        second = await scripted.app.runs.start(Agent(**agent), Assignment("Two?"), Call(), conversation)
        ended = await scripted.wait_for_end(second)
    assert (first.answer, ended.answer) == ("Turn 0.", "Turn 1.")
    assert "One?" in scripted.model_server.requests[1].text


@pytest.mark.parametrize("keep", [True, False])
async def test_thoughts_are_saved_only_if_the_operator_enables_it(keep: bool):
    async with open_scripted_app(
        lambda asked: ModelTurn(text="Done.", thinking="A secret plan."), agents={"keep_thoughts": keep}
    ) as scripted:
        run = await scripted.run_to_end()
    assert run.answer == "Done."
    assert (run.thoughts == "A secret plan.") is keep
