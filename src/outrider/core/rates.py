"""How often something may be asked, counted over all processes that share the database.

On Postgres one row a name, changed by one statement under the server's clock: the generic cell rate algorithm
(ITU-T I.371, annex A) with a reservation. What a caller gets is the time to wait until its turn. The rows are of no
worth after a crash, so the table is unlogged, and the first use makes it. With SQLite each process counts for itself.
"""

import logging
from collections import OrderedDict

import anyio
from aiolimiter import AsyncLimiter
from sqlalchemy import Connection, text

from outrider.core.db import Database
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
LOCK = 0x6F757272  # any number, the same in every process: who holds it makes the table
KNOWN = 1_000  # names that a process counts for itself at the same time
REST = 30.0  # seconds in which a database that failed is not asked
OLD = 3_600.0  # seconds after which a row says nothing any more
TABLE = """
    CREATE UNLOGGED TABLE IF NOT EXISTS rate_turns_1 (
        name varchar(200) PRIMARY KEY, free_at double precision NOT NULL
    )
"""
# `free_at` is when the last reserved turn ends. A turn may begin `burst - 1` intervals before it would be due.
TURN = """
    WITH clock AS (SELECT extract(epoch FROM clock_timestamp())::float8 AS at)
    INSERT INTO rate_turns_1 AS known SELECT :name, at + :interval FROM clock
    ON CONFLICT (name) DO UPDATE SET free_at = greatest(known.free_at, (SELECT at FROM clock)) + :interval
    WHERE greatest(known.free_at, (SELECT at FROM clock)) + :interval - (SELECT at FROM clock) <= :window + :patience
    RETURNING free_at - :window - (SELECT at FROM clock)
"""
SWEPT = "DELETE FROM rate_turns_1 WHERE free_at < extract(epoch FROM clock_timestamp()) - :old"


class Rates:
    """Turns by name.

    Args:
        database: What processes share; None counts in this process alone.
    """

    def __init__(self, database: "Database | None") -> None:
        self._database = database if database is not None and database.shared else None
        self._own: OrderedDict[tuple[str, float, float], AsyncLimiter] = OrderedDict()
        self._made = False
        self._rest_until = 0.0

    async def turn(self, name: str, calls: float, seconds: float, *, patience: float = 60.0) -> bool:
        """Waits for a turn; False at once where it would not come within `patience` seconds.

        Args:
            name: What is asked: a host, an access to a provider.
            calls: So many turns, at least one after another, …
            seconds: … in so many seconds.
            patience: The longest wait.
        """
        if self._database is None or anyio.current_time() < self._rest_until:
            return await self._own_turn(name, calls, seconds, patience)
        try:
            wait = await self._shared_turn(self._database, name, calls, seconds, patience)
        except OutriderError as error:
            log.warning("rates are counted in this process only for now: %s", error)
            self._rest_until = anyio.current_time() + REST
            return await self._own_turn(name, calls, seconds, patience)
        if wait is None:
            return False
        await anyio.sleep(max(wait, 0.0))
        return True

    async def _shared_turn(
        self, database: "Database", name: str, calls: float, seconds: float, patience: float
    ) -> float | None:
        """Seconds until the turn; None if that would be too late."""
        interval = seconds / calls
        window = max(seconds, interval)  # a bucket of one period's worth, of one turn at least
        given = {"name": name[:200], "interval": interval, "window": window, "patience": patience}

        def take(connection: "Connection") -> float | None:
            if not self._made:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
                connection.execute(text(TABLE))
                connection.execute(text(SWEPT), {"old": OLD})
            return connection.execute(text(TURN), given).scalar()

        wait = await database.short(take, write=True)
        self._made = True
        return wait

    async def _own_turn(self, name: str, calls: float, seconds: float, patience: float) -> bool:
        with anyio.move_on_after(patience) as scope:
            await self._limiter(name, calls, seconds).acquire()
        return not scope.cancelled_caught

    def _limiter(self, name: str, calls: float, seconds: float) -> "AsyncLimiter":
        key = (name, calls, seconds)
        if key not in self._own:
            self._own[key] = AsyncLimiter(max(1.0, calls), max(1.0, calls) * seconds / calls)
        self._own.move_to_end(key)
        while len(self._own) > KNOWN:
            self._own.popitem(last=False)
        return self._own[key]
