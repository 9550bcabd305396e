"""Test that long runs stay within the context window without losing sources."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from outrider.agents.assignment import Assignment
from outrider.agents.definition import Agent, Budgets
from outrider.agents.runtime.context_window import BYTES_PER_TOKEN, ContextWindow
from outrider.app import open_app
from outrider.core.context import Call
from outrider.settings import load
from support.apps.agent_runs import SCRIPTED_API_KEY, ScriptedApp, build_model_settings, open_scripted_app, start_run
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest
from support.timeouts import SCENARIO_TIMEOUT_S

PAGE_COUNT = 9
LIMIT = 5_000
FINDINGS = "Findings: tea [p01], hills [p02]."


def read_pages(
    pages: int = PAGE_COUNT, *, summary: ModelTurn | None = None, max_bytes: int = 10**9
) -> Callable[[ScriptedRequest], ModelTurn]:
    """A model that reads one page after another; it rejects requests of more than `most` bytes."""
    read = 0

    def play(asked: ScriptedRequest) -> ModelTurn:
        nonlocal read
        if "Summarise the work below" in asked.text:
            return summary or ModelTurn(text=FINDINGS)
        if len(asked.text) > max_bytes:
            return ModelTurn(status=400, message="this model's maximum context length is 4096 tokens")
        read += 1
        return (
            ModelTurn(calls=[("read_page", {"number": read})])
            if read <= pages
            else ModelTurn(text="Tea :cite[p01] :cite[p09].")
        )

    return play


def list_step_requests(asked: list[ScriptedRequest]) -> list[ScriptedRequest]:
    """Return the requests that do not ask for a summary."""
    return [each for each in asked if "Summarise the work below" not in each.text]


def list_calls_and_results(asked: ScriptedRequest) -> tuple[list[str], list[str]]:
    """Return the ids of the calls and of the results in a request, in order."""
    calls, results = [], []
    for message in asked.body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        calls += [each["id"] for each in message.get("tool_calls") or ()]
        calls += [each["id"] for each in blocks if each["type"] == "tool_use"]
        results += [message["tool_call_id"]] if message["role"] == "tool" else []
        results += [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    return calls, results


@pytest.mark.parametrize("wire", ["chat", "anthropic"])
@pytest.mark.nightly
async def test_a_long_run_stays_below_its_limit_and_ends_normally(wire: str):
    async with open_scripted_app(read_pages(), wire) as scripted:
        run = await scripted.run_to_end("Read about tea.", budgets={"context": LIMIT})
    assert (run.status, run.stop_reason) == ("completed", "done")
    requests = list_step_requests(scripted.model_server.requests)
    assert len(requests) == PAGE_COUNT + 1
    assert max(len(json.dumps(each.body["messages"])) / BYTES_PER_TOKEN for each in requests) < LIMIT * 1.1
    for each in requests:
        calls, results = list_calls_and_results(each)
        assert calls == results
        assert "Read about tea." in each.text
    assert "Page 9 ends." in requests[-1].text


async def test_removed_results_can_still_be_cited():
    async with open_scripted_app(read_pages()) as scripted:
        run = await scripted.run_to_end(budgets={"context": LIMIT})
    last = list_step_requests(scripted.model_server.requests)[-1]
    for number in range(1, PAGE_COUNT + 1):
        assert f"[p{number:02}] Page {number} <https://pages.example/{number}>" in last.text
    assert set(run.citations) == {f"p{number:02}" for number in range(1, PAGE_COUNT + 1)}


@pytest.mark.nightly
async def test_old_results_are_removed_before_anything_is_summarised():
    async with open_scripted_app(read_pages(5)) as scripted:
        await scripted.run_to_end(budgets={"context": LIMIT})
    assert len(list_step_requests(scripted.model_server.requests)) == len(scripted.model_server.requests)
    assert "removed to save space; call the tool again" in scripted.model_server.requests[-1].text
    assert "Page 5 ends." in scripted.model_server.requests[-1].text


@pytest.mark.nightly
async def test_the_model_summarises_the_middle_once_removing_results_is_not_enough():
    async with open_scripted_app(read_pages(30)) as scripted:
        run = await scripted.run_to_end("Read about tea.", budgets={"context": LIMIT, "steps": 100})
    assert run.status == "completed"
    assert len(scripted.model_server.requests) > len(list_step_requests(scripted.model_server.requests))
    assert FINDINGS in list_step_requests(scripted.model_server.requests)[-1].text
    assert run.usage["requests"] == len(scripted.model_server.requests)


async def test_a_summary_that_fails_is_made_without_a_model():
    async with open_scripted_app(read_pages(30, summary=ModelTurn(status=500))) as scripted:
        run = await scripted.run_to_end(budgets={"context": LIMIT, "steps": 100})
    assert run.status == "completed"
    assert "Called read_page" in list_step_requests(scripted.model_server.requests)[-1].text


async def test_a_request_that_is_too_long_for_the_model_is_shortened_and_sent_again():
    async with open_scripted_app(read_pages(6, max_bytes=20_000)) as scripted:
        run = await scripted.run_to_end()
    assert run.status == "completed"
    refused = [at for at, each in enumerate(scripted.model_server.requests) if len(each.text) > 20_000]
    assert len(refused) == 1
    assert len(scripted.model_server.requests) == 6 + 1 + 1


async def test_the_next_question_of_a_conversation_starts_from_the_shortened_history():
    async with open_scripted_app(read_pages(30)) as scripted:
        agent = Agent(name="t", description="t", instructions="t", toolsets=["ledger"])
        agent = agent.model_copy(update={"budgets": Budgets(context=LIMIT, steps=100)})
        conversation = await scripted.app.runs.conversations.create(Call(), "t", title="t")
        await scripted.wait_for_end(await scripted.app.runs.start(agent, Assignment("First."), Call(), conversation))
        before = len(scripted.model_server.requests)
        await scripted.wait_for_end(await scripted.app.runs.start(agent, Assignment("Second."), Call(), conversation))
    (second,) = scripted.model_server.requests[before:]
    assert "Second." in second.text
    assert FINDINGS in second.text


@pytest.mark.nightly
async def test_a_run_that_another_worker_takes_up_is_not_summarised_a_second_time():
    reached, gate = anyio.Event(), anyio.Event()
    play, budgets = read_pages(40), {"context": LIMIT, "steps": 100}

    def play_until_gate(asked: ScriptedRequest) -> ModelTurn:
        turn = play(asked)
        if {"number": 36} not in [arguments for _, arguments in turn.calls]:
            return turn
        reached.set()
        return replace(turn, until=gate)

    server = ModelServer(play_until_gate)
    async with http_servers.serve_app(server.build_app()) as url:
        loaded = load(build_model_settings(url), environ={"SCRIPTED_KEY": SCRIPTED_API_KEY})
        async with open_app(loaded) as app:
            run = await start_run(app, "Read.", budgets=budgets)
            with anyio.fail_after(SCENARIO_TIMEOUT_S):
                await reached.wait()
        before = [each.text for each in server.requests]
        gate.set()
        async with open_app(loaded) as app:
            await app.runs.recover_runs()
            ended = await ScriptedApp(app, server).wait_for_end(run)
    assert ended.status == "completed"
    summaries = [text for text in before if "Summarise the work below" in text]
    assert summaries
    assert not set(summaries) & {each.text for each in server.requests[len(before) :]}
    assert FINDINGS in server.requests[-1].text


CALL_SIZES = st.lists(st.lists(st.integers(0, 4_000), min_size=0, max_size=4), min_size=1, max_size=14)


@given(CALL_SIZES, st.integers(500, 8_000))
def test_a_call_is_never_separated_from_its_result(steps: list[list[int]], limit: int):
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("Go.")])]
    nothing = ModelRequestParameters()
    window = ContextWindow(limit, "Go.", {"abc": {"title": "A", "href": "https://a.example"}})
    for step, sizes in enumerate(steps):
        calls = [ToolCallPart("t", {"n": at}, tool_call_id=f"{step}.{at}") for at in range(len(sizes))]
        messages.append(ModelResponse(parts=[TextPart("I go on."), *calls]))
        results = [
            ToolReturnPart("t", f"[abc] {'x' * size}", tool_call_id=f"{step}.{at}") for at, size in enumerate(sizes)
        ]
        messages.append(ModelRequest(parts=results or [UserPromptPart("Go on.")]))
        fit_context(window, messages, nothing)
        shown = window.render_messages(messages)
        assert isinstance(shown[0], ModelRequest)
        assert _ids(shown, ToolCallPart) == _ids(shown, ToolReturnPart)
        assert any(isinstance(part, UserPromptPart) and "Go." in str(part.content) for part in shown[0].parts)
        assert [f"{step}.{at}" for at in range(len(sizes))] == _ids(shown[-1:], ToolReturnPart)


def fit_context(window: ContextWindow, messages: list[ModelMessage], parameters: ModelRequestParameters) -> None:
    if not window.is_over_limit(messages, parameters):
        return
    window.prune_results(messages, parameters)
    end = window.find_boundary(messages)
    if end and window.is_over_limit(messages, parameters):
        window.apply_summary(messages, end, window.summarize_calls(messages, end))
    if window.is_over_limit(messages, parameters):
        window.truncate_results(messages, parameters)


def _ids(messages: list[ModelMessage], kind: Any) -> list[str]:
    return [part.tool_call_id for each in messages for part in each.parts if isinstance(part, kind)]
