"""Semaphores are shared by all processes on one Postgres."""

import os
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from sqlalchemy import text

from outrider.core.database.database import Database
from outrider.core.semaphores import SharedSemaphores
from support.databases import postgres
from support.processes import python_source
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
# Takes permits repeatedly, counts itself in a table each time, and prints the highest number at once.
TAKER = """
import sys
import anyio
from sqlalchemy import text
from outrider.core.database.database import Database
from outrider.core.semaphores import SharedSemaphores

INSIDE = "UPDATE inside SET now = now + :step, most = greatest(most, now + :step)"

async def visit(database, places):
    for _ in range(10):
        async with places.acquire("host"):
            for step in (1, -1):
                async with database.write() as connection:
                    await connection.execute(text(INSIDE), {"step": step})

async def main():
    database = Database(sys.argv[1])
    places = SharedSemaphores(database, 2)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(visit, database, places)
    await database.close()
anyio.run(main)
"""


@pytest.fixture
async def database(server: postgres.PostgresServer) -> AsyncGenerator[Database]:
    made = Database(server.create_migrated_database())
    yield made
    await made.close()


@pytest.mark.nightly
async def test_two_processes_together_never_exceed_the_limit(database: Database):
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE inside (now integer, most integer)"))
        await connection.execute(text("INSERT INTO inside VALUES (0, 0)"))
    command = python_source.build_command(TAKER, database.url)
    takers = [subprocess.Popen(command, env=dict(os.environ)) for _ in range(2)]
    assert [await anyio.to_thread.run_sync(lambda taker=taker: taker.wait(timeout=120)) for taker in takers] == [0, 0]
    async with database.read() as connection:
        now, most = (await connection.execute(text("SELECT now, most FROM inside"))).one()
    assert (now, most <= 2) == (0, True)


async def test_a_slot_is_freed_when_its_holder_leaves_or_is_cancelled(database: Database):
    one, other = SharedSemaphores(database, 1, lease_s=3_600), SharedSemaphores(database, 1, lease_s=3_600)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        for _ in range(3):
            async with one.acquire("host"):
                pass
            with anyio.CancelScope() as scope:
                async with other.acquire("host"):
                    scope.cancel()
                    await anyio.lowlevel.checkpoint()


async def test_the_slot_of_a_dead_process_is_freed_when_its_lease_ends(database: Database):
    held = SharedSemaphores(database, 1).acquire("host")
    await held.__aenter__()
    entered = anyio.Event()

    async def wait() -> None:
        async with SharedSemaphores(database, 1).acquire("host"):
            entered.set()

    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            async with database.read() as connection:
                assert (await connection.execute(text("SELECT count(*) FROM rate_places_1"))).scalar() == 1
            assert not entered.is_set()
            async with database.write() as connection:
                await connection.execute(text("UPDATE rate_places_1 SET until = 0"))
            await entered.wait()
    await held.__aexit__(None, None, None)


async def test_each_name_has_its_own_slots(database: Database):
    places = SharedSemaphores(database, 1)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with places.acquire("one"), places.acquire("other"):
            pass


async def test_nothing_waits_without_the_server_or_with_sqlite(server: postgres.PostgresServer, tmp_path: Path):
    away = Database(server.build_address("nothing_of_that_name"))
    for database in (away, Database.from_file(tmp_path / "x.db")):
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with SharedSemaphores(database, 1).acquire("host"), SharedSemaphores(database, 1).acquire("host"):
                pass
    assert not (tmp_path / "x.db").exists()
