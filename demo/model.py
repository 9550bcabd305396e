"""A scripted model that speaks OpenAI's wire format on loopback, so that the demo needs no key.

It searches, reads the first pages, opens the best one in a browser if there is one, and answers with the sentence that
matches the question best.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from demo.agent import ToolAnswer
from demo.evidence import find_best_quotes
from outrider.core.text import count_tokens

MAX_PAGES = 2
SOURCE_PATTERN = re.compile(r"^\[(\w{3})\] .*<(\S+)>$", re.MULTILINE)  # reference and URL in a search result
SESSION_PATTERN = re.compile(r"Session (\S+)")
BROWSER_STEPS = {"snapshotPage": "The page is open. I look at it.", "closeSession": "I am done and close the browser."}
NO_ANSWER = "I found nothing about this."


@dataclass(frozen=True)
class FinishedCall:
    """A tool call of the conversation so far, with its result."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class ModelTurn:
    """A response of the model: reasoning, then text or tool calls."""

    thinking: str
    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


@asynccontextmanager
async def serve_model() -> AsyncGenerator[str]:
    """Serve the model on a free loopback port; yield the base URL of its API."""
    numbers = count(1)

    async def completions(request: Request) -> StreamingResponse:
        body = await request.json()
        return StreamingResponse(
            _stream_turn(body, choose_next_turn(body), next(numbers)), media_type="text/event-stream"
        )

    app = Starlette(routes=[Route("/v1/chat/completions", completions, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off", ws="none"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        with anyio.fail_after(20):
            while not server.started:
                await anyio.lowlevel.checkpoint()
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
        finally:
            server.should_exit = server.force_exit = True


def choose_next_turn(body: Mapping[str, Any]) -> ModelTurn:
    """Return the next turn of the conversation in a request."""
    question = next(each["content"] for each in body["messages"] if each["role"] == "user")
    tools = {each["function"]["name"] for each in body["tools"]}
    finished = _list_finished_calls(body["messages"])
    used = {each.tool for each in finished}
    if "websearch" not in used:
        return ModelTurn("I search the web for it.", calls=[("websearch", {"query": question})])
    sources = {
        url: name for each in finished if each.tool == "websearch" for name, url in SOURCE_PATTERN.findall(each.result)
    }
    if "webbrowser" not in used and sources:
        calls = [("webbrowser", {"urls": [url]}) for url in list(sources)[:MAX_PAGES]]
        return ModelTurn(
            f"The search found {len(sources)} pages. I read the best {len(calls)} in parallel.", calls=calls
        )
    found = _find_answer(question, finished)
    if found and "createSession" in tools and (looking := _choose_browser_step(found[0], finished, used)):
        return looking
    return ModelTurn("I can answer now.", f"{found[1]} :cite[{sources[found[0]]}]" if found else NO_ANSWER)


def _choose_browser_step(url: str, finished: Sequence[FinishedCall], used: set[str]) -> ModelTurn | None:
    """Return the next browser call; None once all are made, or if the person refused."""
    if "createSession" not in used:
        return ModelTurn("One of them has the answer. I open it in a browser.", calls=[("createSession", {"url": url})])
    opened = SESSION_PATTERN.search(next(each.result for each in finished if each.tool == "createSession"))
    rest = [name for name in BROWSER_STEPS if name not in used]
    return ModelTurn(BROWSER_STEPS[rest[0]], calls=[(rest[0], {"sessionId": opened[1]})]) if opened and rest else None


def _find_answer(question: str, finished: Sequence[FinishedCall]) -> tuple[str, str] | None:
    """Return the URL of the page that answers best, and its quote."""
    pages = {each.arguments["urls"][0]: _wrap_passage(each.result) for each in finished if each.tool == "webbrowser"}
    return next(((quote.url, " ".join(quote.text.split())) for quote in find_best_quotes(question, pages, 1)), None)


def _wrap_passage(text: str) -> ToolAnswer:
    """Return a text as an answer with one passage."""
    span = {"start": 0, "end": len(text)}
    return ToolAnswer(f"[0-{len(text)}]\n{text}", {}, {"outrider/excerpts": [span]}, failed=False)


def _list_finished_calls(messages: Sequence[Mapping[str, Any]]) -> list[FinishedCall]:
    results = {each["tool_call_id"]: str(each["content"]) for each in messages if each["role"] == "tool"}
    calls = [call for each in messages for call in each.get("tool_calls") or ()]
    return [
        FinishedCall(call["function"]["name"], json.loads(call["function"]["arguments"]), results.get(call["id"], ""))
        for call in calls
    ]


def _stream_turn(body: Mapping[str, Any], turn: ModelTurn, number: int) -> Iterator[str]:
    """Yield the turn as server-sent events of a few words each."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for delta in _iter_deltas(turn, number):
        yield _format_event(head | {"choices": [{"index": 0, "delta": {"role": "assistant"} | delta}]})
    reason = "tool_calls" if turn.calls else "stop"
    yield _format_event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    read, wrote = count_tokens(json.dumps(body)), count_tokens(turn.text or json.dumps(turn.calls))
    usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    yield _format_event(head | {"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _iter_deltas(turn: ModelTurn, number: int) -> Iterator[dict[str, Any]]:
    yield {"reasoning_content": turn.thinking}
    for words in re.findall(r"(?:\S+\s*){1,4}", turn.text):
        yield {"content": words}
    for at, (name, arguments) in enumerate(turn.calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        yield {"tool_calls": [{"index": at, "id": f"call_{number}_{at}", "type": "function", "function": function}]}


def _format_event(body: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(body)}\n\n"
