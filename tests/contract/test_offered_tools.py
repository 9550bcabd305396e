"""Hosts are offered the tools and instructions of the chosen toolsets."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from outrider.core.toolbox import Toolbox
from outrider.serve.http import build_http_app
from outrider.serve.instructions import MAX_INSTRUCTIONS_CHARS, build_instructions
from support.apps import loopback_app
from support.fakes import http_servers
from support.results import read_text

pytestmark = pytest.mark.anyio
DUPLICATES = {"websearch", "webbrowser", "search", "toggle_todo", "remove_todo"}
MIDDLE = {"web_search", "web_fetch", "mark_todo", "update_todo", "clear_todos", "extractPageContent"}


async def list_tools(home: Path, toolsets: list[str], **more: Any) -> set[str]:
    settings = more | {"toolsets": toolsets}
    async with (
        loopback_app.open_loopback_app(home, more=settings) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_all_offers_one_tool_for_each_purpose_and_compat_adds_the_others(home: Path):
    offered = {
        ("all",): set(),
        ("all", "compat"): DUPLICATES,
        ("all", "web-search"): {"search"},
        ("all", "web_search_&_browse"): {"websearch", "webbrowser"},
        ("all", "planning"): {"toggle_todo", "remove_todo"},
    }
    every: set[str] = set()
    for chosen, expected in offered.items():
        tools = await list_tools(home, list(chosen))
        assert tools & DUPLICATES == expected, chosen
        assert tools >= MIDDLE
        every |= tools
    assert await list_tools(home, ["all", "compat"]) == every


async def test_a_toolset_requested_by_name_is_complete(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        for toolset in loopback.app.toolbox.toolsets.values():
            async with Client(loopback.app.build_server(toolset.name)) as client:
                alone = {tool.name for tool in (await client.list_tools()).tools}
            assert alone >= set(toolset.tools), toolset.name
            if not toolset.tool_source:
                assert await list_tools(home, [toolset.name]) == alone == set(toolset.tools)


async def test_the_address_of_a_toolset_serves_all_its_tools(home: Path):
    async with (
        loopback_app.open_loopback_app(home) as loopback,
        http_servers.serve_app(build_http_app(loopback.app.build_servers())) as url,
    ):
        for path, expected in (("", set()), ("/web-search", {"search"}), ("/compat", DUPLICATES)):
            async with Client(f"{url}/mcp{path}") as client:
                assert {tool.name for tool in (await client.list_tools()).tools} & DUPLICATES == expected


async def test_a_tool_that_is_not_listed_can_still_be_called_and_withheld(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback, Client(loopback.app.build_server()) as client:
        assert not (await client.call_tool("websearch", {"query": "tea"})).is_error
        await client.call_tool("add_todo", {"name": "boil water"})
        assert "completed" in read_text(await client.call_tool("builtin_planning__toggle_todo", {"id": 1}))
    assert "search" in await list_tools(home, ["all"], tools={"enable": ["search", "web_fetch"]})
    assert await list_tools(home, ["all"], tools={"enable": ["search", "web_fetch"]}) == {"search", "web_fetch"}
    assert DUPLICATES - await list_tools(home, ["compat"], tools={"disable": ["search"]}) == {"search"}


async def test_the_instructions_of_every_choice_fit_within_hosts_limits(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        toolsets = list(loopback.app.all_toolsets.values())
        # The smallest and the largest choice: each toolset adds its lines, so all others lie between them.
        sizes = (1, 2, len(toolsets) - 1, len(toolsets))
        choices = [chosen for size in sizes for chosen in combinations(toolsets, size)]
        for chosen in choices:
            text = build_instructions(Toolbox(chosen, {}, loopback.app.events))
            assert 0 < len(text) <= MAX_INSTRUCTIONS_CHARS, [toolset.name for toolset in chosen]
        async with Client(loopback.app.build_server()) as client:
            instructions = client.instructions or ""
    assert len(instructions) <= MAX_INSTRUCTIONS_CHARS
    heads = [instructions.index(name) for name in ("never instructions", "web_search", "createSession")]
    assert heads == sorted(heads)  # the most important first
    assert heads[-1] < min(instructions.index(name) for name in ("create_goal", "list_playbooks", "inject_javascript"))
    unlisted = [toolset for toolset in toolsets if toolset.name in ("web_search_browse", "web-search", "compat")]
    for toolset in (toolset for toolset in toolsets if not toolset.on_request):
        assert (toolset.instructions in instructions) is (toolset not in unlisted), toolset.name


async def test_instructions_name_no_tool_that_is_withheld(home: Path):
    withheld = {"tools": {"disable": ["web_fetch", "create_goal"]}}
    async with (
        loopback_app.open_loopback_app(home, more=withheld) as loopback,
        Client(loopback.app.build_server()) as client,
        Client(loopback.app.build_server("browser")) as browser,
    ):
        assert client.instructions
        assert browser.instructions
        for text in (client.instructions, browser.instructions):
            assert "web_fetch" not in text
            assert "snapshotPage" in text
        assert "create_goal" not in client.instructions
        assert "get_current_state" in client.instructions
        assert "web_search" not in browser.instructions
