"""Test quotas of persons and workspaces, including their agents."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import AnswerNeeded
from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer
from outrider.identity.counters import QuotaCounters
from outrider.settings import load
from support.apps import agents_app, identity_app
from support.apps.agents_app import ChatTurn, ScriptedChatModel
from support.apps.identity_app import ServedApp
from support.results import read_error
from support.timeouts import BROWSER_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
DAY = 86_400
A_DOLLAR_A_STEP = {"input": 10_000.0, "output": 0.0}  # for a million tokens; the scripted model says that it read 100


@asynccontextmanager
async def open_team(
    home: Path,
    script: Mapping[str, Sequence[ChatTurn]],
    agents: Mapping[str, Mapping[str, Any]],
    quotas: dict[str, Any] | None = None,
    price: dict[str, float] | None = None,
    **more: Any,
) -> AsyncGenerator[ServedApp]:
    """A served app with these agents, under these quotas; `price` is the model's."""
    async with AsyncExitStack() as stack:
        flags = await stack.enter_async_context(agents_app.serve_chat_model(ScriptedChatModel(script)))
        flags["models"]["profiles"]["scripted"] |= {"price": price} if price else {}
        flags |= {"identity": {"tokens": True, "quotas": quotas or {}}, "data_dir": str(home / "data")} | more
        team = await stack.enter_async_context(
            identity_app.open_served_app(home, environ={"SCRIPTED_KEY": "sk-scripted"}, **flags)
        )
        team.app.catalogue.home.mkdir(parents=True)
        for name, head in agents.items():
            (team.app.catalogue.home / f"{name}.md").write_text(agents_app.agent_file(name, **head))
        await team.app.toolbox.refresh_tools()
        yield team


@asynccontextmanager
async def open_for_one_person(home: Path, *wish: Any) -> AsyncGenerator[tuple[ServedApp, Client]]:
    """The same, and Ann's client."""
    async with open_team(home, *wish) as team, team.connect_client(await team.issue_token("ann", "acme")) as client:
        yield team, client


async def collect_codes(client: Client, count: int) -> list[str]:
    done = [await client.call_tool("get_current_state", {}) for _ in range(count)]
    return [read_error(each)["code"] if each.is_error else "ok" for each in done]


@asynccontextmanager
async def open_replicas(home: Path) -> AsyncGenerator[list[QuotaCounters]]:
    """Three processes' counters, as far as the database can tell."""
    address = load({}, environ={}, home=home, workspace=home).settings.database_url
    async with AsyncExitStack() as stack:
        databases = [Database(address) for _ in range(3)]
        for each in databases:
            stack.push_async_callback(each.close)
        yield [QuotaCounters(each) for each in databases]


async def test_replicas_together_never_pass_a_limit(home: Path):
    limit, ends = 250, int(time.time()) + 3_600
    taken: list[int] = []

    async def work(counters: QuotaCounters) -> None:
        taken.append(sum([await counters.count_one("x", ends, limit) for _ in range(limit)]))

    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_replicas(home) as three, anyio.create_task_group() as tasks:
            for each in three:
                tasks.start_soon(work, each)
    assert limit - 4 <= sum(taken) <= limit


async def test_replicas_together_reserve_no_more_slots_than_there_are(home: Path):
    held: list[bool] = []

    async def work(counters: QuotaCounters) -> None:
        held.append(await counters.reserve("runs", 3, lambda _: 1))

    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_replicas(home) as three, anyio.create_task_group() as tasks:
            for each in three * 4:
                tasks.start_soon(work, each)
    assert sum(held) == 2


async def test_calls_per_day_are_counted_and_the_refusal_says_when_to_retry(home: Path):
    quotas = {"people": {"*": {"calls_per_day": 3}, "vip": {"calls_per_day": 5}}}
    async with open_team(home, {}, {}, quotas) as team:
        async with team.connect_client(await team.issue_token("ann", "acme")) as client:
            assert await collect_codes(client, 4) == ["ok", "ok", "ok", "quota"]
            refused = read_error(await client.call_tool("get_current_state", {}))
        async with team.connect_client(await team.issue_token("bob", "acme")) as client:
            assert await collect_codes(client, 1) == ["ok"]
        async with team.connect_client(await team.issue_token("vip", "acme")) as client:
            assert await collect_codes(client, 6) == ["ok"] * 5 + ["quota"]
    assert refused["retryable"]
    assert 0 < refused["retry_after"] <= DAY
    assert "identity.quotas.people.*.calls_per_day" in refused["hint"]


async def test_calls_of_all_members_count_towards_the_workspaces_limit(home: Path):
    async with open_team(home, {}, {}, {"workspaces": {"*": {"calls_per_day": 3}}}) as team:
        async with team.connect_client(await team.issue_token("ann", "acme")) as client:
            assert await collect_codes(client, 2) == ["ok", "ok"]
        async with team.connect_client(await team.issue_token("bob", "acme")) as client:
            assert await collect_codes(client, 2) == ["ok", "quota"]
        async with team.connect_client(await team.issue_token("bob", "beta"), X_Outrider_Workspace="beta") as client:
            assert await collect_codes(client, 1) == ["ok"]


async def test_the_number_of_concurrent_agents_of_a_person_is_limited(home: Path):
    held = anyio.Event()
    script = {"slow": [ChatTurn(text="done", wait_before=held)]}
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_for_one_person(home, script, {"slow": {}}, {"people": {"*": {"runs": 1}}}) as (_, client):
            begun = await client.call_tool("run_agent", {"agent": "slow", "query": "a", "mode": "background"})
            second = await client.call_tool("run_agent", {"agent": "slow", "query": "b", "mode": "background"})
            held.set()
            run = (begun.meta or {})["outrider/run"]["runId"]
            await client.call_tool("agent_run", {"runId": run, "waitSeconds": 30})
            third = await client.call_tool("run_slow", {"query": "c"})
    assert read_error(second)["code"] == "quota"
    assert read_error(second)["retry_after"]
    assert not third.is_error


async def test_cost_per_day_ends_runs_and_limits_the_next_one(home: Path):
    script, quotas = {"clerk": [ChatTurn(text="done")]}, {"people": {"*": {"cost_per_day": 2.0}}}
    async with open_for_one_person(home, script, {"clerk": {}}, quotas) as (team, client):
        first = await client.call_tool("run_clerk", {"query": "a"})
        run = await team.app.runs.get((first.meta or {})["outrider/run"]["runId"])
        await record_cost(team, run.id, 1.5)
        second = await client.call_tool("run_clerk", {"query": "b"})
        bound = await team.app.runs.get((second.meta or {})["outrider/run"]["runId"])
        await record_cost(team, bound.id, 0.5)
        third = await client.call_tool("run_clerk", {"query": "c"})
    assert run.budgets["cost"] == 2.0
    assert bound.budgets["cost"] == 0.5
    assert read_error(third)["code"] == "quota"
    assert "cost_per_day" in read_error(third)["hint"]


async def test_the_cost_of_a_running_agent_counts(home: Path):
    held = anyio.Event()
    script = {"slow": [ChatTurn(calls=[("get_current_state", {})]), ChatTurn(text="done", wait_before=held)]}
    quotas = {"people": {"*": {"cost_per_day": 0.5}}}
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_for_one_person(home, script, {"slow": {}}, quotas, A_DOLLAR_A_STEP) as (team, client):
            begun = await client.call_tool("run_agent", {"agent": "slow", "query": "a", "mode": "background"})
            run = (begun.meta or {})["outrider/run"]["runId"]
            async for event in team.app.runs.follow(run):
                if event.kind == "tool_ended":
                    break
            second = await client.call_tool("run_agent", {"agent": "slow", "query": "b", "mode": "background"})
            held.set()
    assert "$0.5 per day" in read_error(second)["message"]


async def test_concurrent_agents_share_the_cost_per_day(home: Path):
    held = anyio.Event()
    goals = [ChatTurn(calls=[("create_goal", {"goal": str(number)})], wait_before=held) for number in range(9)]
    begin = {"agent": "spender", "mode": "background"}
    wish: Any = ({"spender": goals}, {"spender": {}}, {"people": {"*": {"cost_per_day": 2.5}}}, A_DOLLAR_A_STEP)
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_for_one_person(home, *wish) as (team, client):
            begun = [await client.call_tool("run_agent", begin | {"query": str(number)}) for number in range(3)]
            held.set()
            runs = [(each.meta or {})["outrider/run"]["runId"] for each in begun]
            for run in runs:
                await client.call_tool("agent_run", {"runId": run, "waitSeconds": 30})
            ended = [await team.app.runs.get(run) for run in runs]
    assert [run.budgets["cost"] for run in ended] == [2.5] * 3  # nothing had been spent when they began
    assert {run.stop_reason for run in ended} == {"cost"}
    assert sum(run.cost or 0.0 for run in ended) <= 2.5 + 3  # they may exceed it by one request each, not by 2.5 each


async def record_cost(team: ServedApp, run_id: str, dollars: float) -> None:
    """Record the cost of the run, because the scripted model has no known price."""
    from outrider.agents.tables import runs

    async with team.app.database.write() as connection:
        await connection.execute(runs.update().where(runs.c.id == run_id).values(cost=dollars, updated_at=time.time()))


async def test_a_person_over_the_storage_quota_may_read_and_is_asked_to_delete(home: Path):
    async with open_team(home, {}, {}, {"people": {"*": {"stored_bytes": 1_000}}}) as team:
        ann = Call(session="s", workspace="acme", identity="ann")
        await team.app.content.create_store(ann, "big")
        await team.app.artifacts.save(b"x" * 2_000, name="a", mime_type="text/plain", session="s", call=ann)
        async with team.connect_client(await team.issue_token("ann", "acme")) as client:
            more = await client.call_tool("addContent", {"content": "x"})
            read = await client.call_tool("listStores", {})
        async with team.connect_client(await team.issue_token("bob", "acme")) as client:
            others = await client.call_tool("addContent", {"content": "x"})
    assert (read_error(more)["kind"], read_error(more)["code"]) == ("refused", "quota")
    assert "identity.quotas.people.*.stored_bytes" in read_error(more)["hint"]
    assert not read.is_error
    assert not others.is_error


# Agents act for the person who started them.

GOAL = [ChatTurn(calls=[("create_goal", {"goal": "of the agent"})]), ChatTurn(text="The goal is set.")]


async def test_an_agent_acts_as_its_person_in_their_workspace(home: Path):
    script = {"chief": [ChatTurn(calls=[("run_clerk", {"query": "go"})]), ChatTurn(text="Done.")], "clerk": GOAL}
    agents = {"chief": {"tools": ["run_clerk"]}, "clerk": {"tools": ["create_goal"]}}
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_team(home, script, agents) as team:
            token, shown = await team.issue_token_record("ann", "acme")
            async with team.connect_client(shown) as client:
                await client.call_tool("run_chief", {"query": "go"})
                state = await client.call_tool("get_current_state", {})
            await team.app.events.flush()
            acts = await team.app.identity().audit.list_recent(person="ann", workspace="acme")
    assert state.structured_content["goal"] == "of the agent"
    assert {(each.detail, each.credential) for each in acts} >= {
        ("run_chief", token.id),
        ("run_clerk", token.id),
        ("create_goal", token.id),
    }


async def test_agents_get_no_tool_that_their_person_may_not_use(home: Path):
    script = {"chief": [ChatTurn(calls=[("run_clerk", {"query": "go"})]), ChatTurn(text="Done.")], "clerk": GOAL}
    agents = {"chief": {"tools": ["run_clerk"]}, "clerk": {"tools": ["create_goal"]}}
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with open_team(home, script, agents) as team:
            token = await team.issue_token("ann", "acme", toolsets=("run_agent",))
            async with team.connect_client(token) as client:
                done = await client.call_tool("run_clerk", {"query": "go"})
                await client.call_tool("run_chief", {"query": "go"})
                asked = await client.call_tool("run_agent", {"agent": "clerk", "query": "a", "toolsets": ["planning"]})
            everything = await team.issue_token("ann")
            async with team.connect_client(everything) as client:
                state = await client.call_tool("get_current_state", {})
            run = await team.app.runs.get((done.meta or {})["outrider/run"]["runId"])
    assert run.definition["tools"] == []
    assert read_error(asked)["code"] == "insufficient_scope"
    assert not state.structured_content.get("goal")


async def test_any_process_that_resumes_a_run_acts_as_its_person(home: Path):
    grant = Grant("tok_1", "member", ("run_agent", "planning"), "ask", "10.0.0.1")
    call = Call(session="s", workspace="acme", identity="ann", grant=grant)
    clerk = {"tools": ["create_goal", "createStore"], "stakes": {"create_goal": "high"}}
    model = ScriptedChatModel({"clerk": GOAL})
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with agents_app.serve_chat_model(model) as flags:
            flags |= {"data_dir": str(home / "data")}
            before, after = (
                agents_app.open_agents_app_over_model(home, model, flags, {"clerk": clerk}) for _ in range(2)
            )
            async with before as service:
                with pytest.raises(AnswerNeeded) as asked:
                    await service.app.call("run_clerk", call, query="go")
            async with after as service:
                answers = {each.id: QuestionAnswer("approved") for each in asked.value.questions}
                await service.app.call("run_clerk", replace(call, state=asked.value.state, answers=answers), query="go")
                goal = (await service.app.call("get_current_state", call)).data["goal"]
                run = await service.app.runs.get(asked.value.state)
                done = {each.tool: each for each in await service.app.events.list_recent()}["create_goal"]
    assert goal == "of the agent"
    assert run.definition["tools"] == ["create_goal"]
    assert (done.workspace, done.identity, done.credential, done.address) == ("acme", "ann", "tok_1", "10.0.0.1")
    assert run.build_call("call_1").grant == grant
