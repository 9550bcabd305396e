"""Counters that replicas share: never more than a limit in all of them together, and seldom a query.

A replica takes a block from the database in one statement and then counts by itself. A block that it does not use up
before the window ends is lost, so somebody may get a little less than the limit, never more.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from sqlalchemy import Connection, func, select, update

from outrider.core.database.database import Database
from outrider.identity.tables import counters

PERMANENT_WINDOW = 2**31 - 1


@dataclass
class _CounterBlock:
    left: int = 0
    empty: bool = False


class QuotaCounters:
    """Counts in windows of time.

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
        """Counts one; False if the limit of the window that ends then is reached. Raises Unavailable."""
        block = self._blocks.get((name, ends)) or self._block(name, ends)
        if block.left == 0 and not block.empty:
            async with self._take_lock:
                if block.left == 0 and not block.empty:
                    block.left = await self._take_block(name, ends, limit)
                    block.empty = block.left == 0
        if block.left == 0:
            return False
        block.left -= 1
        return True

    async def reserve(self, name: str, limit: int, count_active: "Callable[[Connection], int]") -> bool:
        """Holds a place for something that is about to begin, if there are fewer than `limit`; `release` gives it back.

        Args:
            name: What is limited.
            limit: How many there may be.
            count_active: How many there are, in the transaction that it gets.
        """
        key, now = _hash_name(name), int(self._clock())
        return await self._database.run_transaction(
            lambda connection: self._insert_reservation(connection, key, now, limit, count_active), write=True
        )

    async def release(self, name: str) -> None:
        """Gives the oldest place back that is still held: what it was held for is counted as itself now."""
        key, now = _hash_name(name), int(self._clock())
        await self._database.run_transaction(lambda connection: _release_oldest(connection, key, now), write=True)

    def _block(self, name: str, ends: int) -> _CounterBlock:
        now = self._clock()
        self._blocks = {key: each for key, each in self._blocks.items() if key[1] > now}
        return self._blocks.setdefault((name, ends), _CounterBlock())

    async def _take_block(self, name: str, ends: int, limit: int) -> int:
        """How many of the limit are ours from now on: a block, or one of the last ones, or none."""
        max_block_size = 50  # and never more than this
        blocks_per_limit = 100  # a block is the hundredth part of a limit
        wanted = max(1, min(max_block_size, limit // blocks_per_limit))
        for count in dict.fromkeys((wanted, 1)):
            if await self._add_to_counter(name, ends, count, limit):
                return count
        return 0

    async def _add_to_counter(self, name: str, ends: int, count: int, limit: int) -> bool:
        insert = self._database.build_insert(counters).values(key=_hash_name(name), window=ends, used=count)
        insert = insert.on_conflict_do_update(
            index_elements=["key", "window"],
            set_={"used": counters.c.used + count},
            where=counters.c.used + count <= limit,
        ).returning(counters.c.used)
        return await self._database.run_transaction(
            lambda connection: connection.execute(insert).first() is not None, write=True
        )

    def _insert_reservation(
        self, connection: "Connection", key: str, now: int, limit: int, working: "Callable[[Connection], int]"
    ) -> bool:

        reservation_s = 60  # seconds for which a place is held for what is about to begin
        # Whoever comes at the same time waits at this row, and then sees what we have held.
        turn = self._database.build_insert(counters).values(key=key, window=PERMANENT_WINDOW, used=0)
        turn = turn.on_conflict_do_update(index_elements=["key", "window"], set_={"used": counters.c.used + 1})
        connection.execute(turn)
        held = select(func.coalesce(func.sum(counters.c.used), 0)).where(
            counters.c.key == key, counters.c.window > now, counters.c.window < PERMANENT_WINDOW
        )
        # First those that are about to begin: one that begins in between is counted twice, and never missed.
        if connection.execute(held).scalar_one() + working(connection) >= limit:
            return False
        place = self._database.build_insert(counters).values(key=key, window=now + reservation_s, used=1)
        connection.execute(
            place.on_conflict_do_update(index_elements=["key", "window"], set_={"used": counters.c.used + 1})
        )
        return True


def _release_oldest(connection: "Connection", key: str, now: int) -> None:

    mine = (counters.c.key == key, counters.c.window > now, counters.c.window < PERMANENT_WINDOW, counters.c.used > 0)
    oldest = select(counters.c.window).where(*mine).order_by(counters.c.window).limit(1).scalar_subquery()
    connection.execute(
        update(counters).where(counters.c.key == key, counters.c.window == oldest).values(used=counters.c.used - 1)
    )


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
