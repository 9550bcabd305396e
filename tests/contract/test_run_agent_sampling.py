"""Test that agents use the client's model if no other is configured."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CreateMessageRequestParams, CreateMessageResult, TextContent

from outrider.app import App, open_app
from outrider.settings import load
from support.apps.agents_app import agent_file
from support.apps.mcp_clients import HANDSHAKE_VERSION, NEWEST_VERSION, OLDEST_VERSION, connect_client
from support.databases import sqlite
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
OLDER = [HANDSHAKE_VERSION, OLDEST_VERSION]


class SamplingClient:
    """A client's model, which repeats the last message."""

    def __init__(self) -> None:
        self.asked: list[CreateMessageRequestParams] = []

    async def __call__(self, _: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        self.asked.append(params)
        last: Any = params.messages[-1].content
        return CreateMessageResult(role="assistant", content=TextContent(text=f"Heard: {last.text}"), model="theirs")


@asynccontextmanager
async def open_agents_app(home: Path, **settings: Any) -> AsyncGenerator[App]:
    folder = home / ".outrider" / "agents"
    folder.mkdir(parents=True)
    (folder / "poet.md").write_text(agent_file("poet"))
    (folder / "clerk.md").write_text(agent_file("clerk", toolsets="planning"))
    flags = {"toolsets": ["run_agent"], "models": {"local": False}} | settings
    async with open_app(sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))) as app:
        yield app


@pytest.mark.parametrize("era", OLDER)
async def test_an_agent_without_tools_uses_the_clients_model_and_reports_it(era: str, home: Path):
    lends = SamplingClient()
    async with open_agents_app(home) as app, connect_client(app.build_server(), era, sampling_callback=lends) as client:
        result = await client.call_tool("run_poet", {"query": "A line on rain."})
    assert not result.is_error
    answer: Any = result.content[0]
    assert answer.resource.text.startswith("Heard: A line on rain.")
    assert "Answered by your client's own model" in answer.resource.text
    (asked,) = lends.asked
    assert asked.system_prompt is not None
    assert "You are poet." in asked.system_prompt
    assert not asked.tools


@pytest.mark.parametrize("era", OLDER)
async def test_an_agent_with_tools_reports_that_sampling_cannot_use_them(era: str, home: Path):
    lends = SamplingClient()
    async with open_agents_app(home) as app, connect_client(app.build_server(), era, sampling_callback=lends) as client:
        result = await client.call_tool("run_clerk", {"query": "Plan."})
    assert lends.asked == []
    assert read_error(result)["code"] == "no_model"
    assert "cannot use tools, and agent 'clerk' has tools" in read_error(result)["message"]
    assert "ANTHROPIC_API_KEY" in read_error(result)["hint"]


@pytest.mark.parametrize(
    ("era", "lends"), [(NEWEST_VERSION, SamplingClient()), (HANDSHAKE_VERSION, None), (OLDEST_VERSION, None)]
)
async def test_without_sampling_the_error_names_the_ways_to_a_model(era: str, lends: SamplingClient | None, home: Path):
    options: dict[str, Any] = {"sampling_callback": lends} if lends else {}
    async with open_agents_app(home) as app, connect_client(app.build_server(), era, **options) as client:
        result = await client.call_tool("run_poet", {"query": "A line."})
    assert (read_error(result)["code"], read_error(result)["message"]) == ("no_model", "no model is configured")
    assert not lends or lends.asked == []


async def test_a_configured_model_is_always_preferred_to_sampling(home: Path):
    lends = SamplingClient()
    models = {"local": False, "default": ["mine"], "profiles": {"mine": {"provider": "openai", "key": "NO_SUCH_KEY"}}}
    async with (
        open_agents_app(home, models=models) as app,
        connect_client(app.build_server(), HANDSHAKE_VERSION, sampling_callback=lends) as client,
    ):
        result = await client.call_tool("run_poet", {"query": "A line."})
    assert lends.asked == []
    assert "NO_SUCH_KEY" in read_error(result)["hint"]


async def test_a_client_that_refuses_is_quoted(home: Path):
    async def refuses(*_: Any) -> CreateMessageResult:
        raise MCPError(code=-1, message="the user said no")

    async with (
        open_agents_app(home) as app,
        connect_client(app.build_server(), HANDSHAKE_VERSION, sampling_callback=refuses) as client,
    ):
        result = await client.call_tool("run_poet", {"query": "A line."})
    assert result.is_error
    assert "the user said no" in read_first_text(result)
