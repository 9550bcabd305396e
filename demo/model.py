"""A model of the demo's own, so that it needs no key: a script that speaks OpenAI's wire format on loopback.

It does what a model would do, without any wit: it searches, reads the first pages, looks at the best one in a browser
if it has one, and answers with the words that share most with the question. All else in the demo is real.
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

from demo.agent import Answer
from demo.evidence import best
from outrider.core.text import count_tokens

PAGES = 2
SOURCE = re.compile(r"^\[(\w{3})\] .*<(\S+)>$", re.MULTILINE)  # how a search's result shows reference and address
SESSION = re.compile(r"Session (\S+)")
LOOKING = {"snapshotPage": "It is open. I take a look.", "closeSession": "I have seen it, and close the browser."}
NOTHING = "I have found nothing about it."


@dataclass(frozen=True)
class Done:
    """A tool call of the conversation so far, with what came back."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Turn:
    """What the model thinks and then says: words, or calls of tools."""

    thinking: str
    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


@asynccontextmanager
async def served() -> AsyncGenerator[str]:
    """Serves the model on a free loopback port; yields the base address of its API."""
    numbers = count(1)

    async def completions(request: Request) -> StreamingResponse:
        body = await request.json()
        return StreamingResponse(_streamed(body, next_turn(body), next(numbers)), media_type="text/event-stream")

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


def next_turn(body: Mapping[str, Any]) -> Turn:
    """The next turn of the conversation in a request; it follows from the request alone."""
    question = next(each["content"] for each in body["messages"] if each["role"] == "user")
    tools = {each["function"]["name"] for each in body["tools"]}
    done = _done(body["messages"])
    used = {each.tool for each in done}
    if "websearch" not in used:
        return Turn("I search for it.", calls=[("websearch", {"query": question})])
    sources = {url: name for each in done if each.tool == "websearch" for name, url in SOURCE.findall(each.result)}
    if "webbrowser" not in used and sources:
        calls = [("webbrowser", {"urls": [url]}) for url in list(sources)[:PAGES]]
        return Turn(f"{len(sources)} pages are found. I read the best {len(calls)} at the same time.", calls=calls)
    found = _found(question, done)
    if found and "createSession" in tools and (looking := _look(found[0], done, used)):
        return looking
    return Turn("I answer.", f"{found[1]} :cite[{sources[found[0]]}]" if found else NOTHING)


def _look(url: str, done: Sequence[Done], used: set[str]) -> Turn | None:
    """The next thing to do with a browser; None when that is over, or the person said no."""
    if "createSession" not in used:
        return Turn("One of them answers it. I look at it in a browser.", calls=[("createSession", {"url": url})])
    opened = SESSION.search(next(each.result for each in done if each.tool == "createSession"))
    rest = [name for name in LOOKING if name not in used]
    return Turn(LOOKING[rest[0]], calls=[(rest[0], {"sessionId": opened[1]})]) if opened and rest else None


def _found(question: str, done: Sequence[Done]) -> tuple[str, str] | None:
    """The page that answers best, and its words."""
    pages = {each.arguments["urls"][0]: _whole(each.result) for each in done if each.tool == "webbrowser"}
    return next(((quote.url, " ".join(quote.text.split())) for quote in best(question, pages, 1)), None)


def _whole(text: str) -> Answer:
    """A text as one passage."""
    place = {"start": 0, "end": len(text)}
    return Answer(f"[0-{len(text)}]\n{text}", {}, {"outrider/excerpts": [place]}, failed=False)


def _done(messages: Sequence[Mapping[str, Any]]) -> list[Done]:
    results = {each["tool_call_id"]: str(each["content"]) for each in messages if each["role"] == "tool"}
    calls = [call for each in messages for call in each.get("tool_calls") or ()]
    return [
        Done(call["function"]["name"], json.loads(call["function"]["arguments"]), results.get(call["id"], ""))
        for call in calls
    ]


def _streamed(body: Mapping[str, Any], turn: Turn, number: int) -> Iterator[str]:
    """The turn as server-sent events, a few words each."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for delta in _deltas(turn, number):
        yield _event(head | {"choices": [{"index": 0, "delta": {"role": "assistant"} | delta}]})
    reason = "tool_calls" if turn.calls else "stop"
    yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    read, wrote = count_tokens(json.dumps(body)), count_tokens(turn.text or json.dumps(turn.calls))
    usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    yield _event(head | {"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _deltas(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    yield {"reasoning_content": turn.thinking}
    for words in re.findall(r"(?:\S+\s*){1,4}", turn.text):
        yield {"content": words}
    for at, (name, arguments) in enumerate(turn.calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        yield {"tool_calls": [{"index": at, "id": f"call_{number}_{at}", "type": "function", "function": function}]}


def _event(body: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(body)}\n\n"
