"""The database on a real Postgres: guarantees when it disappears, and how soon work continues."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, func, make_url, select, text

from outrider.core.database.database import Database
from outrider.core.database.failures import TransactionOutcomeUnknown
from outrider.core.errors import Unavailable
from outrider.core.installation import suggest_extra
from outrider.core.tables import artifacts
from outrider.core.tables import citation_counters as counters
from support.databases import postgres
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
TERMINATING_FUNCTION_SQL = """
CREATE FUNCTION leave() RETURNS trigger AS $$ BEGIN
PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL;
END $$ LANGUAGE plpgsql
"""
COMMIT_TRIGGER_SQL = """
CREATE CONSTRAINT TRIGGER leaving AFTER INSERT ON citation_counters
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()
"""
SKEWED = """
CREATE SCHEMA skewed;
CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz AS
$$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$ LANGUAGE sql
"""
WITHOUT_DRIVER = """
import sys
import anyio
sys.modules["psycopg"] = None
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured

async def main():
    try:
        async with Database("postgresql://localhost/x").read():
            pass
    except NotConfigured as error:
        print(error.hint)
anyio.run(main)
"""


@pytest.fixture
async def database(server: postgres.PostgresServer) -> AsyncGenerator[Database]:
    made = Database(server.create_migrated_database(), connections=3, outage_timeout_s=60)
    yield made
    await made.close()


@pytest.fixture(autouse=True)
def check_no_leftover_connections() -> Generator[None]:
    """Find an unclosed connection in the test that lost it."""
    yield
    gc.collect()


def build_row(key: str) -> dict[str, Any]:
    return {"key": key, "used": 1, "updated_at": 0.0}


async def insert_row(database: Database, key: str) -> None:
    async with database.write() as connection:
        await connection.execute(counters.insert(), [build_row(key)])


async def list_keys(database: Database) -> list[str]:
    async with database.read() as connection:
        return sorted((await connection.execute(select(counters.c.key))).scalars())


def end_sessions(server: postgres.PostgresServer, *, state: str = "%") -> None:
    """Make the server end every session except the caller's."""
    server.run_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'outrider' "
        f"AND coalesce(state, '') LIKE '{state}'"
    )


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
@pytest.mark.nightly
async def test_postgres_addresses_are_accepted_in_every_common_scheme(server: postgres.PostgresServer, scheme: str):
    plain = server.create_database().replace("postgresql+psycopg", scheme)
    database = Database(plain)
    await insert_row(database, "kept")
    assert (database.dialect, database.is_shared, await list_keys(database)) == ("postgresql", True, ["kept"])
    await database.close()


@pytest.mark.nightly
def test_without_the_driver_the_remedy_is_its_installation():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_DRIVER]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert ended.stdout.strip() == suggest_extra("postgres")


async def test_a_restart_between_two_transactions_is_not_noticed(server: postgres.PostgresServer, database: Database):
    await insert_row(database, "before")
    server.stop()
    server.start()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await insert_row(database, "after")
        assert await list_keys(database) == ["after", "before"]


async def test_work_that_starts_while_the_server_is_down_waits_for_it(
    server: postgres.PostgresServer, database: Database
):
    await insert_row(database, "before")
    server.stop()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(insert_row, database, f"during {number}")
            await anyio.to_thread.run_sync(server.start)
    assert len(await list_keys(database)) == 7


async def test_short_work_interrupted_by_a_crash_is_repeated(server: postgres.PostgresServer, database: Database):
    await insert_row(database, "before")
    begun: list[int] = []

    def work(connection: Connection) -> int:
        begun.append(1)
        connection.execute(counters.insert(), [build_row("in the middle")])
        if len(begun) == 1:
            server.stop(signal.SIGQUIT)
            server.start()
        return connection.execute(select(func.count()).select_from(counters)).scalar_one()

    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert await database.run_transaction(work, write=True) == 2
    assert (len(begun), await list_keys(database)) == (2, ["before", "in the middle"])


async def test_a_crash_during_a_transaction_is_reported_and_nothing_is_stored(
    server: postgres.PostgresServer, database: Database
):
    async def broken() -> None:
        async with database.write() as connection:
            await connection.execute(counters.insert(), [build_row("half")])
            end_sessions(server)
            await connection.execute(counters.insert(), [build_row("whole")])

    with pytest.raises(Unavailable) as caught:
        await broken()
    assert (caught.value.code, caught.value.retry_after) == ("database", 2.0)
    assert await list_keys(database) == []


async def test_a_connection_lost_during_commit_is_reported_as_unknown_and_not_retried(
    server: postgres.PostgresServer, database: Database
):
    """Create a constraint that ends its own session when it is checked at COMMIT."""
    async with database.write() as connection:
        await connection.execute(text(TERMINATING_FUNCTION_SQL))
        await connection.execute(text(COMMIT_TRIGGER_SQL))
    begun: list[int] = []

    def work(connection: Connection) -> None:
        begun.append(1)
        connection.execute(counters.insert(), [build_row("perhaps")])

    for attempt in (lambda: database.run_transaction(work, write=True), lambda: insert_row(database, "perhaps")):
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(TransactionOutcomeUnknown) as caught:
            await attempt()
        assert (caught.value.code, caught.value.details) == ("database_unsure", {"stored": "unknown"})
        assert "check before you repeat the call" in caught.value.hint
    assert (len(begun), await list_keys(database)) == (1, [])


async def test_a_deadlock_is_resolved_by_repeating_one_transaction(database: Database):
    await insert_row(database, "a")
    await insert_row(database, "b")
    both = asyncio.Barrier(2)
    done: list[str] = []

    async def crossing(first: str, second: str) -> None:
        met: list[bool] = []

        def work(connection: Connection) -> None:
            for key in (first, second):
                change = counters.update().where(counters.c.key == key).values(used=counters.c.used + 1)
                connection.execute(change)
                if not met:
                    met.append(True)
                    from sqlalchemy.util import await_only

                    await_only(both.wait())

        await database.run_transaction(work, write=True)
        done.append(first)

    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(crossing, "a", "b")
            tasks.start_soon(crossing, "b", "a")
    async with database.read() as connection:
        assert list((await connection.execute(select(counters.c.used))).scalars()) == [3, 3]


async def test_a_server_without_free_connections_is_awaited_and_then_reported(server: postgres.PostgresServer):
    database = Database(server.create_migrated_database(), connections=2, outage_timeout_s=5.0)
    await insert_row(database, "before")
    await database.close()
    server.stop()
    server.start("-c", "max_connections=5", "-c", "superuser_reserved_connections=0")
    address = server.build_address("postgres")
    crowd = Database(address, connections=5)
    taken = [await crowd.connect_autocommit() for _ in range(5)]
    try:
        with pytest.raises(Unavailable, match="too many clients") as caught:
            await insert_row(database, "during")
        assert "database_connections" in caught.value.hint
        await crowd.close()
        await taken.pop().close()  # closed after its database, and nevertheless gone
        with anyio.fail_after(EVENT_TIMEOUT_S):
            await insert_row(database, "after")
        assert await list_keys(database) == ["after", "before"]
    finally:
        for each in taken:
            await each.close()
        await database.close()
        server.stop()
        server.start()


async def test_a_read_only_server_is_reported_and_used_again_once_it_is_writable(
    server: postgres.PostgresServer, database: Database
):
    await insert_row(database, "before")
    name = database.url.split("@/")[1].split("?")[0]
    server.run_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    end_sessions(server)
    with pytest.raises(Unavailable, match="read-only transaction"):
        await insert_row(database, "during")
    assert await list_keys(database) == ["before"]
    server.run_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    end_sessions(server)
    await insert_row(database, "after")
    assert await list_keys(database) == ["after", "before"]


async def test_waiting_for_a_locked_table_ends_at_the_lock_timeout(database: Database):
    await insert_row(database, "before")
    locker = Database(database.url)

    async def impatient() -> None:
        async with database.write() as connection:
            assert (await connection.execute(text("SHOW lock_timeout"))).scalar() == "15s"
            await connection.execute(text("SET LOCAL lock_timeout = '100ms'"))
            await connection.execute(counters.insert(), [build_row("late")])

    async with locker.write() as connection:
        await connection.execute(text("LOCK TABLE citation_counters"))
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable, match="lock timeout"):
            await impatient()
    await locker.close()
    assert await list_keys(database) == ["before"]


async def test_the_clock_agrees_with_the_servers(database: Database):
    await insert_row(database, "opened")
    async with database.read() as connection:
        theirs = (await connection.execute(text("SELECT extract(epoch FROM clock_timestamp())"))).scalar_one()
    assert abs(database.now() - float(theirs)) < 5
    assert abs(database.now() - time.time()) < 5


async def test_a_machine_with_a_wrong_clock_uses_the_servers(server: postgres.PostgresServer):
    """Make the server's clock appear an hour ahead."""
    address = server.create_migrated_database()
    name = address.split("@/")[1].split("?")[0]
    server.run_sql(SKEWED, name)
    server.run_sql(f"ALTER DATABASE {name} SET search_path = skewed, pg_catalog, public")
    database = Database(address)
    before = database.now()
    async with database.read():
        pass
    assert abs(before - time.time()) < 60
    assert abs(database.now() - time.time() - 3_600) < 60
    await database.close()


async def test_an_exhausted_pool_is_reported_with_its_remedy(server: postgres.PostgresServer):
    made = Database(server.create_migrated_database(), connections=1, pool_timeout_s=0.1)
    await insert_row(made, "opened")
    kept = await made.connect_autocommit()
    with pytest.raises(Unavailable) as caught:
        await insert_row(made, "one too many")
    assert "database_connections" in caught.value.hint
    await kept.close()
    await made.close()


@pytest.mark.nightly
@pytest.mark.parametrize("natively", [True, False], ids=["task", "scope"])
async def test_a_task_cancelled_at_any_step_leaves_no_connection_behind(
    server: postgres.PostgresServer, natively: bool
):
    """Cancel at each step in turn, from before the first connection to after the last one."""
    address = server.create_migrated_database()
    before = Database(address)
    await insert_row(before, "migrated")
    await before.close()
    for steps in range(0, 100, 7):
        database = Database(address, connections=2)
        if natively:
            task = asyncio.create_task(insert_row(database, f"{steps}"))
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        else:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(insert_row, database, f"{steps}")
                    for _ in range(steps):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()
        await database.close()
        gc.collect()
    name = make_url(address).database
    left = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'outrider' AND datname = '{name}'"
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while server.run_sql(left) != "0":
            await anyio.lowlevel.checkpoint()


async def test_a_file_of_more_than_two_gigabytes_keeps_its_size(database: Database):
    size = 3 * 2**30
    facts = {"id": "a", "created_at": 0.0, "session": "s", "name": "film", "mime_type": "video/mp4", "sha256": ""}
    async with database.write() as connection:
        await connection.execute(artifacts.insert(), [facts | {"size": size}])
        assert (await connection.execute(select(artifacts.c.size))).scalar() == size
