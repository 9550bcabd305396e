"""Create the tables of DBOS and delete old records from them."""

import asyncio
import threading
import time
from datetime import UTC, datetime

from dbos import DBOS
from sqlalchemy import URL, NullPool, create_engine, select, text

from outrider.agents.run_status import ACTIVE_STATUSES
from outrider.agents.tables import runs
from outrider.core.database.database import Database
from outrider.core.database.engines import build_keepalive_options

# Advisory locks of Postgres; any numbers that are the same in every process.
TABLES_LOCK_ID = 0x64626F73


async def prepare_tables(url: URL) -> None:
    """Create or migrate the tables on Postgres.

    Only one process at a time does so, in a thread.

    DBOS builds indexes concurrently, which waits for every open transaction on the database, even those of this event
    loop. So this must not block the loop or be awaited within a transaction. If the tables are up to date, nothing is
    changed and no permission to change them is needed.
    """
    if url.get_backend_name() == "sqlite" or url in _prepared_urls:
        return
    await asyncio.to_thread(_migrate_tables, url)
    _prepared_urls.add(url)


async def delete_old_attempts(database: Database, before: float) -> int:
    """Delete the records of old attempts in small batches, and return their number. DBOS must be running.

    Attempts that never ended are deleted too: their process died, and their run was started again. Attempts of active
    runs are kept. Another process that is deleting at the same time makes this return 0. Raises Unavailable.

    Args:
        database: The database with the runs.
        before: Delete attempts started before this time, in seconds since the epoch.
    """
    cleanup_lock_id = TABLES_LOCK_ID + 1
    if not database.is_shared:
        return await _delete_in_batches(database, before)
    connection = await database.connect_autocommit()
    try:
        if not (await connection.execute(text(f"SELECT pg_try_advisory_lock({cleanup_lock_id})"))).scalar():
            return 0
        return await _delete_in_batches(database, before)
    finally:
        await connection.invalidate()  # releases the lock
        await connection.close()


async def _delete_in_batches(database: Database, before: float) -> int:
    batch_size = 200
    end_time = datetime.fromtimestamp(before, UTC).isoformat()
    kept_count = deleted_count = 0
    while True:
        workflows = await DBOS.list_workflows_async(
            end_time=end_time, limit=batch_size, offset=kept_count, load_input=False, load_output=False
        )
        # A workflow id is "<run>.<attempt>.<random>".
        run_ids = {workflow.workflow_id: workflow.workflow_id.partition(".")[0] for workflow in workflows}
        query = select(runs.c.id).where(runs.c.id.in_(set(run_ids.values())), runs.c.status.in_(ACTIVE_STATUSES))
        active = await database.run_transaction(
            lambda connection, query=query: set(connection.execute(query).scalars()), write=False
        )
        old = [workflow_id for workflow_id, run_id in run_ids.items() if run_id not in active]
        if old:
            await DBOS.delete_workflows_async(old)
        kept_count += len(workflows) - len(old)
        deleted_count += len(old)
        if len(workflows) < batch_size:
            return deleted_count


def _migrate_tables(url: URL) -> None:
    poll_interval_s = 0.1
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        isolation_level="AUTOCOMMIT",
        poolclass=NullPool,
        connect_args=build_keepalive_options(url),
    )
    with _migration_lock, engine.connect() as connection:
        # Poll instead of waiting for the lock: index builds in the other process would wait for our statement.
        while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({TABLES_LOCK_ID})").scalar():
            time.sleep(poll_interval_s)
        DBOS.migrate(url.set(drivername="postgresql").render_as_string(hide_password=False))


_prepared_urls: set[URL] = set()
_migration_lock = threading.Lock()
