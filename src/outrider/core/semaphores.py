"""How much may be under way at the same time, counted over all processes that share the database.

On Postgres a name has so many numbered places; who takes one has a lease on it, so that a process that dies gives its
places back after a while. With SQLite each process counts for itself.
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
LEASE_S = 10.0  # seconds for which a dead process keeps its places: who lives says so again in time
SEMAPHORE_TABLE_SQL = """
    CREATE UNLOGGED TABLE IF NOT EXISTS rate_places_1 (
        name varchar(200), number integer, holder varchar(40) NOT NULL, until double precision NOT NULL,
        PRIMARY KEY (name, number)
    )
"""
DELETE_OLD_PERMITS_SQL = "DELETE FROM rate_places_1 WHERE until < extract(epoch FROM clock_timestamp()) - :old"
# No table, no places: the time of their last use is now, or a sweep would take them before their first.
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
RENEW_PERMIT_SQL = """
    UPDATE rate_places_1 SET until = extract(epoch FROM clock_timestamp()) + :lease
    WHERE name = :name AND number = :number AND holder = :holder
"""
RELEASE_PERMIT_SQL = """
    UPDATE rate_places_1 SET holder = '', until = extract(epoch FROM clock_timestamp())
    WHERE name = :name AND number = :number AND holder = :holder
"""


class SharedSemaphores:
    """Places by name.

    Args:
        database: What processes share; None counts in this process alone, and so does SQLite.
        permits: Places of each name.
        lease_s: Seconds after which a place comes free whose process says no more.
    """

    def __init__(self, database: "Database | None", permits: int, *, lease_s: float = LEASE_S) -> None:
        self._database = database if database is not None and database.is_shared else None
        self._permits = permits
        self._lease_s = lease_s
        self._is_table_ready = False

    @asynccontextmanager
    async def acquire(self, name: str) -> AsyncGenerator[None]:
        """Waits for a place among all processes and holds it; those of this process are the caller's to count."""
        if self._database is None:
            yield
            return
        holder = {"name": name[:200], "holder": uuid.uuid4().hex}
        number = await self._wait_for_permit(self._database, holder)
        renewing = asyncio.ensure_future(
            self._renew_lease(self._database, holder | {"number": number, "lease": self._lease_s})
        )
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(OutriderError), anyio.CancelScope(shield=True):  # who gave up gives back, too
                await asyncio.wait([renewing])
                if number:
                    await self._execute_statement(self._database, RELEASE_PERMIT_SQL, holder | {"number": number})

    async def _renew_lease(self, database: "Database", held: dict[str, Any]) -> None:
        """Keeps a place for as long as it is in use."""
        renew_interval_s = 3.0  # seconds between two times of that
        while held["number"]:
            await anyio.sleep(renew_interval_s)
            with suppress(OutriderError):
                await self._execute_statement(database, RENEW_PERMIT_SQL, held)

    async def _wait_for_permit(self, database: "Database", holder: dict[str, Any]) -> int | None:
        """The number of the place; None where the database cannot tell, so that the process goes on by itself."""
        delays_s = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds between looks for a free place; the last one goes on
        wanted = holder | {"most": self._permits, "lease": self._lease_s}
        attempt = 0
        try:
            while not (number := await self._execute_statement(database, TAKE_PERMIT_SQL, wanted)):
                if not attempt:
                    await self._execute_statement(database, INSERT_PERMITS_SQL, wanted)
                await anyio.sleep(delays_s[min(attempt, len(delays_s) - 1)])
                attempt += 1
        except OutriderError as error:
            log.warning("how much is under way is counted in this process only for now: %s", error)
            return None
        return number

    async def _execute_statement(self, database: "Database", statement: str, given: dict[str, Any]) -> int | None:
        def run_statement(connection: "Connection") -> int | None:
            max_age_s = 3_600.0  # seconds after which a place that nobody took is forgotten
            lock_id = 0x6F757370  # any number, the same in every process: who holds it makes the table
            if not self._is_table_ready:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({lock_id})"))
                connection.execute(text(SEMAPHORE_TABLE_SQL))
                connection.execute(text(DELETE_OLD_PERMITS_SQL), {"old": max_age_s})
            wanted = {name: value for name, value in given.items() if f":{name}" in statement}
            answer = connection.execute(text(statement), wanted)
            return answer.scalar() if answer.returns_rows else None

        number = await database.run_transaction(run_statement, write=True)
        self._is_table_ready = True
        return number
