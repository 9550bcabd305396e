"""Callers never see each other's data: every tool and resource is tried with foreign ids."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult

from outrider import toolsets
from outrider.agents.evaluations.evaluation import EvaluationRecord
from outrider.app import open_app
from outrider.core.context import Call
from outrider.core.discovery import discover_instances
from outrider.core.tool import Tool, Toolset
from outrider.settings import load
from support.apps import agents_app, identity_app, loopback_app
from support.apps.agents_app import ChatTurn, ScriptedChatModel
from support.apps.identity_app import ServedApp
from support.fakes import http_servers
from support.results import read_error
from support.timeouts import BROWSER_TIMEOUT_S

pytestmark = pytest.mark.anyio
PRIVATE_WORDS = "amber otter"
ANNA: Any = {"assistant_id": "anna", "session_id": "default", "identity": "ann"}
TOOLS = list(
    {
        tool.name: tool
        for toolset in discover_instances(toolsets, Toolset, nested=True)
        for tool in toolset.tools.values()
    }.values()
)
SIGNED_IN = [{"name": "s", "value": PRIVATE_WORDS, "domain": "127.0.0.1", "path": "/"}]
# By the agents' contract, a foreign conversation id starts a new conversation, and unknown files are ignored.
TOOLS_THAT_IGNORE_FOREIGN_IDS = {"run_agent"}


@dataclass
class World:
    """Ann's data in workspace acme, and strangers with tokens.

    Attributes:
        hers: Tool arguments that name Ann's data, by tool or by argument.
        uris: Resources of hers.
        tokens: The strangers' tokens.
    """

    team: ServedApp
    site: str
    hers: dict[str, Any] = field(default_factory=dict)
    uris: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[World]:
    home = tmp_path_factory.mktemp("team")
    model = ScriptedChatModel({"keeper": [ChatTurn(text=f"I know of the {PRIVATE_WORDS}.")]})
    async with AsyncExitStack() as stack:
        flags = await stack.enter_async_context(agents_app.serve_chat_model(model))
        page = loopback_app.build_article_html("A page", f"It tells of the {PRIVATE_WORDS}.")
        site = await stack.enter_async_context(http_servers.serve_app(loopback_app.build_page_site({"/page": page})))
        flags["egress"]["allow"] += [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]
        flags |= {
            "toolsets": ["all", "mcp_servers", "browser_webmcp"],
            "tools": {"stakes": {"*": "never_ask"}},
            "data_dir": str(home / "data"),
        }
        team = await stack.enter_async_context(
            identity_app.open_served_app(home, environ={"SCRIPTED_KEY": "sk-scripted"}, **flags)
        )
        agents = team.app.catalogue.home
        agents.mkdir(parents=True)
        (agents / "keeper.md").write_text(agents_app.agent_file("keeper"))
        await team.app.toolbox.refresh_tools()
        made = World(team, site)
        with anyio.fail_after(BROWSER_TIMEOUT_S):
            await fill_world(made)
        yield made


async def fill_world(world: World) -> None:
    """Let Ann create data of every kind, and give strangers their tokens."""
    team = world.team
    ann = await team.issue_token("ann", "acme")
    world.tokens["bob of another workspace"] = await team.issue_token("bob", "beta")
    await team.issue_token("ann", "gamma")
    world.tokens["ann in another workspace of hers"] = await team.issue_token("ann", workspaces=["gamma"])
    world.tokens["cleo of the same workspace"] = await team.issue_token("cleo", "acme")
    world.tokens["ann"] = ann
    async with team.connect_client(ann) as client:
        await keep_texts(world, client)
        await keep_work(world, client)
        await open_browser_session(world, client)
    await add_evaluation(world)


async def call(client: Client, name: str, /, **arguments: Any) -> CallToolResult:
    done = await client.call_tool(name, arguments, meta=ANNA)
    assert not done.is_error, done
    return done


async def keep_texts(world: World, client: Client) -> None:
    store = (await call(client, "createStore", name=PRIVATE_WORDS)).structured_content["storeId"]
    kept = await call(client, "addContent", content=f"# Note\n\nThe {PRIVATE_WORDS} swims.", store_id=store)
    world.hers |= {"store_id": store, "content_id": kept.structured_content["contentId"]}
    await call(client, "write_file", path="secret.txt", content=f"The {PRIVATE_WORDS}.\n")
    exported = await call(client, "export_file", path="secret.txt")
    uri = next(
        str(item.uri) for item in exported.content if str(getattr(item, "uri", "")).startswith("outrider://artifacts/")
    )
    world.uris["artifact"] = uri
    world.folder = next((world.team.app.loaded.settings.data_dir / "workspaces").rglob("secret.txt"))
    world.hers |= {"path": "secret.txt", "src_abs_path": str(world.folder), "paths": [str(world.folder)]}
    world.hers |= {"file_url": world.folder.as_uri(), "context_files": [uri, uri.rsplit("/", 1)[1]]}
    world.hers |= {"code": f"print(open({str(world.folder)!r}).read())", "command": f"cat '{world.folder}'"}


async def keep_work(world: World, client: Client) -> None:
    await call(client, "create_goal", goal=f"Find the {PRIVATE_WORDS}")
    await call(client, "add_todo", name=f"Look for the {PRIVATE_WORDS}")
    step = {"description": f"Look for the {PRIVATE_WORDS}", "action": {"toolName": "web_search", "purpose": "find it"}}
    made = await call(client, "create_playbook", goal=f"The {PRIVATE_WORDS}", workflow=[step])
    playbook = made.structured_content["playbook"]["id"]
    run = (await call(client, "select_playbook", id=playbook)).structured_content["runId"]
    world.hers |= {"get_playbook.id": playbook, "ids": [playbook], "finish_playbook.runId": run}
    done = await call(client, "run_keeper", query=f"What of the {PRIVATE_WORDS}?")
    told = (done.meta or {})["outrider/run"]
    world.hers |= {"runId": told["runId"], "conversation_id": told["conversationId"]}
    world.uris["conversation"] = f"outrider://conversations/{told['conversationId']}"


async def open_browser_session(world: World, client: Client) -> None:
    opened = await call(client, "createSession", url=f"{world.site}/page", title=PRIVATE_WORDS)
    session = opened.structured_content["sessionId"]
    inside = next(each for each in world.team.app.browsers.list_sessions() if each.id == session)
    states = world.team.app.browsers.get_state_store(inside.options.whose)
    states.save("private", {"cookies": SIGNED_IN, "origins": []})
    world.hers |= {"sessionId": session, "stateId": "private", "state_id": "private"}


async def add_evaluation(world: World) -> None:
    app, inside = world.team.app, next(iter(world.team.app.browsers.list_sessions()))
    whose = Call(session=inside.owner, workspace="acme", identity="ann")
    begun, _ = await app.evaluator.evaluations.create(
        whose, url=world.site, task=PRIVATE_WORDS, mode="compact", limits={}
    )
    picture = await app.artifacts.save(b"x", name=PRIVATE_WORDS, mime_type="image/jpeg", session=begun.id, call=whose)
    seen = EvaluationRecord(
        begun.id, "screenshot", 1, f"The {PRIVATE_WORDS}", type="agent_step", artifact_id=picture.id
    )
    await app.evaluator.evaluations.save_records(
        [seen, EvaluationRecord(begun.id, "agent", 1, f"Saw the {PRIVATE_WORDS}")]
    )
    world.hers["session_id"] = begun.id
    world.uris["picture"] = picture.uri


def arguments_of(world: World, tool: Tool) -> tuple[dict[str, Any], bool]:
    """Return a stranger's arguments, with Ann's ids wherever possible, and whether any of them was used."""
    properties, required = tool.input_schema.get("properties", {}), tool.input_schema.get("required", [])
    hers = {name: world.hers.get(f"{tool.name}.{name}", world.hers.get(name)) for name in properties}
    if tool.toolset == "playbook" and "id" in properties:
        hers["id"] = world.hers["get_playbook.id"]
    hers |= {"clear_todos": {"ids": [99]}, "manageStates": {"action": "delete"}}.get(tool.name, {})
    given = {name: value for name, value in hers.items() if value is not None}
    named = bool(given.keys() - {"path", "code", "command"})
    return {name: build_sample(name, properties[name], world) for name in required if name not in given} | given, named


def build_sample(name: str, schema: dict[str, Any], world: World) -> Any:
    """Return any value that the schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    if "url" in name.lower():
        return f"{world.site}/missing"
    known: dict[str, Any] = {
        "agent": "keeper",
        "workflow": [{"description": "a", "action": {"toolName": "b", "purpose": "c"}}],
    }
    known |= {"replacements": [{"from_line": 1, "to_line": 1, "content": ""}], "files": ["secret.txt"], "budget": {}}
    known |= {"kind": "console", "direction": "down", "selector": "body", "urls": [f"{world.site}/missing"]}
    known |= {"playbook": {"goal": "mine now"}, "pattern": "amber", "query": "otter", "content": "[]"}
    known |= {"thoughtNumber": 1, "totalThoughts": 1, "process_id": "proc_1"}
    by_type = {"integer": 1, "number": 1, "boolean": True, "array": ["a"], "object": {}, "string": "a"}
    return known.get(name, by_type[schema["type"]])


READABLE = {"readContent", "get_current_state", "get_playbook", "agent_run", "read_file", "getStoreInfo"}
READABLE |= {"get_run_events", "snapshotPage"}
COUNTED = {"get_screenshots", "manageStates"}
STRANGERS = ["bob of another workspace", "ann in another workspace of hers", "cleo of the same workspace"]


@pytest.fixture(scope="module", params=STRANGERS)
async def stranger(request: pytest.FixtureRequest, world: World) -> AsyncGenerator[Client]:
    spoofed = {"X_Api_User_Email": "ann"}
    async with world.team.connect_client(world.tokens[request.param], **spoofed) as client:
        yield client


async def test_no_tool_reveals_anything_to_a_stranger(subtests: pytest.Subtests, world: World, stranger: Client):
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            given, named = arguments_of(world, tool)
            if tool.toolset == "playbook" and await of_the_same_workspace(stranger):
                continue  # an assistant's playbooks are the workspace's
            with anyio.fail_after(BROWSER_TIMEOUT_S):
                done = await stranger.call_tool(tool.name, given, meta=ANNA)
            if tool.name == "run_agent" and not done.is_error:
                # Saved files belong to the workspace and may be attached; the scripted model tells everyone the secret.
                # The conversation must be a new one.
                assert await of_the_same_workspace(stranger)
                assert given["conversation_id"] not in done.model_dump_json()
                continue
            assert PRIVATE_WORDS not in done.model_dump_json().replace(json.dumps(given)[1:-1], "")
            assert not named or done.is_error or tool.name in TOOLS_THAT_IGNORE_FOREIGN_IDS, done
            if named and tool.name not in TOOLS_THAT_IGNORE_FOREIGN_IDS:
                assert read_error(done)["kind"] in {"not_found", "refused", "invalid_input", "not_configured"}, done


async def of_the_same_workspace(client: Client) -> bool:
    listed = await client.call_tool("list_playbooks", {}, meta=ANNA)
    return PRIVATE_WORDS in listed.model_dump_json()


async def test_no_resource_is_read_by_a_stranger_or_listed_to_one(world: World, stranger: Client):
    listed = {str(each.uri) for each in (await stranger.list_resources(meta=ANNA)).resources}
    assert not listed & set(world.uris.values())
    theirs = await of_the_same_workspace(stranger)
    for uri in [*world.uris.values(), *listed]:
        text = await read_uri(stranger, uri)
        # Members of a workspace can read one another's files by address, and an assistant's playbooks.
        if not theirs or uri not in {world.uris["artifact"], world.uris["picture"], "context://playbook"}:
            assert PRIVATE_WORDS not in text
            assert uri in listed or text == "refused", uri


async def read_uri(client: Client, uri: str) -> str:
    """Return the resource as a client gets it, or the refusal."""
    try:
        return (await client.read_resource(uri, meta=ANNA)).model_dump_json()
    except MCPError:
        return "refused"


async def test_no_prompt_reveals_anything_to_a_stranger(world: World, stranger: Client):
    if await of_the_same_workspace(stranger):
        return
    prompts = (await stranger.list_prompts(meta=ANNA)).prompts
    assert prompts
    for prompt in prompts:
        assert PRIVATE_WORDS not in prompt.model_dump_json()
        found = await stranger.get_prompt(prompt.name, {}, meta=ANNA)
        assert PRIVATE_WORDS not in found.model_dump_json()


async def test_the_owner_still_has_everything(world: World):
    async with world.team.connect_client(world.tokens["ann"]) as client:
        for tool in (each for each in TOOLS if each.name in READABLE | COUNTED):
            done = await client.call_tool(tool.name, arguments_of(world, tool)[0], meta=ANNA)
            assert not done.is_error, done
            assert tool.name in COUNTED or PRIVATE_WORDS in done.model_dump_json(), done
        for uri in world.uris.values():
            assert (await client.read_resource(uri, meta=ANNA)).contents
        listed = {str(each.uri) for each in (await client.list_resources(meta=ANNA)).resources}
        assert world.uris["artifact"] in listed


async def test_other_users_of_the_machine_cannot_read_stored_data(home: Path):
    data = home / ".outrider"
    data.mkdir(exist_ok=True)
    data.chmod(0o755)
    async with open_app(load({"toolsets": ["all"]}, environ={}, home=home, workspace=home)) as app:
        await app.call("write_file", path="notes.txt", content=PRIVATE_WORDS)
        await app.call("export_file", path="notes.txt")
        await app.call("addContent", content=PRIVATE_WORDS)
    files = [path for path in data.rglob("*") if path.is_file() and path.stat().st_size]
    ways = {path: [path, *(each for each in path.parents if data in each.parents)] for path in files}
    readable = [path.name for path, way in ways.items() if all(each.stat().st_mode & 0o004 for each in way)]
    assert len(files) >= 4
    assert readable == []
