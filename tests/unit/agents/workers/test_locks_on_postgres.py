"""Test worker locks while the Postgres server restarts."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from outrider.agents.workers.locks import SessionLocks
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable
from support.databases import postgres
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = [pytest.mark.anyio, postgres.needs_postgres]


@pytest.fixture
async def databases(server: postgres.PostgresServer) -> AsyncGenerator[tuple[Database, Database]]:
    address = server.create_migrated_database()
    made = Database(address, outage_timeout_s=0.5), Database(address, outage_timeout_s=0.5)
    yield made
    for each in made:
        await each.close()


async def test_a_worker_is_alive_while_it_holds_its_lock_and_dead_after(databases: tuple[Database, Database]):
    one, other = map(SessionLocks, databases)
    await one.acquire("one")
    assert not await other.is_dead("one")
    assert await other.is_dead("nobody")
    await one.close()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while not await other.is_dead("one"):
            await anyio.lowlevel.checkpoint()
    await other.close()


async def test_after_a_restart_the_lock_is_taken_again(
    databases: tuple[Database, Database], server: postgres.PostgresServer
):
    one, other = map(SessionLocks, databases)
    await one.acquire("one")
    assert await other.is_dead("nobody")
    server.stop()
    try:
        for ask in (one.is_held(), other.is_dead("one")):
            with pytest.raises(Unavailable):
                await ask
    finally:
        server.start()
    assert await one.is_held()
    assert not await other.is_dead("one")
    for each in (one, other):
        await each.close()
