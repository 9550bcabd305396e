"""The one database: SQLite in a file on a laptop, the same schema elsewhere; opened at first use.

SQLite runs in WAL mode with `synchronous=NORMAL` (a crash loses no committed row of ours, at worst
the last milliseconds on power loss: sqlite.org/pragma.html#pragma_synchronous) and every writer
begins with BEGIN IMMEDIATE, so that several processes can share the file without deadlocks. The
writers of one process queue here: SQLite itself lets the unlucky of many starve until their time is up.
"""

import logging
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from outrider.core.errors import Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from outrider.core.transactions import Transactions

T = TypeVar("T")
log = logging.getLogger(__name__)
MEMORY = "sqlite+aiosqlite:///:memory:"
MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 15.0  # how long one process waits for another's write
MIGRATION_LOCK = 0x6F757472  # any number, the same in every process: who holds it migrates, the others wait
MIGRATING = threading.Lock()  # Alembic keeps its context in a global: one migration at a time in a process


class Database:
    """Connections to the database at `url`; creates and migrates it at first use.

    Args:
        url: An SQLAlchemy address, for instance `sqlite+aiosqlite:////home/me/.outrider/outrider.db`.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.used = anyio.Event()  # set once it has been opened
        self._engine: AsyncEngine | None = None
        self._opening = anyio.Lock()
        self._writing = anyio.Lock(fast_acquire=True)
        self._short: Transactions | None = None

    @classmethod
    def file(cls, path: Path) -> "Database":
        """The SQLite database in that file."""
        return cls(f"sqlite+aiosqlite:///{path}")

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.url.split(":", 1)[0].split("+", 1)[0]

    @asynccontextmanager
    async def read(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection for queries. Raises Unavailable when the database cannot be used."""
        async with self._connected(write=False) as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncGenerator["AsyncConnection"]:
        """A connection in a transaction that commits at the end, or rolls back on an exception."""
        async with self._connected(write=True) as connection:
            yield connection

    async def short(self, work: "Callable[[Connection], T]", *, write: bool) -> T:
        """What the work returns, done in one transaction and one go: for what is short and often.

        It runs in another thread, so it must touch nothing but the connection. Raises Unavailable.
        """
        if self.dialect != "sqlite" or self.url.endswith(":memory:"):
            async with self._connected(write=write) as connection:
                return await connection.run_sync(work)
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            await self._opened()
            async with self._turn(write=write):
                self._short = self._short or _transactions(self.url)
                try:
                    done.append(await self._short.run(work, write=write))
                except _failures() as error:
                    raise _unusable(self, error) from error
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

    async def close(self) -> None:
        """Closes every connection; a later use opens the database again."""
        engine, self._engine = self._engine, None
        short, self._short = self._short, None
        with anyio.CancelScope(shield=True):
            if short is not None:
                await short.close()
            if engine is not None:
                await engine.dispose()

    @asynccontextmanager
    async def _connected(self, *, write: bool) -> AsyncGenerator["AsyncConnection"]:
        # A cancelled statement would leave its connection behind, and with it the lock on the file; so a
        # transaction runs to its end, however impatient the caller: keep it short.
        with anyio.CancelScope(shield=True):
            engine = await self._opened()
            async with self._turn(write=write):
                try:
                    async with engine.connect() as connection:
                        await connection.execution_options(outrider_write=write)
                        async with connection.begin():
                            yield connection
                except _failures() as error:
                    raise _unusable(self, error) from error

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

        try:
            engine = _engine(self.url)
        except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
            raise _unusable(self, error) from error
        try:
            await _migrated(engine)
        except BaseException as error:
            await engine.dispose()
            if isinstance(error, SQLAlchemyError | sqlite3.Error | OSError):
                raise _unusable(self, error) from error
            raise
        return engine


async def _migrated(engine: "AsyncEngine") -> None:
    while not MIGRATING.acquire(blocking=False):  # noqa: ASYNC110 - held by another thread or another event loop
        await anyio.sleep(0.02)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(outrider_write=True)
            async with connection.begin():
                await connection.run_sync(migrate)
    finally:
        MIGRATING.release()


def migrate(connection: "Connection") -> None:
    """Brings the schema to the newest revision, inside the caller's transaction.

    Alembic is imported only when there is something to do: it costs a third of a second. Raises
    Unavailable when a newer Outrider made the database.
    """
    found, newest = _revision(connection), head_revision()
    if found == newest:
        return
    if connection.dialect.name == "postgresql":  # SQLite's write lock is held already
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        found = _revision(connection)
        if found == newest:
            return
    if found is not None and found > newest:
        raise Unavailable(
            f"the database is of revision {found}, newer than the {newest} that this version knows",
            code="database",
            hint="upgrade outrider, or set another `data_dir`",
        )
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def head_revision() -> str:
    """The newest migration, by the number that its file name begins with."""
    return max(path.name.split("_", 1)[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def _revision(connection: "Connection") -> str | None:
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def storable(text: str, limit: int | None = None) -> str:
    """The text as every database takes it: without NUL and lone surrogates, at most `limit` characters."""
    return text[:limit].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _engine(url: str) -> "AsyncEngine":
    from sqlalchemy import event, make_url
    from sqlalchemy.ext.asyncio import create_async_engine

    if not url.startswith("sqlite"):
        return create_async_engine(url, pool_pre_ping=True)
    Path(make_url(url).database or MEMORY).parent.mkdir(parents=True, exist_ok=True)
    options = {"timeout": BUSY_SECONDS, "factory": _Connection, "async_creator_fn": _connect_sqlite}
    engine = create_async_engine(url, connect_args=options)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _transactions(url: str) -> "Transactions":
    from sqlalchemy import NullPool, create_engine, event, make_url

    from outrider.core.transactions import Transactions

    options = {"timeout": BUSY_SECONDS, "factory": _Connection}
    engine = create_engine(make_url(url).set(drivername="sqlite"), connect_args=options, poolclass=NullPool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Transactions(engine)


async def _connect_sqlite(*place: Any, **options: Any) -> Any:
    """A connection, or an error and no thread: the driver's would still speak to an event loop that may be gone."""
    import aiosqlite

    connection = aiosqlite.connect(*place, **options)
    thread = connection._thread  # noqa: SLF001 - as SQLAlchemy does it
    thread.daemon = True
    try:
        return await connection
    except BaseException:
        thread.join()
        raise


class _Connection(sqlite3.Connection):
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


def _failures() -> tuple[type[Exception], ...]:
    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, sqlite3.Error, OSError


def _unusable(database: Database, error: Exception) -> Unavailable:
    """The failure as an operator would want to hear it; never the statement or its values."""
    place = database.url.split("///")[-1] if database.dialect == "sqlite" else database.dialect
    reason = (str(getattr(error, "orig", None) or error) or type(error).__name__).splitlines()[0]
    return Unavailable(
        f"the database {place} cannot be used: {reason}",
        code="database",
        hint="check free space and permissions there, or set `data_dir`; `outrider doctor` tests it",
    )
