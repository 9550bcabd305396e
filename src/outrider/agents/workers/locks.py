"""Locks that show which workers are alive.

Each worker holds a lock with its name; another process that can take this lock knows that the worker is dead. SQLite
uses file locks next to the database and Postgres uses session locks: the system releases both when a process dies.
"""

import hashlib
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.database.database import Database
from outrider.core.database.failures import explain_error, list_error_types
from outrider.core.errors import Unavailable


class WorkerLocks(Protocol):
    """The locks of all workers on one database."""

    async def acquire(self, worker: str) -> None:
        """Take this worker's own lock and hold it until `close`."""
        ...

    async def is_dead(self, worker: str) -> bool:
        """Return whether the lock of a worker is free."""
        ...

    async def is_held(self) -> bool:
        """Return whether this worker still holds its own lock."""
        ...

    async def close(self) -> None: ...


class FileLocks:
    """Locks on files in a folder.

    Args:
        folder: A folder next to the database, so that all processes with the database use the same one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None
        self._path: Path | None = None

    async def acquire(self, worker: str) -> None:
        import fcntl

        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"{worker}.lock"
        self._file = self._path.open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    async def is_dead(self, worker: str) -> bool:
        import fcntl

        path = self._folder / f"{worker}.lock"
        try:
            with path.open("r") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        path.unlink(missing_ok=True)
        return True

    async def is_held(self) -> bool:
        return self._path is not None and self._path.exists()

    async def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._file = self._path = None


class SessionLocks:
    """Advisory locks of a Postgres session (postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: AsyncConnection | None = None
        self._worker = ""

    async def acquire(self, worker: str) -> None:
        self._worker = worker
        await self._call_lock_function("pg_try_advisory_lock", worker)

    async def is_dead(self, worker: str) -> bool:
        is_free = await self._call_lock_function("pg_try_advisory_lock", worker)
        if is_free:
            await self._call_lock_function("pg_advisory_unlock", worker)
        return is_free

    async def is_held(self) -> bool:
        """Return whether this worker holds its lock; take it again if the session was lost."""
        if self._connection is None:  # the session was lost, and a new one does not hold the lock yet
            return await self._call_lock_function("pg_try_advisory_lock", self._worker)
        try:
            # A session that holds the lock can take it a second time, and then releases this second one.
            is_taken = await self._call_lock_function("pg_try_advisory_lock", self._worker)
            return is_taken and await self._call_lock_function("pg_advisory_unlock", self._worker)
        except Unavailable:
            return await self._call_lock_function("pg_try_advisory_lock", self._worker)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.invalidate()
            await connection.close()

    async def _call_lock_function(self, function: str, worker: str) -> bool:
        if self._connection is None:
            self._connection = await self._database.connect_autocommit()
        lock_id = int.from_bytes(hashlib.blake2s(worker.encode(), digest_size=8).digest(), signed=True)
        try:
            result = await self._connection.execute(text(f"SELECT {function}(:lock_id)"), {"lock_id": lock_id})
        except list_error_types() as error:
            await self.close()
            raise explain_error(self._database.url, error) from error
        return bool(result.scalar())
