"""Open an app whose agents use a scripted model over OpenAI's streamed chat completions."""

import itertools
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from outrider.app import App, open_app
from outrider.settings import load
from support.databases import sqlite
from support.fakes import http_servers


@dataclass(frozen=True)
class ChatTurn:
    """One answer of the model.

    Attributes:
        text: The text, streamed in pieces of a few words; or a function of the request that returns it.
        thinking: The thinking before the text.
        calls: (tool, arguments), made together.
        wait_before: Awaited before the answer begins.
        status: An HTTP error instead.
    """

    text: str | Callable[[dict[str, Any]], str] = ""
    thinking: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    wait_before: anyio.Event | None = None
    status: int = 200


AgentScripts = Mapping[str, Sequence[ChatTurn]]


@dataclass
class ScriptedChatModel:
    """The answers of each agent, turn by turn; the turn follows from the conversation, not from a counter.

    The line `You are <name>.` in the instructions identifies an agent. After its last turn, it repeats that turn.
    """

    script: AgentScripts
    requests: list[dict[str, Any]] = field(default_factory=list)

    def choose_turn(self, body: dict[str, Any]) -> ChatTurn:
        self.requests.append(body)
        system = "\n".join(str(each["content"]) for each in body["messages"] if each["role"] in ("system", "developer"))
        name = next(name for name in self.script if f"You are {name}." in system)
        turns = self.script[name]
        number = sum(each["role"] == "assistant" for each in body["messages"])
        return turns[min(number, len(turns) - 1)]

    def build_app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self._stream_answer, methods=["POST"])])

    async def _stream_answer(self, request: Request) -> Response:
        body = await request.json()
        turn = self.choose_turn(body)
        if turn.wait_before is not None:
            await turn.wait_before.wait()
        if turn.status != 200:
            return JSONResponse({"error": {"message": "scripted"}}, turn.status)
        text = turn.text if isinstance(turn.text, str) else turn.text(body)
        return StreamingResponse(_events(replace(turn, text=text)), media_type="text/event-stream")


NUMBERS = itertools.count(1)


async def _events(turn: ChatTurn) -> AsyncGenerator[str]:
    number = next(NUMBERS)
    for delta in _deltas(turn, number):
        yield _chunk(number, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reason = "tool_calls" if turn.calls else "stop"
    yield _chunk(number, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    yield _chunk(number, {"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _deltas(turn: ChatTurn, number: int) -> list[dict[str, Any]]:
    thoughts = [{"role": "assistant", "reasoning_content": piece} for piece in _pieces(turn.thinking)]
    words = [{"role": "assistant", "content": piece} for piece in _pieces(str(turn.text))]
    calls = [
        {"index": at, "id": f"call_{number}_{at}", "type": "function", "function": _function(name, arguments)}
        for at, (name, arguments) in enumerate(turn.calls)
    ]
    return [*thoughts, *words, *([{"role": "assistant", "tool_calls": calls}] if calls else [])]


def _function(name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(arguments)}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [
        " ".join(words[at : at + 3]) + (" " if at + 3 < len(words) else "") for at in range(0, len(words), 3) if text
    ]


def _chunk(number: int, fields: dict[str, Any]) -> str:
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"} | fields
    return f"data: {json.dumps(body)}\n\n"


def agent_file(name: str, description: str = "Does as it is told", **head: Any) -> str:
    """An agent's file."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in {"name": name, "description": description, **head}.items()]
    return "\n".join(("---", *lines, "---", f"You are {name}."))


@dataclass(frozen=True)
class AgentsApp:
    """An open app, its model, and the folder of its agents."""

    app: App
    model: ScriptedChatModel
    folder: Path

    def write_agent(self, name: str, **head: Any) -> None:
        """Add or change an agent."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name.replace(' ', '_')}.md").write_text(agent_file(name, **head))


@asynccontextmanager
async def serve_chat_model(model: ScriptedChatModel) -> AsyncGenerator[dict[str, Any]]:
    """Serve the model; yield the settings under which agents use it."""
    async with http_servers.serve_app(model.build_app()) as url:
        profile = {"base_url": f"{url}/v1", "model": "scripted", "key": "SCRIPTED_KEY"}
        yield {
            "toolsets": ["all"],
            "egress": {"allow": [f"127.0.0.1:{url.rsplit(':', 1)[1]}"]},
            "search": {"keyless": False},
            "models": {"profiles": {"scripted": profile}, "default": ["scripted"], "local": False},
        }


@asynccontextmanager
async def open_agents_app(
    home: Path, script: AgentScripts, agents: Mapping[str, Mapping[str, Any]], **settings: Any
) -> AsyncGenerator[AgentsApp]:
    """Open an app with these agents (name to front matter) and no others."""
    model = ScriptedChatModel(script)
    async with (
        serve_chat_model(model) as flags,
        open_agents_app_over_model(home, model, flags, agents, **settings) as service,
    ):
        yield service


@asynccontextmanager
async def open_agents_app_over_model(
    home: Path,
    model: ScriptedChatModel,
    settings_base: dict[str, Any],
    agents: Mapping[str, Mapping[str, Any]],
    **settings: Any,
) -> AsyncGenerator[AgentsApp]:
    """Open the same app over a served model, for apps that are restarted."""
    loaded = load(settings_base | settings, environ={"SCRIPTED_KEY": "sk-scripted"}, home=home, workspace=home)
    async with open_app(sqlite.prepare_work_databases(loaded)) as app:
        service = AgentsApp(app, model, app.catalogue.home)
        for name, head in agents.items():
            service.write_agent(name, **head)
        await app.toolbox.refresh_tools()
        yield service
