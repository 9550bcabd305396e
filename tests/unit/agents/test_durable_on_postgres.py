"""The durable engine's own tables on a real Postgres."""

from collections.abc import Generator

import anyio
import pytest
from sqlalchemy import make_url, text

import postgres
from outrider.agents.durable import prepare
from outrider.core.db import Database

PROGRAMS = postgres.found()
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(PROGRAMS is None, reason="Postgres is not installed here")]
BUILDING = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%INDEX CONCURRENTLY%'"
MADE = "SELECT count(*) FROM pg_tables WHERE schemaname = 'dbos'"


@pytest.fixture(scope="module")
def server() -> Generator[postgres.Server]:
    assert PROGRAMS
    with postgres.serving(PROGRAMS) as made:
        yield made


async def counted(database: Database, query: str) -> int:
    async with database.read() as connection:
        return (await connection.execute(text(query))).scalar_one()


async def test_they_wait_for_an_open_transaction_of_this_loop_without_holding_the_loop_up(server: postgres.Server):
    database = Database(server.migrated())
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks, database.read() as connection:
            await connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            await connection.execute(text("SELECT 1"))
            tasks.start_soon(prepare, make_url(database.url))
            while not await counted(database, f"{BUILDING} AND pid <> pg_backend_pid()"):
                await anyio.lowlevel.checkpoint()
    assert await counted(database, MADE)
    await database.close()
