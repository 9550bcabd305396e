"""The Claude Agent SDK with its real command line, talking to a scripted model on loopback."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider import sdk
from support.apps import loopback_app
from support.fakes import http_servers, messages_api
from support.timeouts import BROWSER_TIMEOUT_S

claude = pytest.importorskip("claude_agent_sdk", reason="the extra outrider[sdk] is not installed")
pytestmark = pytest.mark.anyio

WAL_SITE = loopback_app.build_page_site(
    {"/wal": loopback_app.build_article_html("WAL mode", "The checkpoint moves pages into the database. " * 10)}
)


class Model:
    """Call one tool, then repeat its result."""

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self._use = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": arguments}
        self.offered: list[str] = []

    def __call__(self, messages: list[dict[str, Any]], tools: list[str]) -> list[dict[str, Any]]:
        self.offered = self.offered or tools
        last = messages[-1]["content"]
        results = [part for part in last if part.get("type") == "tool_result"] if isinstance(last, list) else []
        return [{"type": "text", "text": json.dumps(results[0]["content"])}] if results else [self._use]


async def ask_agent(home: Path, model: Model, servers: dict[str, Any], tool: str) -> str:
    """Return the agent's final answer."""
    async with http_servers.serve_app(messages_api.build_messages_app(model)) as url:
        environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "HOME": str(home)}
        quiet = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        options = claude.ClaudeAgentOptions(
            mcp_servers=servers, allowed_tools=[tool], env=environment | quiet, max_turns=3, cwd=home
        )
        with anyio.fail_after(BROWSER_TIMEOUT_S):
            told = [message async for message in claude.query(prompt="go", options=options)]
    (result,) = [message for message in told if isinstance(message, claude.ResultMessage)]
    return result.result or ""


async def test_an_agent_searches_in_the_same_process(home: Path):
    model = Model("mcp__outrider__web_search", {"query": "fox", "num_results": 1})
    async with loopback_app.open_loopback_app(home) as loopback:
        answer = await ask_agent(home, model, {"outrider": sdk.server(loopback.app)}, "mcp__outrider__web_search")
    assert "https://www.place1.example/1" in answer
    assert "mcp__outrider__web_fetch" in model.offered


@pytest.mark.nightly
async def test_an_agent_written_for_dogent_finds_its_tools_under_their_old_names(home: Path):
    async with loopback_app.open_loopback_app(home, WAL_SITE) as loopback:
        model = Model("mcp__dogent__web_fetch", {"url": f"{loopback.site_url}/wal"})
        answer = await ask_agent(home, model, {"dogent": sdk.server(loopback.app, "dogent")}, "mcp__dogent__web_fetch")
    assert "The checkpoint moves pages into the database." in answer
    assert [name for name in model.offered if name.startswith("mcp__")] == [
        "mcp__dogent__web_fetch",
        "mcp__dogent__web_search",
    ]


@pytest.mark.nightly
async def test_a_client_starts_the_command_and_reads_a_page(home: Path):
    async with http_servers.serve_app(WAL_SITE) as site:
        arguments = [
            "-m",
            "outrider",
            "mcp",
            "--no-daemon",
            "--set",
            f"egress.allow=127.0.0.1:{site.rsplit(':', 1)[1]}",
        ]
        server = {"type": "stdio", "command": sys.executable, "args": arguments, "env": {"HOME": str(home)}}
        model = Model("mcp__outrider__web_fetch", {"url": f"{site}/wal"})
        answer = await ask_agent(home, model, {"outrider": server}, "mcp__outrider__web_fetch")
    assert "The checkpoint moves pages into the database." in answer
