"""Test the contract of run_agent with the official client and a scripted model."""

import base64
import itertools
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, ProgressNotification, TextResourceContents

from outrider.serve.http import build_http_app
from support.apps import agents_app
from support.apps.agents_app import AgentsApp, ChatTurn
from support.apps.mcp_clients import HANDSHAKE_VERSION, NEWEST_VERSION, PROTOCOL_VERSIONS, connect_client
from support.databases.both_databases import DatabaseSetup
from support.fakes import http_servers
from support.results import read_error, read_first_text
from support.timeouts import EVENT_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
OUTPUT = "application/vnd.dust.tool-output"
FIELDS = "outrider/fields"

MODEL_TURNS = {
    "echo": [ChatTurn(thinking="I should simply say it back", text="You said what you said, and here it is again.")],
    "planner": [ChatTurn(text="planned")],
    "parent": [ChatTurn(calls=[("run_echo", {"query": "say it"})]), ChatTurn(text="The child has answered.")],
    "wide": [
        ChatTurn(calls=[("run_echo", {"query": "one"}), ("run_planner", {"query": "two"})]),
        ChatTurn(text="Both have answered."),
    ],
    "loop": [ChatTurn(calls=[("run_loop", {"query": "again"})]), ChatTurn(text="I may not call myself.")],
    **{
        f"deep{level}": [ChatTurn(calls=[(f"run_deep{level + 1}", {"query": "down"})]), ChatTurn(text="up")]
        for level in range(1, 5)
    },
    "deep5": [ChatTurn(text="bottom")],
    "broken": [ChatTurn(status=400)],
    "maker": [
        ChatTurn(calls=[("write_file", {"path": "out/draft.txt", "content": "first"})]),
        ChatTurn(calls=[("write_file", {"path": "out/draft.txt", "content": "The tide is high."})]),
        ChatTurn(calls=[("write_file", {"path": "table.csv", "content": "a,b\n1,2\n"})]),
        ChatTurn(calls=[("export_file", {"path": "table.csv", "format": "json"})]),
        ChatTurn(text="Both are written."),
    ],
    "manager": [ChatTurn(calls=[("run_maker", {"query": "write"})]), ChatTurn(text="They are written.")],
    "boss": [ChatTurn(calls=[("run_echo", {"query": "take over", "mode": "handoff"})]), ChatTurn(text="handed over")],
}
AGENT_DEFINITIONS: dict[str, dict[str, Any]] = {
    "echo": {"description": "Says it back"},
    "planner": {},
    "parent": {"tools": ["run_echo"]},
    "wide": {"tools": ["run_echo", "run_planner"]},
    "loop": {"tools": ["run_loop"]},
    **{f"deep{level}": {"tools": [f"run_deep{level + 1}"]} for level in range(1, 5)},
    "deep5": {},
    "broken": {},
    "maker": {"tools": ["write_file", "export_file"]},
    "manager": {"tools": ["run_maker"]},
    "boss": {"tools": ["run_echo"]},
}


@pytest.fixture(scope="module")
async def agents_host(tmp_path_factory: pytest.TempPathFactory, rows: DatabaseSetup) -> AsyncGenerator[AgentsApp]:
    """One app for all tests of this file: its engine takes seconds to open."""
    home = tmp_path_factory.mktemp("app")
    rows.configure_home(home)
    async with agents_app.open_agents_app(home, MODEL_TURNS, AGENT_DEFINITIONS, data_dir=str(home / "data")) as opened:
        yield opened


@asynccontextmanager
async def open_client(agents_host: AgentsApp, era: str = NEWEST_VERSION, **options: Any) -> AsyncGenerator[Client]:
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with connect_client(agents_host.app.build_server(), era, **options) as made:
            yield made


def parse_fields(result: CallToolResult, at: int = 0) -> dict[str, Any]:
    """A resource's own fields, and the fields of every resource."""
    resource = result.content[at].resource
    return resource.meta[FIELDS] | {"uri": resource.uri, "text": resource.text, "mimeType": resource.mime_type}


def get_run_id(result: CallToolResult) -> str:
    return result.meta["outrider/run"]["runId"]


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
async def test_each_agent_is_a_tool_with_its_name_and_description(agents_host: AgentsApp, era: str):
    async with open_client(agents_host, era) as caller:
        tools = {tool.name: tool for tool in (await caller.list_tools()).tools}
    echo = tools["run_echo"]
    assert echo.description == "Run agent echo (Says it back)"
    assert echo.title == "echo"
    assert echo.input_schema["required"] == ["query"]
    assert set(echo.input_schema["properties"]) >= {
        "query",
        "childAgent",
        "toolsetsToAdd",
        "fileOrContentFragmentIds",
        "conversationId",
    }
    assert "run_agent_tool_not_available" not in tools


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
async def test_the_answer_is_a_typed_resource_with_thoughts_status_and_usage(agents_host: AgentsApp, era: str):
    async with open_client(agents_host, era) as caller:
        result = await caller.call_tool("run_echo", {"query": "hello"})
    answer = parse_fields(result)
    assert not result.is_error
    assert answer["mimeType"] == f"{OUTPUT}.run-agent-result"
    assert answer["text"] == "You said what you said, and here it is again."
    assert answer["chainOfThought"] == "I should simply say it back"
    assert answer["uri"].endswith(answer["conversationId"])
    assert answer["status"] == "completed"
    assert answer["usage"]["tokens"] == 110
    assert "refs" not in answer
    assert result.structured_content is None


async def test_a_resources_extra_fields_reach_the_caller(agents_host: AgentsApp):
    result = await agents_host.app.call("run_echo", query="hello")
    assert result.content[0].fields["conversationId"].startswith("cnv_")


async def test_the_conversation_can_be_read_under_its_address(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        uri = parse_fields(await caller.call_tool("run_echo", {"query": "hello"}))["uri"]
        text = (await caller.read_resource(uri)).contents[0].text
        with pytest.raises(MCPError, match=r"conversation .* does not exist"):
            await caller.read_resource(f"{uri}0")
    assert text.startswith("# run_agent host > echo")
    assert "## To echo\n\nhello\n\n## echo\n\nYou said what you said" in text


@asynccontextmanager
async def open_recording_client(agents_host: AgentsApp, era: str) -> AsyncGenerator[tuple[Client, list[Any]]]:
    """A client, and the progress notices that reach it."""
    seen: list[Any] = []

    async def note(message: Any) -> None:
        if isinstance(message, ProgressNotification):
            seen.append(message.params)

    if era == NEWEST_VERSION:  # in memory, the newest protocol has no messages to inspect
        async with open_http_client(agents_host, message_handler=note) as caller:
            yield caller, seen
        return
    async with open_client(agents_host, era, message_handler=note) as caller:
        yield caller, seen


@asynccontextmanager
async def open_http_client(agents_host: AgentsApp, **options: Any) -> AsyncGenerator[Client]:
    """A client of the newest protocol over HTTP."""
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_http_app(agents_host.app.build_servers())) as url,
            Client(f"{url}/mcp", **options) as caller,
        ):
            yield caller


async def ignore_progress(progress: float, total: float | None, message: str | None) -> None:
    """A progress callback; passing one requests progress."""


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
@pytest.mark.nightly
async def test_progress_shows_query_conversation_thinking_and_answer(agents_host: AgentsApp, era: str):
    async with open_recording_client(agents_host, era) as (caller, seen):
        result = await caller.call_tool("run_echo", {"query": "hello"}, progress_callback=ignore_progress)
    outputs = [notice.meta["data"]["output"] for notice in seen if notice.meta and "data" in notice.meta]
    kinds = [output["type"] for output in outputs]
    assert kinds[:2] == ["store_resource", "run_agent"]
    assert set(kinds[2:]) == {"run_agent_chain_of_thought", "run_agent_generation_tokens"}
    query = outputs[0]["contents"][0]["resource"]
    assert query == {"mimeType": f"{OUTPUT}.run-agent-query", "text": "hello", "childAgentId": "echo", "uri": ""}
    ids = {
        "childAgentId": "echo",
        "conversationId": parse_fields(result)["conversationId"],
        "agentMessageId": get_run_id(result),
    }
    assert all(output | ids == output for output in outputs[1:])
    assert outputs[1]["query"] == "hello"
    assert outputs[1]["userMessageId"].startswith("msg_")
    texts = [output["text"] for output in outputs if output["type"] == "run_agent_generation_tokens"]
    assert texts[-1] == parse_fields(result)["text"]
    assert all(late.startswith(early) for early, late in itertools.pairwise(texts))
    assert [notice.progress for notice in seen] == sorted({notice.progress for notice in seen})


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
@pytest.mark.nightly
async def test_a_caller_that_did_not_ask_gets_no_progress(agents_host: AgentsApp, era: str):
    async with open_recording_client(agents_host, era) as (caller, seen):
        await caller.call_tool("run_echo", {"query": "hello"})
    assert seen == []


async def test_a_toolset_can_be_added_for_one_task(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        await caller.call_tool("run_planner", {"query": "plan", "toolsetsToAdd": ["mcp_server_view_planning"]})
    given = {tool["function"]["name"] for tool in agents_host.model.requests[-1]["tools"]}
    assert "create_goal" in given


async def test_the_configured_agent_must_match_the_called_tool(agents_host: AgentsApp):
    mime = "application/vnd.dust.tool-input.agent"
    async with open_client(agents_host) as caller:
        right = {"uri": "agent://dust/w/w1/agents/echo", "mimeType": mime}
        assert not (await caller.call_tool("run_echo", {"query": "q", "childAgent": right})).is_error
        for uri in ("agent://dust/w/w1/agents/planner", "http://a.example", "agent://dust/agents/echo"):
            wrong = await caller.call_tool("run_echo", {"query": "q", "childAgent": {"uri": uri, "mimeType": mime}})
            assert "childAgent" in read_error(wrong)["message"]


async def test_known_files_are_attached_to_the_query_and_unknown_ones_ignored(agents_host: AgentsApp):
    kept = await agents_host.app.artifacts.save(b"a,b", name="sales.csv", mime_type="text/csv", session="default")
    async with open_client(agents_host) as caller:
        await caller.call_tool("run_echo", {"query": "look", "fileOrContentFragmentIds": [kept.id, "fil_unknown"]})
    asked = str(agents_host.model.requests[-1]["messages"])
    assert "sales.csv" in asked
    assert "fil_unknown" not in asked


async def test_files_created_by_an_agent_are_returned_as_named_resources(agents_host: AgentsApp):
    meta: Any = {"session_id": "makers"}
    async with open_client(agents_host) as caller:
        for tool in ("run_maker", "run_manager"):
            result = await caller.call_tool(tool, {"query": "write"}, meta=meta)
            files = [parse_fields(result, at) for at in range(1, len(result.content))]
            assert [file["title"] for file in files][:2] == ["out/draft.txt", "table.csv"]
            assert files[2]["title"].startswith("exports/files/table_")
            assert [file["contentType"] for file in files] == ["text/plain", "text/csv", "application/json"]
            for file in files:
                assert (file["mimeType"], file["text"]) == (f"{OUTPUT}.file", "File generated by a sub-agent")
                assert re.fullmatch(r"[\w-]+", file["fileId"])
                read = (await caller.read_resource(file["uri"])).contents[0]
                same = await caller.call_tool("read_file", {"path": file["title"]}, meta=meta)
                body = read.text if isinstance(read, TextResourceContents) else base64.b64decode(read.blob).decode()
                assert body == read_first_text(same)
    told = str(agents_host.model.requests[-1]["messages"])
    assert "out/draft.txt (id " in told


async def test_an_agent_gets_files_by_path_or_id_and_reads_them(agents_host: AgentsApp):
    meta: Any = {"session_id": "hand over"}
    async with open_client(agents_host) as caller:
        made = await caller.call_tool("run_maker", {"query": "write"}, meta=meta)
        draft = parse_fields(made, 1)
        await caller.call_tool("write_file", {"path": "notes/large.md", "content": "word " * 10_000}, meta=meta)
        wanted = [draft["fileId"], "table.csv", "notes/large.md", "fil_unknown"]
        given: Any = {"agent": "echo", "query": "look", "context_files": wanted}
        await caller.call_tool("run_agent", given, meta=meta)
        missing = await caller.call_tool("run_agent", given | {"context_files": ["no/such.txt"]}, meta=meta)
        outside = await caller.call_tool("run_agent", given | {"context_files": ["../x"]}, meta=meta)
    told = agents_host.model.requests[-1]["messages"][-1]["content"]
    for text in ("The tide is high.", "- table.csv\n<untrusted", "| 1 | 2 |", "[cut: 49,999 characters in total]"):
        assert text in told
    assert "fil_unknown" not in told
    assert read_error(missing)["message"] == "context_files: 'no/such.txt' does not exist"
    assert "context_files: '../x' leads out of the workspace" in read_error(outside)["message"]


async def test_a_child_runs_in_an_unlisted_conversation_one_deeper_for_the_same_person(agents_host: AgentsApp):
    meta: Any = {"session_id": "family", "identity": "ann@a.example"}
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_parent", {"query": "ask your child"}, meta=meta)
    parent = await agents_host.app.runs.get(get_run_id(result))
    (child,) = [run for run in await list_tree_runs(agents_host, parent.root_run_id) if run.id != parent.id]
    place = await open_conversations(agents_host).get(child.conversation_id)
    assert (place.visibility, place.title) == ("unlisted", "run_agent parent > echo")
    assert (place.depth, place.ancestors) == (parent.depth + 1, ("parent",))
    assert {parent.identity, child.identity, place.identity} == {"ann@a.example"}
    assert parse_fields(result)["usage"]["tokens"] == 330


async def test_a_host_names_the_calling_agent_and_its_depth(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        meta: Any = {"stepContext": {"agent": "concierge", "depth": 3}}
        result = await caller.call_tool("run_echo", {"query": "q"}, meta=meta)
        too_deep: Any = {"stepContext": {"depth": 4}}
        refused = read_error(await caller.call_tool("run_echo", {"query": "q"}, meta=too_deep))
    place = await open_conversations(agents_host).get(parse_fields(result)["conversationId"])
    assert (place.title, place.depth) == ("run_agent concierge > echo", 4)
    assert (refused["code"], refused["kind"]) == ("agent_depth", "refused")


def open_conversations(agents_host: AgentsApp) -> Any:
    from outrider.agents.conversations import Conversations

    return Conversations(agents_host.app.database)


async def list_tree_runs(agents_host: AgentsApp, root: str) -> list[Any]:
    from outrider.agents.run import RunStore
    from outrider.agents.tables import runs

    return await RunStore(agents_host.app.database).list_runs(runs.c.root_run_id == root)


async def test_children_of_one_step_work_side_by_side(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_wide", {"query": "both"})
    assert parse_fields(result)["text"] == "Both have answered."
    assert {run.agent for run in await list_tree_runs(agents_host, get_run_id(result))} == {"wide", "echo", "planner"}


async def test_an_agent_may_not_call_itself_and_learns_why(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_loop", {"query": "go"})
    assert parse_fields(result)["text"] == "I may not call myself."
    assert "already in this chain of calls: loop > loop" in str(agents_host.model.requests[-1]["messages"])


async def test_the_fifth_level_is_refused_and_the_fourth_learns_why(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_deep1", {"query": "dive"})
    assert parse_fields(result)["text"] == "up"
    tree = await list_tree_runs(agents_host, get_run_id(result))
    assert sorted(run.depth for run in tree) == [1, 2, 3, 4]
    told = [
        str(asked["messages"]) for asked in agents_host.model.requests if "You are deep4." in str(asked["messages"][0])
    ]
    assert "4 levels deep" in told[-1]


async def test_a_conversation_can_be_continued(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        first = parse_fields(await caller.call_tool("run_echo", {"query": "my name is Ann"}))
        again = {"query": "what is my name?", "conversationId": first["conversationId"]}
        second = parse_fields(await caller.call_tool("run_echo", again))
    assert second["conversationId"] == first["conversationId"]
    assert "my name is Ann" in str(agents_host.model.requests[-1]["messages"])
    assert [each.role for each in await open_conversations(agents_host).list_messages(first["conversationId"])] == [
        "user",
        "agent",
        "user",
        "agent",
    ]


async def test_any_other_conversation_id_means_a_new_conversation(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        mine = parse_fields(await caller.call_tool("run_echo", {"query": "q"}))["conversationId"]
        other: Any = {"session_id": "somebody else"}
        for known in ("cnv_unknown", mine):
            result = await caller.call_tool("run_echo", {"query": "q", "conversationId": known}, meta=other)
            assert parse_fields(result)["conversationId"] not in (known, mine)


async def test_the_callers_own_conversation_is_handed_over(agents_host: AgentsApp):
    meta: Any = {"session_id": "talk"}
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_echo", {"query": "take over", "conversationId": "talk"}, meta=meta)
        exit_ = parse_fields(result)
        answer = await caller.call_tool("agent_run", {"runId": exit_["runId"], "waitSeconds": 30}, meta=meta)
    assert not result.is_error
    assert (exit_["type"], exit_["isError"]) == ("tool_early_exit", False)
    assert exit_["mimeType"] == f"{OUTPUT}.agent-pause-tool-output"
    assert "@echo" in exit_["text"]
    assert parse_fields(answer)["conversationId"] == exit_["conversationId"]
    posted, _ = await open_conversations(agents_host).list_messages(exit_["conversationId"])
    assert posted.text == ":mention[echo]{sId=echo} take over"
    place = await open_conversations(agents_host).get(exit_["conversationId"])
    assert (place.visibility, place.depth) == ("listed", 0)


async def test_an_agent_hands_over_its_own_conversation_with_instructions(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        result = await caller.call_tool("run_boss", {"query": "who does it?"})
    place = await agents_host.app.runs.get(get_run_id(result))
    messages = await open_conversations(agents_host).list_messages(place.conversation_id)
    posted = next(each for each in messages if each.text.startswith(":mention[echo]"))
    assert posted.text == ":mention[echo]{sId=echo} You are boss.\n\ntake over"
    assert parse_fields(result)["text"].startswith("Handed over to @echo")
    assert sum("You are boss." in str(asked["messages"][0]) for asked in agents_host.model.requests) == 1


async def test_a_background_run_is_followed_later(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        started = await caller.call_tool("run_echo", {"query": "slowly", "mode": "background"})
        assert get_run_id(started) in read_first_text(started)
        later = await caller.call_tool("agent_run", {"runId": get_run_id(started), "waitSeconds": 30})
        assert parse_fields(later)["text"].startswith("You said")
        listed = read_first_text(await caller.call_tool("agent_run", {}))
    assert f"{get_run_id(started)} (completed) echo: slowly" in listed


async def test_another_persons_run_is_not_found(agents_host: AgentsApp):
    mine: Any = {"session_id": "mine"}
    other: Any = {"session_id": "other"}
    async with open_client(agents_host) as caller:
        run = get_run_id(await caller.call_tool("run_echo", {"query": "q"}, meta=mine))
        for name in ("agent_run", "cancel_agent_run"):
            refused = await caller.call_tool(name, {"runId": run}, meta=other)
            assert read_error(refused)["code"] == "not_found"
        assert (await caller.call_tool("agent_run", {}, meta=other)).content[0].text.startswith("You have not run")


async def test_an_agent_that_fails_gives_the_reason_and_the_remedy(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        failed = read_error(await caller.call_tool("run_broken", {"query": "q"}))
    assert failed["message"].startswith("agent 'broken' failed: ")
    assert failed["hint"]
    assert failed["details"]["status"] == "failed"
    assert failed["details"]["conversationId"].startswith("cnv_")


@pytest.mark.parametrize("seconds", [0, 1])
@pytest.mark.nightly
async def test_a_call_that_does_not_wait_reports_how_to_return(agents_host: AgentsApp, seconds: int):
    held = anyio.Event()
    agents_host.model.script = {**MODEL_TURNS, "slow": [ChatTurn(text="at last", wait_before=held)]}
    agents_host.write_agent("slow")
    async with open_client(agents_host) as caller:
        run = get_run_id(await caller.call_tool("run_slow", {"query": "q", "mode": "background"}))
        waiting = await caller.call_tool("agent_run", {"runId": run, "waitSeconds": seconds})
        assert "still working" in read_first_text(waiting)
        assert waiting.meta["outrider/run"]["status"] == "running"
        held.set()
        done = await caller.call_tool("agent_run", {"runId": run, "waitSeconds": 30})
    assert parse_fields(done)["text"] == "at last"


async def test_cancelling_reaches_the_children(agents_host: AgentsApp):
    held = anyio.Event()
    agents_host.model.script = {
        **MODEL_TURNS,
        "above": [ChatTurn(calls=[("run_below", {"query": "wait"})])],
        "below": [ChatTurn(text="never", wait_before=held)],
    }
    agents_host.write_agent("below")
    agents_host.write_agent("above", tools=["run_below"])
    async with open_client(agents_host) as caller:
        await caller.list_tools()
        run = get_run_id(await caller.call_tool("run_above", {"query": "q", "mode": "background"}))
        await wait_for_child(agents_host, run)
        assert "is cancelled" in read_first_text(await caller.call_tool("cancel_agent_run", {"runId": run}))
        told = read_error(await caller.call_tool("agent_run", {"runId": run, "waitSeconds": 10}))
    held.set()
    assert (told["code"], told["kind"]) == ("cancelled", "refused")
    assert {each.status for each in await list_tree_runs(agents_host, run)} == {"cancelled"}


async def wait_for_child(agents_host: AgentsApp, root: str) -> Any:
    """The run's child, as soon as there is one."""
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while len(tree := await list_tree_runs(agents_host, root)) < 2:
            await anyio.sleep(0.05)
    return next(each for each in tree if each.id != root)


async def wait_for_end(agents_host: AgentsApp, run: str) -> Any:
    """The run, once it is over."""
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async for _ in agents_host.app.runs.follow(run):
            pass
    return await agents_host.app.runs.get(run)


async def test_a_cancelling_client_cancels_its_run(agents_host: AgentsApp):
    held = anyio.Event()
    agents_host.model.script = {**MODEL_TURNS, "held": [ChatTurn(text="never", wait_before=held)]}
    agents_host.write_agent("held")
    async with open_client(agents_host, HANDSHAKE_VERSION) as caller:
        async with anyio.create_task_group() as tasks:
            before = len(agents_host.model.requests)
            tasks.start_soon(caller.call_tool, "run_held", {"query": "q"})
            await wait_for_model_request(agents_host, before)
            tasks.cancel_scope.cancel()
        run = await find_last_run(agents_host)
        assert (await wait_for_end(agents_host, run)).status == "cancelled"
    held.set()


async def test_a_client_that_vanishes_leaves_the_run_running(agents_host: AgentsApp):
    held = anyio.Event()
    agents_host.model.script = {**MODEL_TURNS, "lonely": [ChatTurn(text="done all alone", wait_before=held)]}
    agents_host.write_agent("lonely")

    async def call_alone() -> None:
        async with connect_client(agents_host.app.build_server(), NEWEST_VERSION) as caller:
            await caller.call_tool("run_lonely", {"query": "q"})

    async with anyio.create_task_group() as tasks:
        before = len(agents_host.model.requests)
        tasks.start_soon(call_alone)
        await wait_for_model_request(agents_host, before)
        tasks.cancel_scope.cancel()
    run = await find_last_run(agents_host)
    held.set()
    assert (await wait_for_end(agents_host, run)).answer == "done all alone"


async def wait_for_model_request(agents_host: AgentsApp, before: int) -> None:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while len(agents_host.model.requests) <= before:
            await anyio.sleep(0.01)


async def find_last_run(agents_host: AgentsApp) -> str:
    from outrider.agents.run import RunStore

    return (await RunStore(agents_host.app.database).list_runs())[-1].id


@pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION])
async def test_clients_are_notified_when_agents_are_added_or_removed(agents_host: AgentsApp, era: str):
    changed = anyio.Event()

    async def note(message: Any) -> None:
        if "tool" in type(message).__name__.lower():
            changed.set()

    name = f"newcomer {era}"
    async with open_client(agents_host, era, message_handler=note) as caller:
        if era == HANDSHAKE_VERSION:
            assert caller.server_capabilities.tools.list_changed
            assert f"run_newcomer_{era.replace('-', '_')}" not in await list_tool_names(caller)
            agents_host.write_agent(name)
            await agents_host.app.toolbox.refresh_tools()  # even if another process has noticed it first
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await changed.wait()
        else:
            async with caller.listen(tools_list_changed=True) as events:
                await list_tool_names(caller)
                agents_host.write_agent(name)
                with anyio.fail_after(EVENT_TIMEOUT_S):
                    await anext(aiter(events))
        assert f"run_newcomer_{era.replace('-', '_')}" in await list_tool_names(caller)


async def list_tool_names(caller: Client) -> set[str]:
    return {tool.name for tool in (await caller.list_tools(cache_mode="bypass")).tools}


async def test_an_unusable_agent_is_listed_as_a_placeholder(agents_host: AgentsApp):
    broken = agents_host.folder / "ruined.md"
    broken.write_text("no front matter")
    try:
        async with open_client(agents_host) as caller:
            listed = await list_tool_names(caller)
            told = await caller.call_tool("run_agent_tool_not_available", {})
    finally:
        broken.unlink()
    assert "run_agent_tool_not_available" in listed
    assert "run_ruined" not in listed
    assert "No child agent is configured" in read_first_text(told)
    assert "ruined.md" in read_first_text(told)
    assert told.is_error


async def test_the_generic_tool_runs_agents_by_name(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        arguments = {"agent": "echo", "query": "q", "budget": {"max_steps": 3, "max_seconds": 60}}
        result = await caller.call_tool("run_agent", arguments)
        unknown = read_error(await caller.call_tool("run_agent", {"agent": "ecco", "query": "q"}))
    assert parse_fields(result)["text"].startswith("You said")
    assert (await agents_host.app.runs.get(get_run_id(result))).budgets["steps"] == 3
    assert (unknown["code"], unknown["hint"]) == ("unknown_agent", "did you mean echo?")


async def test_a_call_waits_ten_minutes_for_its_agent_by_default(agents_host: AgentsApp):
    assert agents_host.app.loaded.settings.run_agent.detach_s == 600
    assert agents_host.app.toolbox.get_tool("run_echo").timeout > 600
