"""The one database: SQLite in a file on a laptop, the same schema in Postgres elsewhere; opened at first use.

SQLite runs in WAL mode with `synchronous=NORMAL` (a crash loses no committed row of ours, at worst
the last milliseconds on power loss: sqlite.org/pragma.html#pragma_synchronous) and every writer
begins with BEGIN IMMEDIATE, so that several processes can share the file without deadlocks. The
writers of one process queue here: SQLite itself lets the unlucky of many starve until their time is up.

A Postgres that is restarted is waited for before a transaction begins. One that breaks before COMMIT was
not stored, and `short` does it again; one that breaks during COMMIT is told to be of unknown outcome.
"""

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from outrider.core.database import address
from outrider.core.database.failures import TransactionInterrupted, explain_error, is_connection_lost, list_error_types
from outrider.core.database.migration import MIGRATIONS_DIR, find_head_revision, migrate_engine, migrate_schema
from outrider.core.database.outage_retry import OUTAGE_TIMEOUT_S, OutageRetry, release_connection, run_to_completion

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from outrider.core.sqlite_executor import SqliteExecutor

__all__ = ["MEMORY_URL", "MIGRATIONS_DIR", "Database", "find_head_revision", "migrate_schema", "to_storable_text"]
T = TypeVar("T")
log = logging.getLogger(__name__)
MEMORY_URL = "sqlite+aiosqlite:///:memory:"
MAX_CONNECTIONS = 10
POOL_TIMEOUT_S = 15.0  # how long a transaction waits for a free connection


class Database:
    """Connections to the database at `url`; creates and migrates it at first use.

    Args:
        url: `postgresql://user@host/name`, or `sqlite:////home/me/.outrider/outrider.db`.
        connections: At most so many to a server.
        pool_timeout_s: Seconds that a task waits for one of them when all are in use.
        migrate: Whether the schema is brought to the newest revision first; only checks look at what is there.
        outage_timeout_s: Seconds of an outage for which a transaction that has not begun waits.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = MAX_CONNECTIONS,
        pool_timeout_s: float = POOL_TIMEOUT_S,
        migrate: bool = True,
        outage_timeout_s: float = OUTAGE_TIMEOUT_S,
    ) -> None:
        self.url = address.normalize_url(url)
        self._migrates = migrate
        self.opened_event = anyio.Event()  # set once it has been opened
        self._connections = connections
        self._pool_timeout_s = pool_timeout_s
        self._engine: AsyncEngine | None = None
        self._open_lock = anyio.Lock()
        self._write_lock = anyio.Lock(fast_acquire=True)
        self._sqlite_executor: SqliteExecutor | None = None
        self._outage_retry = OutageRetry(outage_timeout_s)
        self._clock_offset_s: float | None = None  # seconds from our monotonic clock to the server's

    @classmethod
    def from_file(cls, path: Path) -> "Database":
        """The SQLite database in that file."""
        return cls(address.build_sqlite_url(path))

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return address.get_dialect(self.url)

    @property
    def is_shared(self) -> bool:
        """Whether processes of several machines may work on it."""
        return self.dialect != "sqlite"

    def now(self) -> float:
        """Seconds since the epoch by the clock that all who share the database have in common: the server's.

        For times that one process writes and another compares. Before the first connection, and with SQLite, it is
        this machine's clock.
        """
        return time.time() if self._clock_offset_s is None else time.monotonic() + self._clock_offset_s

    @asynccontextmanager
    async def read(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection for queries. Raises Unavailable when the database cannot be used."""
        async with self._begin_transaction(write=False) as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection in a transaction that commits at the end, or rolls back on an exception.

        Raises Unavailable; with code `database_unsure` if it may have been stored nevertheless.
        """
        async with self._begin_transaction(write=True) as connection:
            yield connection

    async def run_transaction(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        """What the work returns, done in one transaction and one go: for what is short and often.

        It may run in another thread, and again from the start where a transaction surely was not stored, so it must
        touch nothing but the connection. Raises as `write`.
        """
        if self.is_shared or self.url.endswith(":memory:"):
            return await self._run_with_retries(work, write=write)
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            await self._ensure_engine()
            async with self._get_write_lock(write=write):
                self._sqlite_executor = self._sqlite_executor or _transactions(self.url)
                try:
                    done.append(await self._sqlite_executor.run(work, write=write))
                except list_error_types() as error:
                    raise explain_error(self.url, error) from error
        return done[0]

    async def upsert(self, table: "Table", row: dict[str, Any], *, key: str) -> None:
        """Inserts the row, or replaces the other columns of the one with the same `key`."""
        async with self.write() as connection:
            await connection.execute(self.build_upsert(table, row, key=key))

    def build_upsert(self, table: "Table", row: dict[str, Any], *, key: str) -> Any:
        """The statement of `upsert`, for use inside a longer transaction."""
        insert = self.build_insert(table).values(row)
        changed = {name: insert.excluded[name] for name in row if name != key}
        return insert.on_conflict_do_update(index_elements=[key], set_=changed)

    def build_insert(self, table: "Table") -> Any:
        """An INSERT that knows ON CONFLICT, in this database's dialect."""
        from sqlalchemy.dialects import postgresql, sqlite

        return (sqlite if self.dialect == "sqlite" else postgresql).insert(table)

    async def get_engine(self) -> "AsyncEngine":
        """What the connections come from, for those who must keep one. Raises Unavailable."""
        return await self._ensure_engine()

    async def connect_autocommit(self) -> "AsyncConnection":
        """A connection beside all transactions, each statement on its own; the caller closes it. Raises Unavailable."""
        try:
            return await run_to_completion(self._connect_autocommit_once())
        except list_error_types() as error:
            raise explain_error(self.url, error) from error

    async def close(self) -> None:
        """Closes every connection; a later use opens the database again."""
        engine, self._engine = self._engine, None
        short, self._sqlite_executor = self._sqlite_executor, None
        with anyio.CancelScope(shield=True):
            if short is not None:
                await short.close()
            if engine is not None:
                from outrider.core.database.engines import dispose_engine

                await run_to_completion(dispose_engine(engine))

    @asynccontextmanager
    async def _begin_transaction(self, *, write: bool) -> AsyncGenerator["AsyncConnection"]:
        taken = await self._connect_with_retry() if self.is_shared else None
        # A cancelled statement would leave its connection behind, and with it the lock on the file; so a
        # transaction runs to its end, however impatient the caller: keep it short.
        with anyio.CancelScope(shield=True):
            async with self._get_write_lock(write=write):
                committing = False
                try:
                    # Nothing may be awaited between taking a connection and the block that gives it back.
                    async with (
                        release_connection(taken) if taken else (await self._ensure_engine()).connect() as connection
                    ):
                        await connection.execution_options(outrider_write=write)
                        async with connection.begin():
                            yield connection
                            committing = write
                except list_error_types() as error:
                    raise explain_error(self.url, error, committing=committing) from error

    async def _connect_with_retry(self) -> "AsyncConnection":
        """A connection to a server; one that is away for a moment is waited for. Raises Unavailable."""
        attempt = 0
        while True:
            try:
                connection = await run_to_completion(self._connect_once())
            except list_error_types() as error:
                if not is_connection_lost(error) or not await self._outage_retry.wait_to_retry(attempt):
                    raise explain_error(self.url, error) from error
                attempt += 1
            else:
                self._outage_retry.reset()
                return connection

    async def _connect_once(self) -> "AsyncConnection":
        return await (await self._ensure_engine()).connect()

    async def _connect_autocommit_once(self) -> "AsyncConnection":
        connection = await self._connect_once()
        try:
            return await connection.execution_options(isolation_level="AUTOCOMMIT")
        except BaseException:
            await connection.close()
            raise

    async def _run_with_retries(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        max_attempts = 4  # times that short work is begun which surely was not stored
        for _ in range(max_attempts - 1):
            try:
                return await self._run_once(work, write=write)
            except TransactionInterrupted as error:
                log.info("a transaction is done again: %s", error)
        return await self._run_once(work, write=write)

    async def _run_once(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        async with self._begin_transaction(write=write) as connection:
            return await connection.run_sync(work)

    def _get_write_lock(self, *, write: bool) -> Any:
        return self._write_lock if write and self.dialect == "sqlite" else nullcontext()

    async def _ensure_engine(self) -> "AsyncEngine":
        async with self._open_lock:
            if self._engine is None:
                self._engine = await self._open_engine()
                self.opened_event.set()
            return self._engine

    async def _open_engine(self) -> "AsyncEngine":
        from sqlalchemy.exc import SQLAlchemyError

        from outrider.core.database.engines import build_engine, dispose_engine

        try:
            engine = build_engine(
                self.url,
                connections=self._connections,
                pool_timeout_s=self._pool_timeout_s,
                on_clock=self._set_server_clock,
            )
        except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
            raise explain_error(self.url, error) from error
        try:
            await run_to_completion(migrate_engine(engine) if self._migrates else _check_connection(engine))
        except BaseException as error:
            await run_to_completion(dispose_engine(engine))
            if isinstance(error, list_error_types()):
                raise explain_error(self.url, error) from error
            raise
        return engine

    def _set_server_clock(self, clock: float) -> None:
        self._clock_offset_s = clock - time.monotonic()


async def _check_connection(engine: "AsyncEngine") -> None:
    async with engine.connect():
        pass


def to_storable_text(text: str, limit: int | None = None) -> str:
    """The text as every database takes it: without NUL and lone surrogates, at most `limit` characters."""
    if text.isascii() and "\0" not in text:
        return text[:limit]
    return text[:limit].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _transactions(url: str) -> "SqliteExecutor":
    from outrider.core.database.engines import build_sync_engine
    from outrider.core.sqlite_executor import SqliteExecutor

    return SqliteExecutor(build_sync_engine(url))
