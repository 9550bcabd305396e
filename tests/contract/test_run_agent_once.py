"""Test that a call with an idempotency key starts one run, even if it is repeated elsewhere."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from outrider.agents.run import RunStore
from outrider.core.context import Call
from outrider.serve.http import build_http_app
from support.apps import agents_app
from support.apps.agents_app import AgentsApp, ChatTurn
from support.apps.mcp_clients import NEWEST_VERSION, connect_client
from support.databases.both_databases import DatabaseSetup
from support.fakes import http_servers
from support.results import read_error, read_first_text
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
ECHO_TURNS = {"echo": [ChatTurn(text="Here it is.")], "broken": [ChatTurn(status=400)]}


@pytest.fixture(scope="module")
async def replicas(
    tmp_path_factory: pytest.TempPathFactory, rows: DatabaseSetup
) -> AsyncGenerator[tuple[AgentsApp, AgentsApp]]:
    """Two apps on one database."""
    home = tmp_path_factory.mktemp("app")
    rows.configure_home(home)
    model = agents_app.ScriptedChatModel(ECHO_TURNS)
    agents: dict[str, Any] = {name: {} for name in ECHO_TURNS}
    async with AsyncExitStack() as stack:
        settings = await stack.enter_async_context(agents_app.serve_chat_model(model))
        settings["data_dir"] = str(home / "data")
        first, second = [
            await stack.enter_async_context(
                agents_app.open_agents_app_over_model(home, model, settings, agents),
            )
            for _ in range(2)
        ]
        yield first, second


async def call_tool(hosted: AgentsApp, name: str, arguments: dict[str, Any], **meta: Any) -> CallToolResult:
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with connect_client(hosted.app.build_server(), NEWEST_VERSION) as client:
            sent: Any = meta
            return await client.call_tool(name, arguments, meta=sent)


def get_run_id(result: CallToolResult) -> str:
    return result.meta["outrider/run"]["runId"]


async def count_runs(hosted: AgentsApp, query: str) -> int:
    from outrider.agents.tables import runs

    return len(await RunStore(hosted.app.database).list_runs(runs.c.query == query))


@pytest.mark.nightly
async def test_a_repeated_call_gets_the_run_and_the_answer_of_the_first(replicas: tuple[AgentsApp, AgentsApp]):
    first, second = replicas
    arguments = {"query": "once", "idempotencyKey": "k1"}
    answers = [await call_tool(hosted, "run_echo", arguments) for hosted in (first, second, first)]
    same = {"agent": "echo", "query": "once", "idempotency_key": "k1"}
    answers.append(await call_tool(second, "run_agent", same))
    assert len({get_run_id(answer) for answer in answers}) == 1
    assert {answer.content[0].resource.text for answer in answers} == {"Here it is."}
    assert await count_runs(first, "once") == 1


async def test_concurrent_calls_start_one_run_and_leave_nothing_behind(replicas: tuple[AgentsApp, AgentsApp]):
    results: list[CallToolResult] = []

    async def start(hosted: AgentsApp) -> None:
        arguments = {"query": "race", "idempotencyKey": "k2", "mode": "background"}
        results.append(await call_tool(hosted, "run_echo", arguments, session_id="racers"))

    async with anyio.create_task_group() as group:
        for hosted in (*replicas, *replicas, *replicas):
            group.start_soon(start, hosted)
    assert len({get_run_id(result) for result in results}) == 1
    assert await count_runs(replicas[0], "race") == 1
    from sqlalchemy import func, select

    from outrider.agents.tables import conversations, messages

    async with replicas[0].app.database.read() as connection:
        made = select(conversations.c.id).where(conversations.c.session == "racers")
        assert len((await connection.execute(made)).all()) == 1
        asked = select(func.count()).where(messages.c.text == "race")
        assert (await connection.execute(asked)).scalar_one() == 1


async def test_a_key_reused_for_another_task_is_refused_with_its_run(replicas: tuple[AgentsApp, AgentsApp]):
    first, second = replicas
    run = get_run_id(await call_tool(first, "run_echo", {"query": "q", "idempotencyKey": "k3"}))
    others = {
        "query": ("run_echo", {"query": "another"}),
        "agent": ("run_broken", {"query": "q"}),
        "budget": ("run_echo", {"query": "q", "budget": {"max_steps": 3}}),
        "mode": ("run_echo", {"query": "q", "mode": "background"}),
    }
    for part, (tool, arguments) in others.items():
        refused = read_error(await call_tool(second, tool, arguments | {"idempotencyKey": "k3"}))
        assert (refused["code"], refused["kind"]) == ("idempotency_key_reused", "invalid_input"), part
        assert refused["message"] == f"idempotency_key: this key has already started another task ({run})"
        assert "new key" in refused["hint"]


async def test_equal_keys_of_other_people_and_sessions_are_separate(replicas: tuple[AgentsApp, AgentsApp]):
    arguments = {"query": "mine", "idempotencyKey": "k4"}
    callers: list[dict[str, Any]] = [{"session_id": "a"}, {"session_id": "b"}]
    callers += [{"session_id": "a", "identity": "ann"}, {"session_id": "c", "identity": "ann"}]
    callers += [{"session_id": "a", "workspace": "w"}]
    started = [get_run_id(await call_tool(replicas[0], "run_echo", arguments, **meta)) for meta in callers]
    assert started[2] == started[3], "a person keeps her keys in another session"
    assert len(set(started)) == 4


async def test_failures_handovers_and_background_work_are_returned_again_too(replicas: tuple[AgentsApp, AgentsApp]):
    first, second = replicas
    failing = {"query": "fail", "idempotencyKey": "k5"}
    failures = [read_error(await call_tool(hosted, "run_broken", failing)) for hosted in replicas]
    assert failures[0]["details"]["runId"] == failures[1]["details"]["runId"]
    handed = {"query": "take over", "idempotencyKey": "k6", "mode": "handoff"}
    texts = [(await call_tool(hosted, "run_echo", handed)).content[0].resource.text for hosted in replicas]
    assert texts[0] == texts[1]
    assert texts[0].startswith("Handed over to @echo")
    later = {"query": "later", "idempotencyKey": "k7", "mode": "background"}
    run = get_run_id(await call_tool(first, "run_echo", later))
    await call_tool(first, "agent_run", {"runId": run, "waitSeconds": 30})
    assert (await call_tool(second, "run_echo", later)).content[0].resource.text == "Here it is."


async def test_over_http_the_key_may_be_a_header(replicas: tuple[AgentsApp, AgentsApp]):
    runs: list[str] = []
    for header in ('"k8"', "k8"):
        app = build_http_app({"": replicas[0].app.build_server()})
        async with (
            http_servers.serve_app(app) as url,
            httpx2.AsyncClient(headers={"Idempotency-Key": header}, timeout=PROCESS_TIMEOUT_S) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            runs.append(get_run_id(await client.call_tool("run_echo", {"query": "by header"})))
            assert "echo" in read_first_text(await client.call_tool("agent_run", {}))
    assert runs[0] == runs[1]


async def test_python_code_gives_the_key_with_the_call(replicas: tuple[AgentsApp, AgentsApp]):
    call = Call(session="python", idempotency_key="k9")
    results = [await hosted.app.call("run_echo", call, query="from python") for hosted in replicas]
    as_argument = await replicas[0].app.call(
        "run_echo", Call(session="python"), query="from python", idempotency_key="k9"
    )
    assert len({result.meta["outrider/run"]["runId"] for result in (*results, as_argument)}) == 1


async def test_a_key_is_forgotten_after_a_day(replicas: tuple[AgentsApp, AgentsApp]):
    from sqlalchemy import update

    from outrider.agents.tables import run_keys

    arguments = {"query": "daily", "idempotencyKey": "k10"}
    started = get_run_id(await call_tool(replicas[0], "run_echo", arguments))
    async with replicas[0].app.database.write() as connection:
        await connection.execute(
            update(run_keys)
            .where(run_keys.c.run_id == started)
            .values(expires_at=run_keys.c.expires_at - 86_400 - 60)  # replicas know the server's clock only roughly
        )
    assert get_run_id(await call_tool(replicas[1], "run_echo", arguments)) != started
