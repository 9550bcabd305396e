"""Named rate limits that all processes on a database share.

On Postgres each name has one row, changed by one statement under the server's clock: the generic cell rate algorithm
(ITU-T I.371, annex A) with a reservation. Callers get the time to wait until their turn. The rows are worthless
after a crash, so the table is unlogged, and created at first use. With SQLite each process counts for itself, by the
same algorithm.
"""

import logging
from collections import OrderedDict

import anyio
from sqlalchemy import Connection, text

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
RATE_TABLE_SQL = """
    CREATE UNLOGGED TABLE IF NOT EXISTS rate_turns_1 (
        name varchar(200) PRIMARY KEY, free_at double precision NOT NULL
    )
"""
# `free_at` is when the last reserved turn ends. A turn may begin `burst - 1` intervals before it would be due.
RESERVE_TURN_SQL = """
    WITH clock AS (SELECT extract(epoch FROM clock_timestamp())::float8 AS at)
    INSERT INTO rate_turns_1 AS known SELECT :name, at + :interval FROM clock
    ON CONFLICT (name) DO UPDATE SET free_at = greatest(known.free_at, (SELECT at FROM clock)) + :interval
    WHERE greatest(known.free_at, (SELECT at FROM clock)) + :interval - (SELECT at FROM clock) <= :window + :patience
    RETURNING free_at - :window - (SELECT at FROM clock)
"""


class RateLimiter:
    """Rate limits by name.

    Args:
        database: The shared database; None counts in this process alone.
    """

    def __init__(self, database: Database | None) -> None:
        self._database = database if database is not None and database.is_shared else None
        self._local_free_at: OrderedDict[str, float] = OrderedDict()  # as `free_at` in the table
        self._is_table_ready = False
        self._local_until = 0.0

    async def acquire(self, name: str, calls: float, seconds: float, *, max_wait_s: float = 60.0) -> bool:
        """Wait for a turn if it comes within `max_wait_s`.

        Otherwise return False at once.

        Args:
            name: The limited resource: a host, or a credential of a provider.
            calls: Number of calls per period.
            seconds: Length of the period.
            max_wait_s: Maximum wait in seconds.
        """
        retry_after_s = 30.0  # pause after a failure of the database
        if self._database is None or anyio.current_time() < self._local_until:
            return await self._acquire_local(name, calls, seconds, max_wait_s)
        try:
            wait = await self._reserve_shared(self._database, name, calls, seconds, max_wait_s)
        except OutriderError as error:
            log.warning("rates are limited in this process only for now: %s", error)
            self._local_until = anyio.current_time() + retry_after_s
            return await self._acquire_local(name, calls, seconds, max_wait_s)
        if wait is None:
            return False
        await anyio.sleep(max(wait, 0.0))
        return True

    async def _reserve_shared(
        self, database: Database, name: str, calls: float, seconds: float, max_wait_s: float
    ) -> float | None:
        """Return the seconds until the turn; None if that would be too late."""
        interval = seconds / calls
        window = max(seconds, interval)  # a bucket of one period, with one call at least
        parameters = {"name": name[:200], "interval": interval, "window": window, "patience": max_wait_s}

        def reserve_turn(connection: Connection) -> float | None:
            delete_old_rates_sql = (
                "DELETE FROM rate_turns_1 WHERE free_at < extract(epoch FROM clock_timestamp()) - :old"
            )
            if not self._is_table_ready:
                lock_id = 0x6F757272  # any number, the same in every process; its holder creates the table
                connection.execute(text(f"SELECT pg_advisory_xact_lock({lock_id})"))
                connection.execute(text(RATE_TABLE_SQL))
                connection.execute(text(delete_old_rates_sql), {"old": 3_600.0})  # seconds
            return connection.execute(text(RESERVE_TURN_SQL), parameters).scalar()

        wait = await database.run_transaction(reserve_turn, write=True)
        self._is_table_ready = True
        return wait

    async def _acquire_local(self, name: str, calls: float, seconds: float, max_wait_s: float) -> bool:
        max_names = 1_000
        interval, now = seconds / calls, anyio.current_time()
        free_at = max(self._local_free_at.get(name, now), now) + interval
        wait = free_at - max(seconds, interval) - now
        if wait > max_wait_s:
            return False
        self._local_free_at[name] = free_at
        self._local_free_at.move_to_end(name)
        while len(self._local_free_at) > max_names:
            self._local_free_at.popitem(last=False)
        try:
            await anyio.sleep(max(wait, 0.0))
        except anyio.get_cancelled_exc_class():
            if name in self._local_free_at:
                self._local_free_at[name] -= interval  # an unused turn delays no other call
            raise
        return True
