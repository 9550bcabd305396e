"""Test that blocked runs are answered with every protocol era and client."""

import json
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, InputRequiredResult, ProgressNotification

from outrider.agents.approvals import Questions
from outrider.core import approval_required
from outrider.serve.http import build_http_app
from outrider.serve.mcp import ApprovalResponder, build_mcp_server
from outrider.serve.state_encryption import build_state_security
from support.apps import agents_app
from support.apps.agents_app import AgentsApp, ChatTurn
from support.apps.mcp_clients import (
    CLIENT_CAPABILITIES,
    HANDSHAKE_VERSION,
    NEWEST_VERSION,
    OLDEST_VERSION,
    PROTOCOL_VERSIONS,
    FormAnswerer,
    answer_requests,
    choose_decision,
    connect_client,
)
from support.databases.both_databases import DatabaseSetup
from support.fakes import http_servers
from support.results import read_first_text
from support.timeouts import BROWSER_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
FIELDS = "outrider/fields"
PAUSE = "application/vnd.dust.tool-output.agent-pause-tool-output"


def script_note(what: str) -> list[ChatTurn]:
    """An agent that writes something down, which needs consent, and then says so."""
    return [ChatTurn(calls=[("add_observation", {"observation": what})]), ChatTurn(text=f"Dealt with {what}.")]


BLOCKED_TURNS = {
    "leaf": script_note("the leaf's note"),
    "left": script_note("left"),
    "right": script_note("right"),
    "middle": [ChatTurn(calls=[("run_leaf", {"query": "write it down"})]), ChatTurn(text="The leaf is done.")],
    "top": [ChatTurn(calls=[("run_middle", {"query": "have it written"})]), ChatTurn(text="All is done.")],
    "fork": [
        ChatTurn(calls=[("run_left", {"query": "go"}), ("run_right", {"query": "go"})]),
        ChatTurn(text="Both sides are done."),
    ],
    "twice": [*script_note("first")[:1], *script_note("second")],
}
WRITES = {"tools": ["add_observation"], "stakes": {"add_observation": "high"}}
BLOCKED_AGENTS: dict[str, dict[str, Any]] = {
    "leaf": WRITES,
    "left": WRITES,
    "right": WRITES,
    "twice": WRITES,
    "middle": {"tools": ["run_leaf"]},
    "top": {"tools": ["run_middle"]},
    "fork": {"tools": ["run_left", "run_right"]},
}


@pytest.fixture(scope="module")
async def agents_host(tmp_path_factory: pytest.TempPathFactory, rows: DatabaseSetup) -> AsyncGenerator[AgentsApp]:
    """One app for all tests of this file."""
    home = tmp_path_factory.mktemp("app")
    rows.configure_home(home)
    async with agents_app.open_agents_app(home, BLOCKED_TURNS, BLOCKED_AGENTS, data_dir=str(home / "data")) as opened:
        yield opened


def build_meta(session: str, **step: Any) -> Any:
    """The `_meta` of a call in that session."""
    return {"session_id": session} | ({"stepContext": step} if step else {})


async def list_notes(agents_host: AgentsApp, session: str, identity: str | None = None) -> list[str]:
    """The side effects in that session: the written notes."""
    from outrider.core.context import Call

    state = await agents_host.app.call("get_current_state", Call(session=session, identity=identity))
    return state.data["observations"]


@asynccontextmanager
async def open_client(agents_host: AgentsApp, *how: Any, **options: Any) -> AsyncGenerator[Client]:
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with connect_client(agents_host.app.build_server(), *how, **options) as made:
            yield made


def read_approval(result: CallToolResult) -> approval_required.ApprovalRequired:
    """The questions of the blocked result."""
    found = approval_required.parse_approval_result(result.model_dump(by_alias=True, mode="json", exclude_none=True))
    assert found is not None, result
    return found


def read_answer(result: CallToolResult) -> str:
    assert not result.is_error, read_first_text(result)
    return result.content[0].resource.text


@pytest.mark.parametrize(
    ("era", "capabilities"),
    [
        pytest.param(era, kind, marks=[pytest.mark.nightly] * (era != NEWEST_VERSION and kind != "person"))
        for era in PROTOCOL_VERSIONS
        for kind in CLIENT_CAPABILITIES
    ],
)
@pytest.mark.nightly
async def test_a_grandchilds_question_reaches_the_person_and_the_answer_returns_to_it(
    agents_host: AgentsApp, era: str, capabilities: str
):
    session = f"{era} {capabilities}"
    person = FormAnswerer(choose_decision("approved"))
    async with open_client(agents_host, era, capabilities, person) as caller:
        result = await caller.call_tool("run_top", {"query": "go"}, meta=build_meta(session))
        if capabilities != "person" or era == OLDEST_VERSION:
            result = await answer_through_host(agents_host, caller, result, session)
        else:
            (form,) = person.forms
            assert "the leaf's note" in form.message
    assert read_answer(result) == "All is done."
    assert await list_notes(agents_host, session) == ["the leaf's note"]


async def answer_through_host(
    agents_host: AgentsApp, caller: Client, result: CallToolResult, session: str
) -> CallToolResult:
    """Continue from a blocked result like a host with its own dialog for questions."""
    assert result.is_error
    assert len(result.content) == 1
    assert set(json.loads(read_first_text(result))) == {"__dust_blocked_awaiting_input"}
    waiting = read_approval(result)
    (event,) = waiting.events
    assert event["type"] == "tool_approve_execution"
    assert event["inputs"] == {"observation": "the leaf's note"}
    assert event["metadata"] == {"mcpServerName": "planning", "toolName": "add_observation", "agentName": "leaf"}
    assert (event["stake"], event["isLastBlockingEventForStep"]) == ("high", True)
    assert event["configurationId"] == "leaf"
    assert await list_notes(agents_host, session) == []
    decision = {"actionId": event["actionId"], "decision": "approved"}
    meta = build_meta(session, resumeState=waiting.state, decisions=[decision])
    return await caller.call_tool("run_top", {"query": "go"}, meta=meta)


async def test_the_state_matches_the_wire_format(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        state = read_approval(await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("shape"))).state
    assert state["conversationId"].startswith("cnv_")
    assert state["userMessageId"].startswith("msg_")


async def test_the_resource_format_returns_a_resource_and_not_an_error(agents_host: AgentsApp):
    server = build_mcp_server(
        agents_host.app.toolbox, agents_host.app.artifacts, approvals=ApprovalResponder(blocked_format="resource")
    )
    async with connect_client(server) as caller:
        result = await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("later form"))
    resource = result.content[0].resource
    assert not result.is_error
    assert (resource.mime_type, resource.uri) == (PAUSE, "")
    assert resource.meta[FIELDS]["type"] == "tool_blocked_awaiting_input"
    assert read_approval(result).events[0]["type"] == "tool_approve_execution"
    assert read_approval(result).state["conversationId"].startswith("cnv_")


@pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION])
async def test_a_rejection_carries_its_reason_to_the_agent(agents_host: AgentsApp, era: str):
    def refuse(properties: dict[str, Any]) -> dict[str, str]:
        name = next(name for name, field in properties.items() if "enum" in field)
        return {name: "rejected", f"{name}_reason": "not on a Sunday"}

    async with open_client(agents_host, era, "person", FormAnswerer(refuse)) as caller:
        result = await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta(f"reason {era}"))
    assert read_answer(result) == "Dealt with the leaf's note."
    assert "not on a Sunday" in str(agents_host.model.requests[-1]["messages"])
    assert await list_notes(agents_host, f"reason {era}") == []


async def test_a_person_is_asked_over_http_behind_a_token(agents_host: AgentsApp):
    person = FormAnswerer(choose_decision("approved"))
    web = build_http_app(agents_host.app.build_servers(), token="t0ken")
    headers = {"authorization": "Bearer t0ken", "x-api-user-email": "ann@a.example"}
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with (
            http_servers.serve_app(web) as url,
            httpx2.AsyncClient(headers=headers, timeout=PROCESS_TIMEOUT_S) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), elicitation_callback=person) as caller,
        ):
            result = await caller.call_tool("run_top", {"query": "go"}, meta=build_meta("http"))
    assert read_answer(result) == "All is done."
    assert len(person.forms) == 1
    assert await list_notes(agents_host, "http", "ann@a.example") == ["the leaf's note"]


async def test_progress_continues_after_the_question(agents_host: AgentsApp):
    seen: list[Any] = []

    async def note(message: Any) -> None:
        if isinstance(message, ProgressNotification):
            seen.append(message.params)

    async def ignore_progress(progress: float, total: float | None, message: str | None) -> None:
        """Passing a callback requests progress."""

    person = FormAnswerer(choose_decision("approved"))
    async with open_client(agents_host, HANDSHAKE_VERSION, "person", person, message_handler=note) as caller:
        await caller.call_tool(
            "run_leaf", {"query": "go"}, meta=build_meta("progress"), progress_callback=ignore_progress
        )
    outputs = [notice.meta["data"]["output"] for notice in seen if notice.meta and "data" in notice.meta]
    assert outputs[-1]["type"] == "run_agent_generation_tokens"
    assert outputs[-1]["text"].endswith("Dealt with the leaf's note.")
    assert [notice.progress for notice in seen] == sorted({notice.progress for notice in seen})


@pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION])
async def test_declining_the_form_refuses_the_call(agents_host: AgentsApp, era: str):
    async with open_client(agents_host, era, "person", FormAnswerer(lambda _: "decline")) as caller:
        result = await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta(f"declined {era}"))
    assert read_answer(result) == "Dealt with the leaf's note."
    assert await list_notes(agents_host, f"declined {era}") == []


@pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION])
async def test_closing_a_form_leaves_the_question_open(agents_host: AgentsApp, era: str):
    session = f"closed {era}"
    async with open_client(agents_host, era, "person", FormAnswerer(lambda _: None)) as caller:
        waiting = read_approval(await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta(session)))
    assert len(waiting.events) == 1
    async with open_client(agents_host, era, "person", FormAnswerer(choose_decision("approved"))) as caller:
        result = await caller.call_tool(
            "run_leaf", {"query": "go"}, meta=build_meta(session, resumeState=waiting.state)
        )
    assert read_answer(result) == "Dealt with the leaf's note."
    assert await list_notes(agents_host, session) == ["the leaf's note"]


@pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION])
@pytest.mark.nightly
async def test_questions_of_two_children_share_one_form_that_may_be_answered_in_parts(agents_host: AgentsApp, era: str):
    session = f"parts {era}"

    def one_at_a_time(properties: dict[str, Any]) -> dict[str, str]:
        return {next(name for name, field in properties.items() if "enum" in field): "approved"}

    person = FormAnswerer(one_at_a_time)
    async with open_client(agents_host, era, "person", person) as caller:
        result = await caller.call_tool("run_fork", {"query": "go"}, meta=build_meta(session))
    assert read_answer(result) == "Both sides are done."
    assert [
        sum("enum" in field for field in form.requested_schema["properties"].values()) for form in person.forms
    ] == [
        2,
        1,
    ]
    assert sorted(await list_notes(agents_host, session)) == ["left", "right"]


@pytest.mark.nightly
async def test_partial_decisions_of_the_host_resume_nothing_until_all_are_made(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        waiting = read_approval(await caller.call_tool("run_fork", {"query": "go"}, meta=build_meta("host parts")))
        assert [event["isLastBlockingEventForStep"] for event in waiting.events] == [True, True]
        for event, left in zip(waiting.events, (1, 0), strict=True):
            decision = {"actionId": event["actionId"], "decision": "approved"}
            meta = build_meta("host parts", resumeState=waiting.state, decisions=[decision])
            result = await caller.call_tool("run_fork", {"query": "go"}, meta=meta)
            assert len(await list_notes(agents_host, "host parts")) == (0 if left else 2)
            assert not left or len(read_approval(result).events) == left
    assert read_answer(result) == "Both sides are done."


async def test_repeating_a_resume_changes_nothing(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        waiting = read_approval(await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("again")))
        decision = {"actionId": waiting.events[0]["actionId"], "decision": "approved"}
        meta = build_meta("again", resumeState=waiting.state, decisions=[decision])
        results = [await caller.call_tool("run_leaf", {"query": "go"}, meta=meta) for _ in range(3)]
    assert {read_answer(result) for result in results} == {"Dealt with the leaf's note."}
    assert await list_notes(agents_host, "again") == ["the leaf's note"]


@pytest.mark.nightly
async def test_a_decision_made_elsewhere_counts(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        waiting = read_approval(await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("door")))
        await Questions(agents_host.app.database).decide(waiting.events[0]["actionId"], "approved", by="dashboard")
        result = await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("door", resumeState=waiting.state))
    assert read_answer(result) == "Dealt with the leaf's note."


@pytest.mark.nightly
async def test_an_always_allowed_tool_is_asked_about_once(agents_host: AgentsApp):
    person = FormAnswerer(choose_decision("always_approved"))
    meta = build_meta("always") | {"identity": "always@a.example"}
    async with open_client(agents_host, NEWEST_VERSION, "person", person) as caller:
        for _ in range(2):
            assert read_answer(await caller.call_tool("run_twice", {"query": "go"}, meta=meta)) == "Dealt with second."
    assert len(person.forms) == 1
    assert sorted(await list_notes(agents_host, "always", "always@a.example")) == ["first", "first", "second", "second"]


async def test_the_state_of_another_persons_conversation_is_refused(agents_host: AgentsApp):
    async with open_client(agents_host) as caller:
        waiting = read_approval(await caller.call_tool("run_leaf", {"query": "go"}, meta=build_meta("mine")))
        stolen = build_meta("yours", resumeState=waiting.state)
        refused = await caller.call_tool("run_leaf", {"query": "go"}, meta=stolen)
    assert refused.structured_content["error"]["code"] == "not_found"


# State that the client carries


@asynccontextmanager
async def pause_call(server: Any, session: str = "sealed") -> AsyncGenerator[tuple[Client, InputRequiredResult]]:
    """A client of the newest protocol that repeats the call itself, and the first question."""
    async with connect_client(server, NEWEST_VERSION, "person", FormAnswerer(choose_decision("approved"))) as caller:
        first = await caller.session.call_tool(
            "run_leaf", {"query": "go"}, meta=build_meta(session), allow_input_required=True
        )
        assert isinstance(first, InputRequiredResult)
        yield caller, first


async def repeat_call(caller: Client, first: InputRequiredResult, state: str, **changed: Any) -> Any:
    call: Any = {"name": "run_leaf", "arguments": {"query": "go"}, "meta": build_meta("sealed")} | changed
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        return await caller.session.call_tool(
            **call, request_state=state, input_responses=answer_requests(first), allow_input_required=True
        )


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "tampered"},
        {"arguments": {"query": "something else"}},
        {"name": "run_left"},
        {"meta": {"session_id": "another"}},
        {"meta": {"session_id": "sealed", "identity": "bob@a.example"}},
    ],
    ids=["tampered", "arguments", "tool", "session", "person"],
)
async def test_altered_or_foreign_state_is_refused(agents_host: AgentsApp, changed: dict[str, Any]):
    async with pause_call(agents_host.app.build_server()) as (caller, first):
        sealed = str(first.request_state)
        change = dict(changed)
        middle = len(sealed) // 2
        flipped = sealed[:middle] + sealed[middle:].swapcase()
        state = flipped if change.pop("state", None) else sealed
        with pytest.raises(MCPError, match="Call the tool again without requestState"):
            await repeat_call(caller, first, state, **change)
    assert "cnv_" not in sealed
    assert "run_" not in sealed


async def test_state_that_is_too_old_is_refused(agents_host: AgentsApp, tmp_path: Path):
    pause = ApprovalResponder(build_state_security("", tmp_path, hours=1e-9))
    async with pause_call(build_mcp_server(agents_host.app.toolbox, agents_host.app.artifacts, approvals=pause)) as (
        caller,
        first,
    ):
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await repeat_call(caller, first, first.request_state or "")


async def test_replicas_with_a_shared_key_accept_each_others_state(agents_host: AgentsApp, tmp_path: Path):
    key = "k" * 32
    servers = [
        build_mcp_server(
            agents_host.app.toolbox,
            agents_host.app.artifacts,
            approvals=ApprovalResponder(build_state_security(key, tmp_path / name, hours=25)),
        )
        for name in ("one", "two")
    ]
    stranger = build_mcp_server(
        agents_host.app.toolbox,
        agents_host.app.artifacts,
        approvals=ApprovalResponder(build_state_security("x" * 32, tmp_path, hours=25)),
    )
    async with pause_call(servers[0], "sealed") as (_, first):
        pass
    async with connect_client(stranger, NEWEST_VERSION, "person", FormAnswerer(choose_decision("approved"))) as caller:
        with pytest.raises(MCPError, match="requestState"):
            await repeat_call(caller, first, first.request_state or "")
    async with connect_client(
        servers[1], NEWEST_VERSION, "person", FormAnswerer(choose_decision("approved"))
    ) as caller:
        assert read_answer(await repeat_call(caller, first, first.request_state or "")) == "Dealt with the leaf's note."


async def test_without_a_shared_key_the_machine_creates_its_own_private_one(tmp_path: Path):
    one, two = (build_state_security("", tmp_path / "kept", hours=25).codec for _ in range(2))
    assert two.unseal(one.seal(b"state")) == b"state"
    assert stat.S_IMODE((tmp_path / "kept" / "state.key").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["state.key"]


async def test_consent_to_a_tool_is_protected_in_the_same_way(agents_host: AgentsApp):
    server = build_mcp_server(agents_host.app.toolbox, agents_host.app.artifacts)
    async with connect_client(server, NEWEST_VERSION, "person", FormAnswerer(choose_decision("approved"))) as caller:
        arguments = {"sessionId": "s", "script": "1"}
        asked = await caller.session.call_tool("inject_javascript", arguments, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult)
        assert "inject_javascript" not in (asked.request_state or "")
