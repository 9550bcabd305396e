"""Who is alive: each worker holds a lock by its name, and whoever can take it knows that the worker is dead.

On one machine the locks are of files beside the database, on Postgres those of a session: both are let go by the system
the moment a process dies, however it dies.
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
        """Takes this worker's own lock, to be held until `close`."""
        ...

    async def is_dead(self, worker: str) -> bool:
        """Whether nobody holds that worker's lock."""
        ...

    async def is_held(self) -> bool:
        """Whether this worker still holds its own."""
        ...

    async def close(self) -> None: ...


class FileLocks:
    """Locks of files in a folder.

    Args:
        folder: Beside the database, so that all who share the one share the other.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: Any = None
        self._path: Path | None = None

    async def acquire(self, worker: str) -> None:
        import fcntl

        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"{worker}.lock"
        self._own = self._path.open("w")
        fcntl.flock(self._own, fcntl.LOCK_EX | fcntl.LOCK_NB)

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
        if self._own is not None:
            self._own.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._own = self._path = None


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
        free = await self._call_lock_function("pg_try_advisory_lock", worker)
        if free:
            await self._call_lock_function("pg_advisory_unlock", worker)
        return free

    async def is_held(self) -> bool:
        """Takes the lock again after the session was lost, if it can."""
        if self._connection is None:  # lost while the server was away: a new session holds nothing yet
            return await self._call_lock_function("pg_try_advisory_lock", self._worker)
        try:
            # A session that holds it takes it once more, and gives that one back.
            mine = await self._call_lock_function("pg_try_advisory_lock", self._worker)
            return mine and await self._call_lock_function("pg_advisory_unlock", self._worker)
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
        number = int.from_bytes(hashlib.blake2s(worker.encode(), digest_size=8).digest(), signed=True)
        try:
            answer = await self._connection.execute(text(f"SELECT {function}(:number)"), {"number": number})
        except list_error_types() as error:
            await self.close()
            raise explain_error(self._database.url, error) from error
        return bool(answer.scalar())
