"""Each toolset offers its state as a resource and a prompt; playbooks are prompts."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import EmptyResult, Implementation, Request, TextContent, TextResourceContents

from outrider.app import open_app
from outrider.core.context import Call
from outrider.core.errors import NotFound
from outrider.core.prompts import MAX_CONTEXT_CHARS
from outrider.serve.context import SwitchContextParams
from outrider.settings import load
from support.apps import mcp_clients
from support.databases import sqlite
from support.processes import outrider_command
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
STEP = {"description": "Search shops", "action": {"toolName": "websearch", "purpose": "find offers"}}
PRICES = {"goal": "Weekly price check", "workflow": [STEP | {"requiredData": ["product"], "outputVariable": "offers"}]}
ANNA: Any = {"assistant_id": "anna"}
BERT: Any = {"assistant_id": "bert"}
NOBODY: Any = {}


@asynccontextmanager
async def open_test_app(home: Path, *toolsets: str, **flags: Any) -> Any:
    chosen = {"toolsets": list(toolsets) or ["all"]} | flags
    async with open_app(sqlite.prepare_database(load(chosen, environ={}, home=home, workspace=home))) as app:
        yield app


async def read_state_resource(client: Client, server: str, **of: Any) -> tuple[str, dict[str, Any]]:
    meta: Any = of or None
    found = (await client.read_resource(f"context://{server}", meta=meta)).contents[0]
    assert isinstance(found, TextResourceContents)
    return found.text, (found.meta or {})["outrider/structuredState"]


async def read_prompt(client: Client, name: str, arguments: Any = None, **of: Any) -> str:
    meta: Any = of or None
    content = (await client.get_prompt(name, arguments, meta=meta)).messages[0].content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_every_toolset_offers_its_state_as_resource_and_prompt(home: Path, era: str):
    async with open_test_app(home) as app, mcp_clients.connect_client(app.build_server(), era) as client:
        listed = {str(each.uri) for each in (await client.list_resources()).resources}
        names = {each.name for each in (await client.list_prompts()).prompts}
        assert app.toolbox.toolsets
        for toolset in app.toolbox.toolsets:
            assert f"context://{toolset}" in listed
            assert f"context_{toolset}" in names
            text, state = await read_state_resource(client, toolset)
            assert await read_prompt(client, f"context_{toolset}") == text
            assert state["server"] == toolset
            assert text.startswith("# ") or toolset == "planning"
            assert len(text) <= MAX_CONTEXT_CHARS
            assert str(home) not in text + str(state)


async def test_the_workspace_s_context_shows_two_levels_without_the_host_s_paths(home: Path):
    mine = Call(session="mine")
    async with open_test_app(home, "workspace") as app:
        for name in ["src/deep/hidden.txt", "a.txt", ".env", *(f"many/{n:02}.txt" for n in range(12))]:
            await app.call("write_file", mine, path=name, content="x")
        found = await app.render_context("workspace", mine)
    assert found.prompt == "\n".join([
        "# Workspace Server Status", "**Server**: workspace", "**Status**: Active", "**Working Directory**: .",
        f"**Available Tools**: {len(app.toolbox.tools)} tools", "", "## Current Directory Structure",
        "├── many/", *(f"│   ├── {n:02}.txt" for n in range(10)), "│   └── … 2 more",
        "├── src/", "│   └── deep/", "└── a.txt",
    ])  # fmt: skip
    assert found.to_dict()["contextPrompt"] == found.prompt
    assert found.to_dict()["structuredState"]["directory"] == "."


async def test_a_context_is_the_session_s_own_and_never_longer_than_its_limit(home: Path):
    async with open_test_app(home, "planning") as app, mcp_clients.connect_client(app.build_server()) as client:
        for number in range(60):
            await client.call_tool("add_todo", {"name": f"{number} " + "x" * 200}, meta={"session_id": "long"})
        await client.call_tool("create_goal", {"goal": "Ship it"}, meta={"session_id": "long"})
        text, state = await read_state_resource(client, "planning", session_id="long")
        assert "# Current Goal: Ship it" in text
        assert len(text) <= MAX_CONTEXT_CHARS
        assert text.endswith("[…]")
        assert state["progress"]["total"] == 60
        assert "# No active goal" in (await read_state_resource(client, "planning", session_id="other"))[0]
        assert "# Current Goal: Ship it" in await read_prompt(client, "context_planning", session_id="long")


async def test_contexts_match_the_contract(home: Path):
    async with open_test_app(home, "content_store", "browser", "web") as app:
        await app.call("addContent", Call(), content="Tea is mild.")
        store = (await app.render_context("contentstore")).prompt.splitlines()
        assert store[:5] == [
            "# Content Store Server Status", "**Server**: content_store", "**Status**: Active",
            "**Stores Available**: 1 stores", "**Total Content**: 1 items",
        ]  # fmt: skip
        assert (await app.render_context("browser")).prompt.startswith("# Browser Sessions\n")
        count = len(app.toolbox.select_toolset("web").tools)
        assert (await app.render_context("web")).prompt == (
            f"# web Server Status\n**Server**: web\n**Status**: Active\n**Available Tools**: {count} tools"
        )
        with pytest.raises(NotFound, match="no toolset 'nope'"):
            await app.render_context("nope")


async def test_toolsets_that_are_not_served_have_no_context(home: Path):
    async with open_test_app(home, "planning") as app, mcp_clients.connect_client(app.build_server()) as client:
        assert [str(each.uri) for each in (await client.list_resources()).resources] == ["context://planning"]
        with pytest.raises(MCPError, match="no toolset 'workspace'"):
            await client.read_resource("context://workspace")
        with pytest.raises(MCPError, match="no prompt 'context_workspace'"):
            await client.get_prompt("context_workspace")


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_playbooks_are_prompts_of_their_assistant(home: Path, era: str):
    async with open_test_app(home, "playbook") as app, mcp_clients.connect_client(app.build_server(), era) as client:
        made = await client.call_tool("create_playbook", PRICES, meta=ANNA)
        assert not made.is_error
        await client.call_tool("create_playbook", PRICES | {"initialCommand": "again"}, meta=ANNA)
        mine = [each for each in (await client.list_prompts(meta=ANNA)).prompts if each.name != "context_playbook"]
        assert [(each.name, each.title) for each in mine] == [
            ("playbook_weekly_price_check_2", "again"), ("playbook_weekly_price_check", "Weekly price check"),
        ]  # fmt: skip
        assert [(each.name, each.required) for each in mine[1].arguments or []] == [("product", True)]
        text = await read_prompt(client, "playbook_weekly_price_check", {"product": "tea"}, **ANNA)
        assert "- product: tea" in text
        assert "1. Search shops (tool websearch, to find offers; needs product; gives offers)" in text
        with pytest.raises(MCPError, match="needs product"):
            await client.get_prompt("playbook_weekly_price_check", meta=ANNA)
        for stranger in (BERT, NOBODY):
            assert [each.name for each in (await client.list_prompts(meta=stranger)).prompts] == ["context_playbook"]
            with pytest.raises(MCPError, match="no prompt"):
                await client.get_prompt("playbook_weekly_price_check", {"product": "tea"}, meta=stranger)


async def test_clients_are_notified_when_playbooks_are_added_or_removed(home: Path):
    heard = anyio.Event()

    async def listen(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/prompts/list_changed":
            heard.set()

    async with (
        open_test_app(home, "playbook", assistant="anna") as app,
        mcp_clients.connect_client(app.build_server(), mcp_clients.HANDSHAKE_VERSION, message_handler=listen) as client,
    ):
        assert client.server_capabilities.prompts
        assert client.server_capabilities.prompts.list_changed
        await client.list_prompts()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            await app.call("create_playbook", Call(assistant="anna"), **PRICES)
            await heard.wait()
        assert len((await client.list_prompts()).prompts) == 2


async def test_subscribers_of_the_newest_protocol_are_notified_too(home: Path):
    async with (
        open_test_app(home, "playbook", assistant="anna") as app,
        mcp_clients.connect_client(app.build_server()) as client,
    ):
        await client.list_prompts()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with client.listen(prompts_list_changed=True) as events:
                await app.call("create_playbook", Call(assistant="anna"), **PRICES)
                assert type(await anext(aiter(events))).__name__ == "PromptsListChanged"


@pytest.mark.parametrize("given", [["--assistant", "anna"], []], ids=["option", "environment"])
@pytest.mark.nightly
async def test_an_assistant_may_be_named_for_a_whole_connection(home: Path, given: list[str]):
    environ = {"HOME": str(home)} | ({} if given else {"OUTRIDER_ASSISTANT": "anna"})
    program, *words = outrider_command.build_command("mcp", "--no-daemon", "--toolsets", "playbook", *given)
    async with Client(StdioServerParameters(command=program, args=words, env=environ)) as client:
        made = await client.call_tool("create_playbook", PRICES)
        assert made.structured_content
        assert made.structured_content["playbook"]["agentId"] == "anna"
        assert (await client.call_tool("list_playbooks", {}, meta={"assistant_id": "bert"})).structured_content == {
            "success": True, "formattedText": "no playbooks yet; create_playbook",
            "page": {"page": 1, "pageSize": -1, "totalItems": 0, "totalPages": 1, "items": []},
        }  # fmt: skip


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
@pytest.mark.nightly
async def test_without_an_assistant_playbooks_belong_to_the_client_s_own_name(home: Path, era: str):
    coder, chatter = (Implementation(name=name, version="1") for name in ("coder", "chatter"))
    async with open_test_app(home, "playbook") as app:
        async with mcp_clients.connect_client(app.build_server(), era, client_info=coder) as client:
            made = await client.call_tool("create_playbook", PRICES)
            assert made.structured_content["playbook"]["agentId"] == "coder"
        async with mcp_clients.connect_client(app.build_server(), era, client_info=chatter) as client:
            listed = await client.call_tool("list_playbooks", {})
            assert listed.structured_content["page"]["totalItems"] == 0
            listed = await client.call_tool("list_playbooks", {}, meta={"assistant_id": "coder"})
            assert listed.structured_content["page"]["totalItems"] == 1
    async with (
        open_test_app(home, "playbook", assistant="coder") as app,
        mcp_clients.connect_client(app.build_server(), era, client_info=chatter) as client,
    ):
        listed = await client.call_tool("list_playbooks", {})
        assert listed.structured_content["page"]["totalItems"] == 1


async def switch_context(client: Client, **params: Any) -> None:
    request: Any = Request[SwitchContextParams, str](
        method="outrider/switch_context", params=SwitchContextParams(**params)
    )
    await client.session.send_request(request, EmptyResult)


@pytest.mark.parametrize("era", [mcp_clients.HANDSHAKE_VERSION, mcp_clients.OLDEST_VERSION])
async def test_a_host_switches_the_context_of_its_connection_and_nothing_is_lost(home: Path, era: str):
    async with (
        open_test_app(home, "planning", "playbook") as app,
        mcp_clients.connect_client(app.build_server(), era) as client,
        mcp_clients.connect_client(app.build_server(), era) as other,
    ):
        await switch_context(client, sessionId="one", assistantId="anna")
        await client.call_tool("create_goal", {"goal": "First"})
        assert not (await client.call_tool("list_playbooks", {})).is_error
        await switch_context(client, sessionId="two")
        assert "# No active goal" in (await read_state_resource(client, "planning"))[0]
        assert "# No active goal" in (await read_state_resource(other, "planning"))[0]
        own = (await read_state_resource(client, "planning", session_id="one"))[0]
        await switch_context(client, sessionId="one")
        assert (await read_state_resource(client, "planning"))[0] == own
        assert "# Current Goal: First" in own
        listed = await other.call_tool("create_playbook", PRICES)
        assert listed.structured_content["playbook"]["agentId"] != "anna"


async def test_without_connection_state_a_host_is_told_to_use_meta(home: Path):
    async with open_test_app(home, "planning") as app, mcp_clients.connect_client(app.build_server()) as client:
        with pytest.raises(MCPError, match="in each request's _meta"):
            await switch_context(client, sessionId="one")


async def test_built_in_names_are_split_at_the_server_s_name(home: Path):
    async with (
        open_test_app(home, "content_store", "planning", "web-search", names="builtin") as app,
        mcp_clients.connect_client(app.build_server()) as client,
    ):
        names = {each.name for each in (await client.list_tools()).tools}
        assert {"builtin_planning__add_todo", "builtin_content_store__addContent"} <= names
        assert "builtin_web_search__search" in names
        for name in ("builtin_contentstore__listStores", "builtin_Content_Store__listStores", "listStores"):
            assert not (await client.call_tool(name, {})).is_error
        for name, said in (
            ("builtin_nope__add_todo", "no server 'nope'"),
            ("builtin_add_todo", "invalid built-in tool name"),
            ("builtin_planning__listStores", "no tool 'listStores' in 'planning'"),
            ("builtin___add_todo", "no server"),
        ):
            with pytest.raises(MCPError, match=said):
                await client.call_tool(name, {})
