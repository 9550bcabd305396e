"""Connect to the one database, and migrate it at first use.

It is SQLite in a file on a laptop and Postgres, with the same schema, on servers.

SQLite runs in WAL mode with `synchronous=NORMAL`: a crash of the process loses no committed row, a power failure at
most the last milliseconds (sqlite.org/pragma.html#pragma_synchronous). Every writer starts with BEGIN IMMEDIATE, so
several processes share the file without deadlocks. Writers of one process queue here, because SQLite's own waiting is
unfair, so some writers would time out.

While Postgres restarts, transactions that have not begun wait for it. One that is interrupted before COMMIT was not
stored, and `run_transaction` repeats it; the outcome of one interrupted during COMMIT is reported as unknown.
"""

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from outrider.core.database import address
from outrider.core.database.failures import TransactionInterrupted, explain_error, is_connection_lost, list_error_types
from outrider.core.database.migration import migrate_engine
from outrider.core.database.outage_retry import OUTAGE_TIMEOUT_S, OutageRetry, release_connection, run_to_completion

if TYPE_CHECKING:  # SQLAlchemy is loaded when a database is opened
    from sqlalchemy import Connection, Table
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from outrider.core.database.sqlite_executor import SqliteExecutor

ResultT = TypeVar("ResultT")
log = logging.getLogger(__name__)


class Database:
    """Connections to the database at `url`, which is created and migrated at first use.

    Args:
        url: `postgresql://user@host/name`, or `sqlite:////home/me/.outrider/outrider.db`.
        connections: Maximum number of connections to a server.
        pool_timeout_s: Seconds that a task waits for one of them when all are in use.
        migrate: Whether to bring the schema to the newest revision first; checks do not change it.
        outage_timeout_s: Seconds for which a transaction that has not begun waits during an outage.

    Attributes:
        dialect: `sqlite` or `postgresql`.
        is_shared: Whether processes of several machines can work on it.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = 10,
        pool_timeout_s: float = 15.0,
        migrate: bool = True,
        outage_timeout_s: float = OUTAGE_TIMEOUT_S,
    ) -> None:
        self.url = address.normalize_url(url)
        self.dialect = address.get_dialect(self.url)
        self.is_shared = self.dialect != "sqlite"
        self._migrates = migrate
        self.opened_event = anyio.Event()  # set once the database has been opened
        self._connections = connections
        self._pool_timeout_s = pool_timeout_s
        self._engine: AsyncEngine | None = None
        self._open_lock = anyio.Lock()
        self._write_lock = nullcontext() if self.is_shared else anyio.Lock(fast_acquire=True)
        self._sqlite_executor: SqliteExecutor | None = None
        self._outage_retry = OutageRetry(outage_timeout_s)
        self._clock_offset_s: float | None = None  # from our monotonic clock to the server's

    @classmethod
    def from_file(cls, path: Path) -> "Database":
        """Return the SQLite database in the file."""
        return cls(address.build_sqlite_url(path))

    def now(self) -> float:
        """Return seconds since the epoch by the clock shared by all users of the database: the server's.

        Use it for times that one process writes and another compares. Before the first connection, and with SQLite,
        it is this machine's clock.
        """
        return time.time() if self._clock_offset_s is None else time.monotonic() + self._clock_offset_s

    def read(self) -> AbstractAsyncContextManager["AsyncConnection"]:
        """Open a connection for queries. Raises Unavailable when the database cannot be used."""
        return self._begin_transaction(write=False)

    def write(self) -> AbstractAsyncContextManager["AsyncConnection"]:
        """Open a connection in a transaction.

        It commits at the end, or rolls back on an exception.

        Raises Unavailable, with code `database_unsure` if the transaction may have been stored nevertheless.
        """
        return self._begin_transaction(write=True)

    async def run_transaction(self, work: "Callable[[Connection], ResultT]", *, write: bool) -> ResultT:
        """Run short synchronous work in one transaction and return its result.

        The work may run in another thread, and again from the start when a transaction was certainly not stored, so it
        must touch nothing but the connection. Raises as `write`.
        """
        if self.is_shared or self.url.endswith(":memory:"):
            return await self._run_with_retries(work, write=write)
        results: list[ResultT] = []
        with anyio.CancelScope(shield=True):
            await self._ensure_engine()
            async with self._write_lock if write else nullcontext():
                if self._sqlite_executor is None:
                    from outrider.core.database.engines import build_sync_engine
                    from outrider.core.database.sqlite_executor import SqliteExecutor

                    self._sqlite_executor = SqliteExecutor(build_sync_engine(self.url))
                try:
                    results.append(await self._sqlite_executor.run(work, write=write))
                except list_error_types() as error:
                    raise explain_error(self.url, error) from error
        return results[0]

    async def upsert(self, table: "Table", row: dict[str, Any], *, key: str) -> None:
        """Insert the row, or replace the other columns of the row with the same `key`."""
        async with self.write() as connection:
            await connection.execute(self.build_upsert(table, row, key=key))

    def build_upsert(self, table: "Table", row: dict[str, Any], *, key: str) -> Any:
        """Return the statement of `upsert`, for use inside a longer transaction."""
        insert = self.build_insert(table).values(row)
        changed = {name: insert.excluded[name] for name in row if name != key}
        return insert.on_conflict_do_update(index_elements=[key], set_=changed)

    def build_insert(self, table: "Table") -> Any:
        """Return an INSERT that supports ON CONFLICT, in this database's dialect."""
        from sqlalchemy.dialects import postgresql, sqlite

        return (sqlite if self.dialect == "sqlite" else postgresql).insert(table)

    async def get_engine(self) -> "AsyncEngine":
        """Return the open engine, for callers that keep a connection. Raises Unavailable."""
        return await self._ensure_engine()

    async def connect_autocommit(self) -> "AsyncConnection":
        """Open a connection that commits each statement; the caller closes it. Raises Unavailable."""
        try:
            return await run_to_completion(self._connect_autocommit_once())
        except list_error_types() as error:
            raise explain_error(self.url, error) from error

    async def close(self) -> None:
        """Close every connection; a later use opens the database again."""
        engine, self._engine = self._engine, None
        executor, self._sqlite_executor = self._sqlite_executor, None
        with anyio.CancelScope(shield=True):
            if executor is not None:
                await executor.close()
            if engine is not None:
                from outrider.core.database.engines import dispose_engine

                await run_to_completion(dispose_engine(engine))

    @asynccontextmanager
    async def _begin_transaction(self, *, write: bool) -> AsyncGenerator["AsyncConnection"]:
        ready = await self._connect_with_retry() if self.is_shared else None
        # A cancelled statement would leak its connection, and with it the lock on the file. So a transaction runs to
        # its end even if its caller is cancelled: keep it short.
        with anyio.CancelScope(shield=True):
            async with self._write_lock if write else nullcontext():
                committing = False
                try:
                    # Do not await anything between taking a connection and the block that returns it.
                    async with (
                        release_connection(ready)
                        if ready
                        else (self._engine or await self._ensure_engine()).connect() as connection
                    ):
                        await connection.execution_options(outrider_write=write)
                        async with connection.begin():
                            yield connection
                            committing = write
                except list_error_types() as error:
                    raise explain_error(self.url, error, committing=committing) from error

    async def _connect_with_retry(self) -> "AsyncConnection":
        """Connect to the server; wait during a short outage. Raises Unavailable."""
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

    async def _run_with_retries(self, work: "Callable[[Connection], ResultT]", *, write: bool) -> ResultT:
        """Run the work, and repeat it while the transaction was certainly not stored."""
        retries_left = 3
        while True:
            try:
                async with self._begin_transaction(write=write) as connection:
                    return await connection.run_sync(work)
            except TransactionInterrupted as error:
                if not retries_left:
                    raise
                retries_left -= 1
                log.info("repeating an interrupted transaction: %s", error)

    async def _ensure_engine(self) -> "AsyncEngine":
        async with self._open_lock:
            if self._engine is None:
                self._engine = await self._open_engine()
                self.opened_event.set()
            return self._engine

    async def _open_engine(self) -> "AsyncEngine":
        from sqlalchemy.exc import SQLAlchemyError

        from outrider.core.database.engines import build_engine, check_connection, dispose_engine

        def set_server_clock(server_time: float) -> None:
            self._clock_offset_s = server_time - time.monotonic()

        try:
            engine = build_engine(
                self.url,
                connections=self._connections,
                pool_timeout_s=self._pool_timeout_s,
                on_server_time=set_server_clock,
            )
        except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
            raise explain_error(self.url, error) from error
        try:
            await run_to_completion(migrate_engine(engine) if self._migrates else check_connection(engine))
        except BaseException as error:
            await run_to_completion(dispose_engine(engine))
            if isinstance(error, list_error_types()):
                raise explain_error(self.url, error) from error
            raise
        return engine


def to_storable_text(text: str, limit: int | None = None) -> str:
    """Return text that every database accepts: no NUL, no lone surrogates, at most `limit` characters."""
    if text.isascii() and "\0" not in text:
        return text[:limit]
    return text[:limit].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
