"""DBOS's own tables: made before anybody works, and swept of what is old. Import it only where they are needed."""

import asyncio
import threading
import time
from datetime import UTC, datetime

from dbos import DBOS
from sqlalchemy import URL, NullPool, create_engine, select, text

from outrider.agents.run import ACTIVE_STATUSES
from outrider.agents.tables import runs
from outrider.core.database.database import Database
from outrider.core.database.engines import build_keepalive_options

TABLES_LOCK_ID = 0x64626F73  # any number, the same in every process: who holds it makes the tables, the others wait
CLEANUP_LOCK_ID = TABLES_LOCK_ID + 1  # of who sweeps; the others leave it to them


async def prepare_tables(url: URL) -> None:
    """Makes or migrates the tables on Postgres, by one process at a time and beside the event loop.

    It builds indexes concurrently, which waits for every transaction that is open on the database: for those of this
    very loop, too. So it must neither run on it nor be waited for in a transaction. Where they are as they should be
    nothing is changed, and no right to change anything is needed.
    """
    if url.get_backend_name() == "sqlite" or url in _prepared_urls:
        return
    await asyncio.to_thread(_migrate_tables, url)
    _prepared_urls.add(url)


async def delete_old_attempts(database: Database, before: float) -> int:
    """Forgets the attempts that were begun before that time, in small batches; how many. Needs a DBOS at work.

    What was begun and never ended is forgotten, too: its process died, and its run was begun anew as another attempt.
    Those of runs that are still worked on are kept. Raises Unavailable.

    Args:
        database: Of the runs.
        before: Seconds since the epoch.
    """
    if not database.is_shared:
        return await _delete_in_batches(database, before)
    connection = await database.connect_autocommit()
    try:
        if not (await connection.execute(text(f"SELECT pg_try_advisory_lock({CLEANUP_LOCK_ID})"))).scalar():
            return 0
        return await _delete_in_batches(database, before)
    finally:
        await connection.invalidate()  # its lock goes with it
        await connection.close()


async def _delete_in_batches(database: Database, before: float) -> int:
    batch_size = 200  # attempts that are forgotten in one transaction
    end, kept, gone = datetime.fromtimestamp(before, UTC).isoformat(), 0, 0
    while True:
        listed = DBOS.list_workflows_async(
            end_time=end, limit=batch_size, offset=kept, load_input=False, load_output=False
        )
        found = [each.workflow_id for each in await listed]
        busy = await _filter_active(database, {_parse_run_id(each) for each in found})
        old = [each for each in found if _parse_run_id(each) not in busy]
        if old:
            await DBOS.delete_workflows_async(old)
        kept, gone = kept + len(found) - len(old), gone + len(old)
        if len(found) < batch_size:
            return gone


async def _filter_active(database: Database, run_ids: set[str]) -> set[str]:
    """Those of the runs that somebody works on."""
    query = select(runs.c.id).where(runs.c.id.in_(run_ids), runs.c.status.in_(ACTIVE_STATUSES))
    return set(
        await database.run_transaction(lambda connection: list(connection.execute(query).scalars()), write=False)
    )


def _parse_run_id(workflow_id: str) -> str:
    return workflow_id.partition(".")[0]


def _migrate_tables(url: URL) -> None:
    poll_interval_s = 0.1  # seconds between two tries for it
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        isolation_level="AUTOCOMMIT",
        poolclass=NullPool,
        connect_args=build_keepalive_options(url),
    )
    with _migration_lock, engine.connect() as connection:
        # Tried again and again: a statement that waits for the lock would be one of those that are waited for.
        while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({TABLES_LOCK_ID})").scalar():
            time.sleep(poll_interval_s)
        DBOS.migrate(url.set(drivername="postgresql").render_as_string(hide_password=False))


_prepared_urls: set[URL] = set()
_migration_lock = threading.Lock()
