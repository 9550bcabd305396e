"""Test that the queue is fair, obeys limits and starts each run once."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import make_url, text

from outrider.agents.conversations import Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.run import RunStore, build_run_row
from outrider.agents.settings import RunLimits
from outrider.agents.workers.run_queue import QueuedRun, RunQueue, select_runs
from outrider.core.context import Call
from outrider.core.database.database import Database
from support.apps.agent_runs import open_scripted_app
from support.databases import postgres, sqlite
from support.fakes.model_apis import ModelTurn
from support.scale.proxies import proxy_to_socket
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

NONE = RunLimits()
pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    on_file = request.param == "sqlite"
    path = tmp_path / "q.db"
    opened = (
        Database.from_file(sqlite.create_migrated_file(path))
        if on_file
        else Database(request.getfixturevalue("server").create_migrated_database())
    )
    yield opened
    await opened.close()


async def queue_runs(database: Database, *users: str, agent: str = "tester", model: str = "acme:one") -> None:
    """Add one run for each named user, in order; a run's query is its user and its number."""
    for number, user in enumerate(users):
        conversation = await Conversations(database).create(Call(identity=user), agent, title="")
        made = build_run_row(
            Agent(name=agent, description="tests", instructions="Go."),
            f"{user}{number}",
            Call(identity=user),
            conversation,
            message_id="m",
            budgets=Budgets(),
            state={},
            history=None,
        )
        await RunStore(database).add_run(made | {"model": model, "created_at": made["created_at"] + number})


async def take_queries(database: Database, queue: RunQueue, worker: str, places: int) -> list[str]:
    rows = RunStore(database)
    return [(await rows.get(each.id)).query for each in await queue.take_runs(worker, places)]


async def test_users_take_turns_however_much_one_of_them_has_sent(database: Database):
    await queue_runs(database, "ann", "ann", "ann", "ann", "bob", "bob", "eve")
    queue = RunQueue(database, NONE)
    one_by_one = [await take_queries(database, queue, "w", 1) for _ in range(4)]
    assert one_by_one == [["ann0"], ["bob4"], ["eve6"], ["ann1"]]
    assert await take_queries(database, queue, "w", 9) == ["bob5", "ann2", "ann3"]
    assert not await queue.has_waiting()


async def test_limits_per_user_agent_and_model_hold_across_processes(database: Database):
    await queue_runs(database, "ann", "ann", "ann", "bob")
    limits = RunLimits(user=2)
    assert await take_queries(database, RunQueue(database, limits), "w1", 2) == ["ann0", "bob3"]
    assert await take_queries(database, RunQueue(database, limits), "w2", 9) == ["ann1"]
    assert await take_queries(database, RunQueue(database, RunLimits(agents={"tester": 3})), "w", 9) == []
    assert await take_queries(database, RunQueue(database, RunLimits(models={"acme": 3})), "w", 9) == []
    assert await take_queries(database, RunQueue(database, RunLimits(models={"acme:two": 0})), "w", 9) == ["ann2"]


async def test_each_run_is_taken_by_one_of_several_competing_processes(database: Database):
    await queue_runs(database, *("ann", "bob", "eve") * 5)
    found: list[str] = []

    async def look(worker: str) -> None:
        for _ in range(3):
            found.extend(await take_queries(database, RunQueue(database, NONE), worker, 2))

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(look, f"w{number}")
    assert len(found) == len(set(found)) == 15


async def test_a_process_that_hangs_while_taking_runs_does_not_block_others(
    request: pytest.FixtureRequest,
):
    server: postgres.PostgresServer = request.getfixturevalue("server")
    name = make_url(server.create_migrated_database()).database or ""
    async with proxy_to_socket(server.folder / ".s.PGSQL.5432") as wire:
        lively, silent = (
            Database(server.build_address(name)),
            Database(f"postgresql://outrider@127.0.0.1:{wire.port}/{name}"),
        )
        await queue_runs(lively, "ann")
        async with anyio.create_task_group() as tasks:
            async with lively.write() as connection:  # holds it while it hands out runs
                await connection.execute(text("SELECT 1 FROM runs FOR UPDATE"))
                tasks.start_soon(RunQueue(silent, NONE).take_runs, "silent", 1)
                await wait_for_query(server, name, "SELECT count(*) FROM pg_locks WHERE NOT granted")
                wire.stall_connections()
            with anyio.fail_after(PROCESS_TIMEOUT_S):
                while not (found := await take_queries(lively, RunQueue(lively, NONE), "w", 1)):
                    await anyio.sleep(0.05)
            tasks.cancel_scope.cancel()
            wire.cut_connections()
        await silent.close()
        await lively.close()
    assert found == ["ann0"]


async def wait_for_query(server: postgres.PostgresServer, name: str, query: str) -> None:
    """Wait until the query counts at least one row."""
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        while await anyio.to_thread.run_sync(server.run_sql, query, name) == "0":
            await anyio.sleep(0.02)


def test_a_run_held_back_by_a_limit_does_not_block_others():
    runs = [QueuedRun(f"r{n}", 1, "ann", agent, "m:x", float(n)) for n, agent in enumerate(["slow", "slow", "quick"])]
    first = select_runs(runs, [], {}, RunLimits(agents={"slow": 1}), 9)
    assert [run.id for run in first] == ["r0", "r2"]


async def test_runs_beyond_the_capacity_of_a_process_wait_and_start_automatically():
    held = anyio.Event()
    settings: dict[str, Any] = {"agents": {"runs": 1}}
    async with open_scripted_app(lambda asked: ModelTurn(text="Done.", wait_before=held), **settings) as made:
        first, second = await made.start_run("One."), await made.start_run("Two.")
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not made.model_server.requests:
                await anyio.sleep(0.01)
        assert (await made.app.runs.get(second.id)).status == "queued"
        held.set()
        ended = [await made.wait_for_end(first), await made.wait_for_end(second)]
    assert [run.status for run in ended] == ["completed", "completed"]


async def test_a_process_without_capacity_leaves_runs_to_others():
    async with open_scripted_app(lambda asked: ModelTurn(text="Done."), agents={"runs": 0}) as made:
        run = await made.start_run("One.")
        await made.app.runs.recover_runs()
        after = await made.app.runs.get(run.id)
    assert (after.status, after.executor) == ("queued", None)
