"""Migrate the schema to the newest revision, one process at a time."""

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.errors import Unavailable

if TYPE_CHECKING:  # SQLAlchemy is loaded when a database is opened
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

MIGRATIONS_DIR = Path(__file__).parent.parent / "migrations"
MIGRATION_THREAD_LOCK = threading.Lock()  # Alembic's context is global: one migration at a time per process


async def migrate_engine(engine: "AsyncEngine") -> None:
    """Migrate the engine's database, without waiting for writers if it is migrated. Raises as `migrate_schema`."""
    while not MIGRATION_THREAD_LOCK.acquire(blocking=False):  # noqa: ASYNC110 - held by another thread or event loop
        await anyio.sleep(0.02)
    try:
        async with engine.connect() as connection:
            async with connection.begin():
                if await connection.run_sync(read_revision) == find_head_revision():
                    return
            async with _wait_for_migrations(connection):
                await connection.execution_options(outrider_write=True)
                async with connection.begin():
                    await connection.run_sync(migrate_schema)
    finally:
        MIGRATION_THREAD_LOCK.release()


@asynccontextmanager
async def _wait_for_migrations(connection: "AsyncConnection") -> AsyncGenerator[None]:
    """Let SQLite wait as long as another process may migrate.

    The address can set another time.
    """
    lock_timeout_ms = 60_000
    if connection.dialect.name != "sqlite" or "timeout" in connection.engine.url.query:
        yield
        return
    driver: Any = (await connection.get_raw_connection()).driver_connection
    [(usual_timeout_ms,)] = await driver.execute_fetchall("PRAGMA busy_timeout")
    await driver.execute_fetchall(f"PRAGMA busy_timeout = {lock_timeout_ms}")
    try:
        yield
    finally:
        await driver.execute_fetchall(f"PRAGMA busy_timeout = {usual_timeout_ms}")


def migrate_schema(connection: "Connection", target: str | None = None) -> None:
    """Bring the schema to a revision, by default the newest, inside the caller's transaction.

    Alembic, which is slow to import, is loaded only when there is something to do. Raises Unavailable when a newer
    Outrider made the database.
    """
    lock_timeout_s = 600  # for processes that wait while another one migrates
    lock_id = 0x6F757472  # any number, the same in every process
    revision, newest = read_revision(connection), target or find_head_revision()
    if revision == newest:
        return
    if connection.dialect.name == "postgresql":  # SQLite's write lock is held already
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{lock_timeout_s}s'")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({lock_id})")
        revision = read_revision(connection)
        if revision == newest:
            return
    if revision is not None and revision > newest:
        raise Unavailable(
            f"the database has revision {revision}, but this version knows only {newest} and older",
            code="database",
            hint="upgrade outrider, or set another `data_dir`",
        )
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS_DIR))
    config.attributes["connection"] = connection
    command.upgrade(config, newest)


def find_head_revision() -> str:
    """Return the newest migration's number, which its file name begins with."""
    return max(path.name.split("_", 1)[0] for path in (MIGRATIONS_DIR / "versions").glob("[0-9]*.py"))


def read_revision(connection: "Connection") -> str | None:
    """Return the revision of the database, or None for an empty one."""
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
