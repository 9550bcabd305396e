"""Test the tables of the durable engine on Postgres."""

import sys
from pathlib import Path

import anyio
import pytest
from sqlalchemy import make_url, text

from outrider.agents.workers.dbos_tables import prepare_tables
from outrider.agents.workers.durable_engine import DurableEngine
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable
from support.apps.agent_runs import open_scripted_app
from support.databases import postgres
from support.fakes.model_apis import ModelTurn, play_turns
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
INDEX_BUILDS_SQL = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%INDEX CONCURRENTLY%'"
BEGUN = "SELECT split_part(workflow_uuid, '.', 1) FROM dbos.workflow_status"
RESTRICTED = """
    DO $$ BEGIN CREATE ROLE replica LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    GRANT USAGE ON SCHEMA public, dbos TO replica;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, dbos TO replica;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public, dbos TO replica;
"""
MADE = "SELECT count(*) FROM pg_tables WHERE schemaname = 'dbos'"


async def count_rows(database: Database, query: str) -> int:
    async with database.read() as connection:
        return (await connection.execute(text(query))).scalar_one()


async def test_creating_tables_waits_for_an_open_transaction_without_blocking_the_loop(
    server: postgres.PostgresServer,
):
    database = Database(server.create_migrated_database())
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with anyio.create_task_group() as tasks, database.read() as connection:
            await connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            await connection.execute(text("SELECT 1"))
            tasks.start_soon(prepare_tables, make_url(database.url))
            while not await count_rows(database, f"{INDEX_BUILDS_SQL} AND pid <> pg_backend_pid()"):
                await anyio.lowlevel.checkpoint()
    assert await count_rows(database, MADE)
    await database.close()


@pytest.mark.nightly
async def test_a_replica_without_schema_rights_works_after_an_administrators_migration(
    server: postgres.PostgresServer,
):
    address = server.create_database()
    name = make_url(address).database or ""
    migrated = await anyio.run_process(
        [sys.executable, "-m", "outrider", "db", "migrate", "--set", f"database={address}"]
    )
    assert migrated.returncode == 0
    server.run_sql(RESTRICTED, name)
    async with open_scripted_app(
        play_turns(ModelTurn(text="Done.")), database=address.replace("outrider@", "replica@")
    ) as scripted:
        run = await scripted.run_to_end()
    assert (run.status, run.answer) == ("completed", "Done.")
    assert server.run_sql("SELECT count(*) FROM dbos.workflow_status", name) == "1"


@pytest.mark.nightly
async def test_the_engines_records_of_old_attempts_are_deleted_and_active_ones_kept(
    server: postgres.PostgresServer,
):
    address = server.create_migrated_database()
    name = make_url(address).database or ""
    async with open_scripted_app(play_turns(ModelTurn(text="Done.")), database=address) as scripted:
        old = {(await scripted.run_to_end()).id for _ in range(3)}
    held = anyio.Event()
    async with open_scripted_app(
        play_turns(ModelTurn(text="Slow.", wait_before=held)), database=address, keep_days=1e-9
    ) as scripted:
        run = await scripted.start_run()
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            while old & set(begun := server.run_sql(BEGUN, name).split()):
                await anyio.sleep(0.05)
        assert begun == [run.id]
        held.set()
        await scripted.wait_for_end(run)


async def test_an_unreachable_server_is_reported_as_unavailable_when_the_engine_opens(tmp_path: Path):
    async def nothing(run_id: str, attempt: int) -> None: ...

    engine = DurableEngine(f"postgresql+psycopg://outrider@/postgres?host={tmp_path}", "w_1", nothing)
    with pytest.raises(Unavailable, match="the database cannot be used") as caught:
        await engine.open()
    assert (caught.value.code, caught.value.retry_after) == ("database", 2.0)
