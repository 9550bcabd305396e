"""Build and prepare SQLAlchemy engines for SQLite and Postgres."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from outrider.core.errors import NotConfigured
from outrider.core.installation import suggest_extra

# Give up a server that vanishes silently (cable, firewall, namespace) after about twenty seconds:
# postgresql.org/docs/current/libpq-connect.html#LIBPQ-KEEPALIVES
KEEPALIVE_OPTIONS = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "fallback_application_name": "outrider",  # PGAPPNAME and the address may name the replica
}
# A transaction of a hanging process must not keep its locks forever. The keepalives let the server release the locks of
# a vanished machine, whose worker would otherwise seem alive, as fast as we give up a vanished server.
PREPARE_CONNECTION_SQL = """
    SELECT set_config('lock_timeout', '15s', false), set_config('idle_in_transaction_session_timeout', '300s', false),
    extract(epoch FROM clock_timestamp())::float8,
    set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '3', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false)
"""


def build_engine(
    url: str, *, connections: int, pool_timeout_s: float, on_server_time: Callable[[float], None]
) -> AsyncEngine:
    """Return an engine for the address.

    Args:
        url: The address, with its driver.
        connections: Maximum number of connections to a server.
        pool_timeout_s: Seconds that a task waits for one of them.
        on_server_time: Called with the server's clock, in seconds since the epoch, for each new connection.

    Raises:
        NotConfigured: The driver is not installed.
    """
    if not url.startswith("sqlite"):
        return _build_postgres_engine(url, connections, pool_timeout_s, on_server_time)
    parsed = make_url(url)
    create_private_file(parsed)
    options = _build_sqlite_options(parsed) | {"async_creator_fn": _connect_sqlite}
    engine = create_async_engine(url, connect_args=options)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


async def check_connection(engine: AsyncEngine) -> None:
    """Connect once, to see whether the database can be reached."""
    async with engine.connect():
        pass


async def dispose_engine(engine: AsyncEngine) -> None:
    """Close the engine's connections: pooled ones now, those in use when they are returned.

    SQLAlchemy would return the latter to the old pool, where they would stay open.
    """
    event.listen(engine.sync_engine.pool, "checkin", lambda _connection, record: record.invalidate())
    await engine.dispose()


def create_private_file(url: URL) -> None:
    """Create the file of a new database for this user only; SQLite's other files inherit its mode."""
    path = Path(url.database or ":memory:")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.name != ":memory:" and not path.exists():
        with suppress(OSError):  # SQLite explains the problem better
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def build_sync_engine(url: str) -> Engine:
    """Return a synchronous SQLite engine without a pool."""
    parsed = make_url(url).set(drivername="sqlite")
    create_private_file(parsed)
    engine = create_engine(parsed, connect_args=_build_sqlite_options(parsed), poolclass=NullPool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def build_keepalive_options(url: URL) -> dict[str, Any]:
    """Return the Postgres connection options that detect a dead server; the address overrides them."""
    return {name: value for name, value in KEEPALIVE_OPTIONS.items() if name not in url.query}


def _build_postgres_engine(
    url: str, connections: int, pool_timeout_s: float, on_server_time: Callable[[float], None]
) -> AsyncEngine:
    parsed = make_url(url)
    try:
        engine = create_async_engine(
            url,
            connect_args=build_keepalive_options(parsed),
            pool_pre_ping=True,
            pool_recycle=1_800.0,  # seconds; a new connection also reads the server's clock again
            pool_size=connections,
            max_overflow=0,
            pool_timeout=pool_timeout_s,
        )
    except ImportError:
        message = "the driver of Postgres is not installed"
        hint = suggest_extra("postgres")
        if (backend := parsed.get_backend_name()) != "postgresql":
            message = f"{backend} is not a database that Outrider works with"
            hint = "set `database` to postgresql://…, or leave it empty for SQLite"
        raise NotConfigured(message, code="database", hint=hint) from None

    def prepare_connection(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        started = time.monotonic()
        cursor.execute(PREPARE_CONNECTION_SQL)
        on_server_time(cursor.fetchone()[2] + (time.monotonic() - started) / 2)
        cursor.close()
        connection.commit()

    def invalidate_demoted(context: Any) -> None:
        """Treat a server that was demoted to read-only as disconnected."""
        if getattr(context.original_exception, "sqlstate", "") == "25006":
            context.is_disconnect = True

    event.listen(engine.sync_engine, "connect", prepare_connection)
    event.listen(engine.sync_engine, "handle_error", invalidate_demoted)
    return engine


def _build_sqlite_options(url: URL) -> dict[str, Any]:
    """Return connection options; the address may set the lock timeout: `sqlite:///…?timeout=60`."""
    lock_timeout_s = 15.0  # for locks of this process and of others
    return {"timeout": float(str(url.query.get("timeout", lock_timeout_s))), "factory": _SqliteConnection}


async def _connect_sqlite(*args: Any, **options: Any) -> Any:
    """Connect, or fail without leaving the driver's thread, which may outlive the event loop."""
    connection = _AsyncConnection(partial(sqlite3.connect, *args, **options))
    thread = connection._thread  # noqa: SLF001 - as SQLAlchemy does it
    thread.daemon = True
    try:
        return await connection
    except BaseException:
        thread.join()
        raise


class _AsyncConnection(aiosqlite.Connection):
    """A connection that can be stopped twice, and whose thread closes it before it ends.

    When a close is cancelled, SQLAlchemy stops the driver's thread, but the close continues and stops it again. The
    thread has ended by then and would never answer, so neither the task nor the event loop could end. Also, the driver
    does not close connections that a cancelled task had opened, or was closing.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        opened: list[sqlite3.Connection] = []

        def open_file() -> sqlite3.Connection:
            opened.append(connect())
            return opened[0]

        super().__init__(open_file, iter_chunk_size=64)
        self._opened = opened
        self._stop_result: asyncio.Future[Any] | None = None

    def stop(self) -> asyncio.Future[Any] | None:
        if self._stop_result is None:
            self._tx.put_nowait((None, lambda: [connection.close() for connection in self._opened]))
            self._stop_result = super().stop()
        return self._stop_result


class _SqliteConnection(sqlite3.Connection):
    """A connection that rolls back its transaction when it closes.

    SQLite itself keeps transaction and lock while anything refers to one of its statements
    (sqlite.org/c3ref/close.html, zombie connections), as the traceback of a cancelled task does.
    """

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.rollback()
        super().close()


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver's own implicit BEGIN would start read transactions that cannot become write ones.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("outrider_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
