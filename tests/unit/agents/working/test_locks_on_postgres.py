"""The locks of workers on a Postgres that goes away and comes back."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from outrider.agents.working.locks import SessionLocks
from outrider.core.db import Database
from outrider.core.errors import Unavailable
from support.databases import postgres

PROGRAMS = postgres.found()
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(PROGRAMS is None, reason="Postgres is not installed here")]


@pytest.fixture
async def databases(server: postgres.Server) -> AsyncGenerator[tuple[Database, Database]]:
    address = server.migrated()
    made = Database(address, patience=0.5), Database(address, patience=0.5)
    yield made
    for each in made:
        await each.close()


async def test_a_worker_is_alive_while_it_holds_its_lock_and_dead_after(databases: tuple[Database, Database]):
    one, other = map(SessionLocks, databases)
    await one.hold("one")
    assert not await other.is_dead("one")
    assert await other.is_dead("nobody")
    await one.close()
    with anyio.fail_after(20):
        while not await other.is_dead("one"):
            await anyio.lowlevel.checkpoint()
    await other.close()


async def test_after_a_restart_the_lock_is_taken_again(databases: tuple[Database, Database], server: postgres.Server):
    one, other = map(SessionLocks, databases)
    await one.hold("one")
    assert await other.is_dead("nobody")
    server.stop()
    try:
        for ask in (one.held(), other.is_dead("one")):
            with pytest.raises(Unavailable):
                await ask
    finally:
        server.start()
    assert await one.held()
    assert not await other.is_dead("one")
    for each in (one, other):
        await each.close()
