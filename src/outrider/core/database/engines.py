"""Engines: how connections to SQLite and to Postgres are made and prepared."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiosqlite
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from outrider.core.errors import NotConfigured

CONNECT_TIMEOUT_S = 10
# A server that has vanished without a word (cable, firewall, namespace) is given up after about twenty seconds:
# postgresql.org/docs/current/libpq-connect.html#LIBPQ-KEEPALIVES
KEEPALIVE_OPTIONS = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "fallback_application_name": "outrider",  # PGAPPNAME and the address may say which replica it is
}
# A transaction whose process hangs must not keep its locks for ever. Nor may a machine that has vanished keep those by
# which its worker is known to live: the server gives its connections up as soon as it would give up the server.
PREPARE_CONNECTION_SQL = """
    SELECT set_config('lock_timeout', '15s', false), set_config('idle_in_transaction_session_timeout', '300s', false),
    extract(epoch FROM clock_timestamp())::float8,
    set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '3', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false)
"""


def build_engine(
    url: str, *, connections: int, pool_timeout_s: float, on_clock: "Callable[[float], None]"
) -> "AsyncEngine":
    """An engine for the address.

    Args:
        url: With its driver.
        connections: At most so many to a server.
        pool_timeout_s: Seconds that a task waits for one of them.
        on_clock: Is told what the server's clock says, in seconds since the epoch, when a connection is made.

    Raises:
        NotConfigured: The driver is not installed.
    """
    return (
        _build_sqlite_engine(url)
        if url.startswith("sqlite")
        else _build_postgres_engine(url, connections, pool_timeout_s, on_clock)
    )


async def dispose_engine(engine: "AsyncEngine") -> None:
    """Closes the engine's connections: those of its pool now, those in use when they come back.

    SQLAlchemy would put the latter into the pool of before, and nobody would ever close them.
    """
    event.listen(engine.sync_engine.pool, "checkin", lambda _connection, record: record.invalidate())
    await engine.dispose()


def build_sync_engine(url: str) -> "Engine":
    """A synchronous engine of SQLite without a pool."""
    made = make_url(url).set(drivername="sqlite")
    engine = create_engine(made, connect_args=_build_sqlite_options(made), poolclass=NullPool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def build_keepalive_options(url: "URL") -> dict[str, Any]:
    """What a connection to Postgres is made with, so that it does not outlive the way there; the address may differ."""
    return {name: value for name, value in KEEPALIVE_OPTIONS.items() if name not in url.query}


def _build_postgres_engine(
    url: str, connections: int, pool_timeout_s: float, on_clock: "Callable[[float], None]"
) -> "AsyncEngine":
    recycle_s = 1_800.0  # seconds after which a connection is made anew, and the server's clock read again
    options = build_keepalive_options(make_url(url))
    try:
        engine = create_async_engine(
            url,
            connect_args=options,
            pool_pre_ping=True,
            pool_recycle=recycle_s,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=pool_timeout_s,
        )
    except ImportError:
        raise _no_driver(make_url(url).get_backend_name()) from None

    def prepare_connection(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        started = time.monotonic()
        cursor.execute(PREPARE_CONNECTION_SQL)
        on_clock(cursor.fetchone()[2] + (time.monotonic() - started) / 2)
        cursor.close()
        connection.commit()

    def mark_demoted(context: Any) -> None:
        """A server that was demoted answers, but takes nothing: its connections are as good as lost."""
        if getattr(context.original_exception, "sqlstate", "") == "25006":
            context.is_disconnect = True

    event.listen(engine.sync_engine, "connect", prepare_connection)
    event.listen(engine.sync_engine, "handle_error", mark_demoted)
    return engine


def _no_driver(backend: str) -> NotConfigured:
    if backend != "postgresql":
        hint = "set `database` to postgresql://…, or leave it empty for SQLite"
        return NotConfigured(f"{backend} is no database that Outrider works with", code="database", hint=hint)
    hint = "pip install 'outrider[postgres]'"
    return NotConfigured("the driver of Postgres is not installed", code="database", hint=hint)


def _build_sqlite_engine(url: str) -> "AsyncEngine":
    made = make_url(url)
    Path(made.database or ":memory:").parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(url, connect_args=_build_sqlite_options(made) | {"async_creator_fn": _connect_sqlite})
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _build_sqlite_options(url: "URL") -> dict[str, Any]:
    """How long a lock is waited for may stand in the address: `sqlite:///…?timeout=60`."""
    default_timeout_s = 15.0  # how long a transaction waits for what another has locked, here and in another process
    return {"timeout": float(str(url.query.get("timeout", default_timeout_s))), "factory": _SqliteConnection}


async def _connect_sqlite(*place: Any, **options: Any) -> Any:
    """A connection, or an error and no thread: the driver's would still speak to an event loop that may be gone."""
    connection = aiosqlite.connect(*place, **options)
    thread = connection._thread  # noqa: SLF001 - as SQLAlchemy does it
    thread.daemon = True
    try:
        return await connection
    except BaseException:
        thread.join()
        raise


class _SqliteConnection(sqlite3.Connection):
    """Gives up its transaction when it closes.

    SQLite itself would keep transaction and lock for as long as anybody refers to a statement of it
    (sqlite.org/c3ref/close.html, zombie connections), and the trace of a cancelled task does.
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


def _begin_sqlite(connection: "Connection") -> None:
    writes = connection.get_execution_options().get("outrider_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
