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
from outrider.core.database.failures import Interrupted, failures, is_lost, told
from outrider.core.database.migration import MIGRATIONS, head_revision, migrate, migrated
from outrider.core.database.patience import OUTAGE, Patience, given_back, whole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from outrider.core.transactions import Transactions

__all__ = ["MEMORY", "MIGRATIONS", "Database", "head_revision", "migrate", "storable"]
T = TypeVar("T")
log = logging.getLogger(__name__)
MEMORY = "sqlite+aiosqlite:///:memory:"
TRIES = 4  # times that short work is begun which surely was not stored
CONNECTIONS = 10
POOL_SECONDS = 15.0  # how long a transaction waits for a free connection


class Database:
    """Connections to the database at `url`; creates and migrates it at first use.

    Args:
        url: `postgresql://user@host/name`, or `sqlite:////home/me/.outrider/outrider.db`.
        connections: At most so many to a server.
        turn: Seconds that a task waits for one of them when all are in use.
        migrates: Whether the schema is brought to the newest revision first; only checks look at what is there.
        patience: Seconds of an outage for which a transaction that has not begun waits.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = CONNECTIONS,
        turn: float = POOL_SECONDS,
        migrates: bool = True,
        patience: float = OUTAGE,
    ) -> None:
        self.url = address.normalised(url)
        self._migrates = migrates
        self.used = anyio.Event()  # set once it has been opened
        self._connections = connections
        self._turn_seconds = turn
        self._engine: AsyncEngine | None = None
        self._opening = anyio.Lock()
        self._writing = anyio.Lock(fast_acquire=True)
        self._short: Transactions | None = None
        self._patience = Patience(patience)
        self._ahead: float | None = None  # seconds from our monotonic clock to the server's

    @classmethod
    def file(cls, path: Path) -> "Database":
        """The SQLite database in that file."""
        return cls(address.of_file(path))

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return address.dialect(self.url)

    @property
    def shared(self) -> bool:
        """Whether processes of several machines may work on it."""
        return self.dialect != "sqlite"

    def now(self) -> float:
        """Seconds since the epoch by the clock that all who share the database have in common: the server's.

        For times that one process writes and another compares. Before the first connection, and with SQLite, it is
        this machine's clock.
        """
        return time.time() if self._ahead is None else time.monotonic() + self._ahead

    @asynccontextmanager
    async def read(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection for queries. Raises Unavailable when the database cannot be used."""
        async with self._connected(write=False) as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection in a transaction that commits at the end, or rolls back on an exception.

        Raises Unavailable; with code `database_unsure` if it may have been stored nevertheless.
        """
        async with self._connected(write=True) as connection:
            yield connection

    async def short(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        """What the work returns, done in one transaction and one go: for what is short and often.

        It may run in another thread, and again from the start where a transaction surely was not stored, so it must
        touch nothing but the connection. Raises as `write`.
        """
        if self.shared or self.url.endswith(":memory:"):
            return await self._repeated(work, write=write)
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            await self._opened()
            async with self._turn(write=write):
                self._short = self._short or _transactions(self.url)
                try:
                    done.append(await self._short.run(work, write=write))
                except failures() as error:
                    raise told(self.url, error) from error
        return done[0]

    async def upsert(self, table: "Table", row: dict[str, Any], *, key: str) -> None:
        """Inserts the row, or replaces the other columns of the one with the same `key`."""
        async with self.write() as connection:
            await connection.execute(self.upserting(table, row, key=key))

    def upserting(self, table: "Table", row: dict[str, Any], *, key: str) -> Any:
        """The statement of `upsert`, for use inside a longer transaction."""
        insert = self.insert(table).values(row)
        changed = {name: insert.excluded[name] for name in row if name != key}
        return insert.on_conflict_do_update(index_elements=[key], set_=changed)

    def insert(self, table: "Table") -> Any:
        """An INSERT that knows ON CONFLICT, in this database's dialect."""
        from sqlalchemy.dialects import postgresql, sqlite

        return (sqlite if self.dialect == "sqlite" else postgresql).insert(table)

    async def engine(self) -> "AsyncEngine":
        """What the connections come from, for those who must keep one. Raises Unavailable."""
        return await self._opened()

    async def keep(self) -> "AsyncConnection":
        """A connection beside all transactions, each statement on its own; the caller closes it. Raises Unavailable."""
        try:
            return await whole(self._alone())
        except failures() as error:
            raise told(self.url, error) from error

    async def close(self) -> None:
        """Closes every connection; a later use opens the database again."""
        engine, self._engine = self._engine, None
        short, self._short = self._short, None
        with anyio.CancelScope(shield=True):
            if short is not None:
                await short.close()
            if engine is not None:
                from outrider.core.database.engines import disposed

                await whole(disposed(engine))

    @asynccontextmanager
    async def _connected(self, *, write: bool) -> AsyncGenerator["AsyncConnection"]:
        taken = await self._patient() if self.shared else None
        # A cancelled statement would leave its connection behind, and with it the lock on the file; so a
        # transaction runs to its end, however impatient the caller: keep it short.
        with anyio.CancelScope(shield=True):
            async with self._turn(write=write):
                committing = False
                try:
                    # Nothing may be awaited between taking a connection and the block that gives it back.
                    async with given_back(taken) if taken else (await self._opened()).connect() as connection:
                        await connection.execution_options(outrider_write=write)
                        async with connection.begin():
                            yield connection
                            committing = write
                except failures() as error:
                    raise told(self.url, error, committing=committing) from error

    async def _patient(self) -> "AsyncConnection":
        """A connection to a server; one that is away for a moment is waited for. Raises Unavailable."""
        attempt = 0
        while True:
            try:
                connection = await whole(self._linked())
            except failures() as error:
                if not is_lost(error) or not await self._patience.again(attempt):
                    raise told(self.url, error) from error
                attempt += 1
            else:
                self._patience.back()
                return connection

    async def _linked(self) -> "AsyncConnection":
        return await (await self._opened()).connect()

    async def _alone(self) -> "AsyncConnection":
        connection = await self._linked()
        try:
            return await connection.execution_options(isolation_level="AUTOCOMMIT")
        except BaseException:
            await connection.close()
            raise

    async def _repeated(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        for _ in range(TRIES - 1):
            try:
                return await self._once(work, write=write)
            except Interrupted as error:
                log.info("a transaction is done again: %s", error)
        return await self._once(work, write=write)

    async def _once(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        async with self._connected(write=write) as connection:
            return await connection.run_sync(work)

    def _turn(self, *, write: bool) -> Any:
        return self._writing if write and self.dialect == "sqlite" else nullcontext()

    async def _opened(self) -> "AsyncEngine":
        async with self._opening:
            if self._engine is None:
                self._engine = await self._open()
                self.used.set()
            return self._engine

    async def _open(self) -> "AsyncEngine":
        from sqlalchemy.exc import SQLAlchemyError

        from outrider.core.database.engines import disposed, engine_of

        try:
            engine = engine_of(self.url, connections=self._connections, turn=self._turn_seconds, noted=self._note)
        except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
            raise told(self.url, error) from error
        try:
            await whole(migrated(engine) if self._migrates else _reached(engine))
        except BaseException as error:
            await whole(disposed(engine))
            if isinstance(error, failures()):
                raise told(self.url, error) from error
            raise
        return engine

    def _note(self, clock: float) -> None:
        self._ahead = clock - time.monotonic()


async def _reached(engine: "AsyncEngine") -> None:
    async with engine.connect():
        pass


def storable(text: str, limit: int | None = None) -> str:
    """The text as every database takes it: without NUL and lone surrogates, at most `limit` characters."""
    if text.isascii() and "\0" not in text:
        return text[:limit]
    return text[:limit].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _transactions(url: str) -> "Transactions":
    from outrider.core.database.engines import short_engine
    from outrider.core.transactions import Transactions

    return Transactions(short_engine(url))
