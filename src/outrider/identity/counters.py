"""Counters that all replicas share, with few queries.

A replica takes a block of the limit from the database in one statement and then counts in memory. A block that is not
used up before its time window ends is lost, so a caller may get a little less than the limit, but never more.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from sqlalchemy import Connection, func, select, update

from outrider.core.database.database import Database
from outrider.identity.tables import counters

PERMANENT_WINDOW = 2**31 - 1  # the window of rows that only serve as locks


@dataclass
class _CounterBlock:
    """The unused part of a block; `is_exhausted` means that the database has no more."""

    remaining: int = 0
    is_exhausted: bool = False


class QuotaCounters:
    """Counts in time windows.

    Args:
        database: Shared by all replicas.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._blocks: dict[tuple[str, int], _CounterBlock] = {}
        self._take_lock = anyio.Lock()

    async def count_one(self, name: str, ends: int, limit: int) -> bool:
        """Count one; return False if the limit of the window is reached. Raises Unavailable.

        Args:
            name: The counter.
            ends: When the window ends, in seconds since the epoch.
            limit: The limit of the window.
        """
        block = self._blocks.get((name, ends))
        if block is None:
            now = self._clock()
            self._blocks = {key: block for key, block in self._blocks.items() if key[1] > now}
            block = self._blocks.setdefault((name, ends), _CounterBlock())
        if block.remaining == 0 and not block.is_exhausted:
            async with self._take_lock:
                if block.remaining == 0 and not block.is_exhausted:
                    block.remaining = await self._take_block(name, ends, limit)
                    block.is_exhausted = block.remaining == 0
        if block.remaining == 0:
            return False
        block.remaining -= 1
        return True

    async def reserve(self, name: str, limit: int, count_active: Callable[[Connection], int]) -> bool:
        """Reserve a slot for something that is about to start; return False if `limit` slots are in use.

        A reservation ends with `release`, or after a minute.

        Args:
            name: The limited quantity.
            limit: How many may be active at the same time.
            count_active: Returns how many are active, in the given transaction.
        """
        key, now = _hash_name(name), int(self._clock())
        return await self._database.run_transaction(
            lambda connection: self._insert_reservation(connection, key, now, limit, count_active), write=True
        )

    async def release(self, name: str) -> None:
        """Release the oldest reservation.

        What it was made for has started and is counted as active.
        """
        key, now = _hash_name(name), int(self._clock())
        is_reserved = (counters.c.key == key, counters.c.window > now, counters.c.window < PERMANENT_WINDOW)
        oldest = (
            select(counters.c.window)
            .where(*is_reserved, counters.c.used > 0)
            .order_by(counters.c.window)
            .limit(1)
            .scalar_subquery()
        )
        query = update(counters).where(counters.c.key == key, counters.c.window == oldest)
        query = query.values(used=counters.c.used - 1)
        await self._database.run_transaction(lambda connection: connection.execute(query).rowcount, write=True)

    async def _take_block(self, name: str, ends: int, limit: int) -> int:
        """Take a block of the limit, or a single one of the last; return its size, 0 if nothing is left."""
        max_block_size = 50
        blocks_per_limit = 100
        block_size = max(1, min(max_block_size, limit // blocks_per_limit))
        for count in dict.fromkeys((block_size, 1)):
            insert = self._database.build_insert(counters).values(key=_hash_name(name), window=ends, used=count)
            insert = insert.on_conflict_do_update(
                index_elements=["key", "window"],
                set_={"used": counters.c.used + count},
                where=counters.c.used + count <= limit,
            ).returning(counters.c.used)
            row = await self._database.run_transaction(
                lambda connection, query=insert: connection.execute(query).first(), write=True
            )
            if row is not None:
                return count
        return 0

    def _insert_reservation(
        self, connection: Connection, key: str, now: int, limit: int, count_active: Callable[[Connection], int]
    ) -> bool:
        reservation_s = 60

        def increment_window(window: int, first_value: int) -> None:
            insert = self._database.build_insert(counters).values(key=key, window=window, used=first_value)
            connection.execute(
                insert.on_conflict_do_update(index_elements=["key", "window"], set_={"used": counters.c.used + 1})
            )

        # Concurrent callers wait for the lock on this row, and then see our reservation.
        increment_window(PERMANENT_WINDOW, 0)
        reserved = select(func.coalesce(func.sum(counters.c.used), 0)).where(
            counters.c.key == key, counters.c.window > now, counters.c.window < PERMANENT_WINDOW
        )
        # Count reservations first: something that starts in between is then counted twice, but never missed.
        if connection.execute(reserved).scalar_one() + count_active(connection) >= limit:
            return False
        increment_window(now + reservation_s, 1)
        return True


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
