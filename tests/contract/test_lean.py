"""`outrider mcp --lean` as a host uses it: two tools that find and call all others."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult, InputRequiredResult

from outrider.core.text import count_tokens
from support.apps import loopback_app, mcp_clients
from support.processes import outrider_command
from support.results import read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
LEAN = {"lean": True}


async def call_inner(client: Client, tool: str, /, **arguments: Any) -> Any:
    return await client.call_tool("call_tool", {"name": tool, "arguments": arguments})


async def test_a_host_loads_only_two_tools_and_short_instructions(home: Path):
    program, *words = outrider_command.build_command("mcp", "--lean", "--no-daemon")
    host = StdioServerParameters(command=program, args=words, env={"HOME": str(home)})
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with Client(host) as client:
            listed = (await client.list_tools()).tools
            instructions = client.instructions or ""
            saved = await call_inner(client, "add_todo", name="boil water")
    entries = "".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in listed)
    assert [tool.name for tool in listed] == ["find_tools", "call_tool"]
    assert count_tokens(entries) + count_tokens(instructions) <= 700
    assert "web_search" in instructions
    assert all(name in instructions for name in ("browser", "content_store", "workspace", "planning"))
    assert [tool.annotations.read_only_hint for tool in listed] == [True, None]
    assert listed[1].annotations.destructive_hint
    assert not saved.is_error


async def test_every_tool_is_found_by_its_name_and_can_be_called(home: Path):
    async with (
        loopback_app.open_loopback_app(home, more=LEAN) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        tools = {tool.name: tool for tool in loopback.app.toolbox.list_tools()}
        for name, tool in tools.items():
            found = (await client.call_tool("find_tools", {"query": name})).structured_content["tools"]
            assert found[0] == {"name": name, "description": tool.description, "input_schema": tool.input_schema}
        everything = read_first_text(await client.call_tool("find_tools", {}))
        nothing = read_first_text(await client.call_tool("find_tools", {"query": "xylophone"}))
        searched = await call_inner(client, "web_search", query="tea")
        as_text = await client.call_tool("call_tool", {"name": "web_search", "arguments": '{"query": "tea"}'})
        directly = await client.call_tool("web_search", {"query": "tea"})
        records = await loopback.app.events.list_recent(3)
    assert all(name in everything for name in tools)
    assert nothing.startswith("No tool matches 'xylophone'")
    assert searched.structured_content["results"] == directly.structured_content["results"]
    assert as_text.structured_content["results"] == directly.structured_content["results"]
    assert {record.tool for record in records} == {"web_search"}


async def test_tasks_in_plain_words_find_the_right_tool(home: Path):
    tasks = {
        "search the web": "web_search",
        "read a web page or PDF": "web_fetch",
        "click a button": "clickElement",
        "take a screenshot of the page": "takeScreenshot",
        "run python code": "execute_python",
        "add a file or web page to a content store": "addContent",
        "crawl a whole site": "web_crawl",
        "fill in a form field": "inputText",
        "edit a file": "replace_text_in_file",
    }
    async with (
        loopback_app.open_loopback_app(home, more=LEAN) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        for task, name in tasks.items():
            found = (await client.call_tool("find_tools", {"query": task})).structured_content["tools"]
            assert name in [each["name"] for each in found], (task, [each["name"] for each in found])


async def test_consent_and_limits_are_those_of_the_inner_tool(home: Path):
    settings = LEAN | {"tools": {"stakes": {"add_todo": "high"}, "disable": ["execute_shell"]}}
    async with loopback_app.open_loopback_app(home, more=settings) as loopback:
        server = loopback.app.build_server()
        for version in mcp_clients.PROTOCOL_VERSIONS[:2]:
            person = mcp_clients.FormAnswerer(lambda _: None)
            async with mcp_clients.connect_client(server, version, "person", person) as client:
                refused = await call_inner(client, "add_todo", name="boil water")
                harmless = await call_inner(client, "get_current_state")
            assert "add_todo" in person.forms[0].message
            assert refused.is_error
            assert not harmless.is_error
        async with Client(server) as client:
            for name in ("execute_shell", "no_such_tool", ""):
                with pytest.raises(MCPError, match="find_tools"):
                    await call_inner(client, name)
            wrong = await call_inner(client, "web_fetch", adress="x")
    assert "url" in read_first_text(wrong)


async def test_consent_counts_only_for_the_inner_call_it_was_given_for(home: Path):
    settings = LEAN | {"tools": {"stakes": {"add_todo": "high", "create_goal": "high"}}}
    yes: Any = {"consent": ElicitResult(action="accept", content={"allow": True})}

    async def answer(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("the test answers by itself")

    async with (
        loopback_app.open_loopback_app(home, more=settings) as loopback,
        Client(loopback.app.build_server(), mode="auto", elicitation_callback=answer) as client,
    ):
        asked = {"name": "add_todo", "arguments": {"name": "boil water"}}
        paused = await client.session.call_tool("call_tool", asked, allow_input_required=True)
        assert isinstance(paused, InputRequiredResult)
        answered: Any = {"request_state": paused.request_state, "input_responses": yes}
        other = {"name": "create_goal", "arguments": {"goal": "tea"}}
        with pytest.raises(MCPError, match="requestState"):
            await client.session.call_tool("call_tool", other, **answered)
        done = await client.session.call_tool("call_tool", asked, **answered)
    assert not done.is_error
