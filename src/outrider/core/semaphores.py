"""Named semaphores that all processes on a database share.

On Postgres a name has numbered permits. A holder has a lease on its permit, so that the permits of a dead process
become free after a while. With SQLite each process counts for itself.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from sqlalchemy import Connection, text

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
SEMAPHORE_TABLE_SQL = """
    CREATE UNLOGGED TABLE IF NOT EXISTS rate_places_1 (
        name varchar(200), number integer, holder varchar(40) NOT NULL, until double precision NOT NULL,
        PRIMARY KEY (name, number)
    )
"""
# New permits are marked as just used, or they would be deleted before their first use.
INSERT_PERMITS_SQL = """
    INSERT INTO rate_places_1 SELECT :name, number, '', extract(epoch FROM clock_timestamp())
    FROM generate_series(1, :most) AS number ON CONFLICT DO NOTHING
"""
TAKE_PERMIT_SQL = """
    WITH free AS (
        SELECT number FROM rate_places_1
        WHERE name = :name AND number <= :most AND until <= extract(epoch FROM clock_timestamp())
        ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE rate_places_1 AS place SET holder = :holder, until = extract(epoch FROM clock_timestamp()) + :lease
    FROM free WHERE place.name = :name AND place.number = free.number RETURNING place.number
"""


class SharedSemaphores:
    """Semaphores by name.

    Args:
        database: The shared database; with None or SQLite processes are not limited together.
        permits: Number of permits of each name.
        lease_s: Seconds after which a permit becomes free if its process does not renew it.
    """

    def __init__(self, database: Database | None, permits: int, *, lease_s: float = 10.0) -> None:
        self._database = database if database is not None and database.is_shared else None
        self._permits = permits
        self._lease_s = lease_s
        self._is_table_ready = False

    @asynccontextmanager
    async def acquire(self, name: str) -> AsyncGenerator[None]:
        """Wait for a permit and hold it during the body; callers limit their own process themselves."""
        release_permit_sql = """
            UPDATE rate_places_1 SET holder = '', until = extract(epoch FROM clock_timestamp())
            WHERE name = :name AND number = :number AND holder = :holder
        """
        if self._database is None:
            yield
            return
        holder = {"name": name[:200], "holder": uuid.uuid4().hex}
        number = await self._wait_for_permit(self._database, holder)
        permit = holder | {"number": number}
        renewing = asyncio.ensure_future(self._renew_lease(self._database, permit))
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(OutriderError), anyio.CancelScope(shield=True):  # a cancelled holder releases it, too
                await asyncio.wait([renewing])
                if number:
                    await self._execute_statement(self._database, release_permit_sql, permit)

    async def _renew_lease(self, database: Database, permit: dict[str, Any]) -> None:
        renew_permit_sql = """
            UPDATE rate_places_1 SET until = extract(epoch FROM clock_timestamp()) + :lease
            WHERE name = :name AND number = :number AND holder = :holder
        """
        interval_s = 3.0
        while permit["number"]:
            await anyio.sleep(interval_s)
            with suppress(OutriderError):
                await self._execute_statement(database, renew_permit_sql, permit | {"lease": self._lease_s})

    async def _wait_for_permit(self, database: Database, holder: dict[str, Any]) -> int | None:
        """Return the number of the permit; None if the database fails, so that the process works without one."""
        delays_s = (0.02, 0.05, 0.1, 0.2, 0.4)  # the last one repeats
        parameters = holder | {"most": self._permits, "lease": self._lease_s}
        attempt = 0
        try:
            while not (number := await self._execute_statement(database, TAKE_PERMIT_SQL, parameters)):
                if not attempt:
                    await self._execute_statement(database, INSERT_PERMITS_SQL, parameters)
                await anyio.sleep(delays_s[min(attempt, len(delays_s) - 1)])
                attempt += 1
        except OutriderError as error:
            log.warning("concurrency is limited in this process only for now: %s", error)
            return None
        return number

    async def _execute_statement(self, database: Database, statement: str, parameters: dict[str, Any]) -> int | None:
        def run_statement(connection: Connection) -> int | None:
            delete_sql = "DELETE FROM rate_places_1 WHERE until < extract(epoch FROM clock_timestamp()) - :old"
            if not self._is_table_ready:
                lock_id = 0x6F757370  # any number, the same in every process; its holder creates the table
                connection.execute(text(f"SELECT pg_advisory_xact_lock({lock_id})"))
                connection.execute(text(SEMAPHORE_TABLE_SQL))
                connection.execute(text(delete_sql), {"old": 3_600.0})  # seconds
            used = {name: value for name, value in parameters.items() if f":{name}" in statement}
            result = connection.execute(text(statement), used)
            return result.scalar() if result.returns_rows else None

        number = await database.run_transaction(run_statement, write=True)
        self._is_table_ready = True
        return number
