"""Claim watches that are due, and record each look in one transaction with its change and notices."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import Unavailable
from outrider.core.notices.notice_queue import WAITING
from outrider.core.process_holder import build_holder, is_holder_dead
from outrider.watches.tables import watch_changes, watch_notices, watches
from outrider.watches.watch import Change, ClaimedWatch, Reading, Watch
from outrider.watches.watch_rows import build_snapshot, parse_watch, read_snapshot


@dataclass(frozen=True)
class LookOutcome:
    """The outcome of a look.

    Attributes:
        next_at: When to look again.
        reading: What is seen from now on; None leaves the last snapshot.
        problem: Why the look failed; empty if it did not.
        change: The change to report, as the columns `kind`, `url`, `summary` and `difference`; None for nothing.
        notify: Names of the notices to send.
    """

    next_at: float
    reading: Reading | None = None
    problem: str = ""
    change: dict[str, str] | None = None
    notify: tuple[str, ...] = ()


class LookLedger:
    """Claims watches for this process and records its looks.

    Any number of processes may work on one database: a watch is looked at by one of them, and a process that dies loses
    nothing but the look that it was making, which another repeats.

    Args:
        database: Holds the watches.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._holder = build_holder()

    async def claim_due(self, count: int, busy_hosts: Collection[str]) -> list[ClaimedWatch]:
        """Claim up to `count` watches that are due, one for each host and none of a busy one."""
        batch_size, max_of_host = 50, 2  # so that a host with many watches hides no other
        now = self._clock()
        place = func.row_number().over(partition_by=watches.c.host, order_by=watches.c.next_at).label("place")
        columns = (watches.c[name] for name in ("id", "host", "holder", "held_until", "looks", "next_at"))
        is_due = (watches.c.state == "active") & (watches.c.next_at <= now) & watches.c.host.not_in(busy_hosts)
        oldest = select(*columns, place).where(is_due).subquery()
        due = select(oldest).where(oldest.c.place <= max_of_host).order_by(oldest.c.next_at).limit(batch_size)
        async with self._database.read() as connection:
            rows = (await connection.execute(due)).all()
        free = [row for row in rows if row.held_until <= now or is_holder_dead(row.holder)]
        by_host: dict[str, Any] = {}
        for row in free:
            by_host.setdefault(row.host, row)  # the one that is due longest
        return [each for row in list(by_host.values())[:count] if (each := await self._take_lease(row))]

    async def claim_watch(self, watch_id: str) -> ClaimedWatch:
        """Claim a watch, due or not. Raises Unavailable, code `look_running`, while a process looks at it."""
        columns = (watches.c.id, watches.c.holder, watches.c.held_until, watches.c.looks)
        query = select(*columns).where(watches.c.id == watch_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        is_free = row is not None and (row.held_until <= self._clock() or is_holder_dead(row.holder))
        claimed = await self._take_lease(row) if row is not None and is_free else None
        if claimed is None:
            raise Unavailable(
                f"{watch_id} is being checked right now",
                code="look_running",
                hint="call again in a moment",
                retry_after=5.0,
            )
        return claimed

    async def _take_lease(self, found_row: Any) -> ClaimedWatch | None:
        """Take the lease from the holder that was seen; None if another process was faster, or has looked since."""
        look_lease_s = 240.0  # for which a watch belongs to the process that looks at it
        is_free = (
            watches.update()
            .where(
                watches.c.id == found_row.id, watches.c.holder == found_row.holder, watches.c.looks == found_row.looks
            )
            .values(holder=self._holder, held_until=self._clock() + look_lease_s)
            .returning(*watches.c)
        )
        async with self._database.write() as connection:
            row = (await connection.execute(is_free)).mappings().first()
        return ClaimedWatch(parse_watch(row), read_snapshot(row["snapshot"])) if row else None

    async def release_watch(self, watch: Watch) -> None:
        """Give a watch back without a look."""
        is_own = (watches.c.id == watch.id) & (watches.c.holder == self._holder)
        async with self._database.write() as connection:
            await connection.execute(watches.update().where(is_own).values(holder="", held_until=0.0))

    async def record_look(self, watch: Watch, outcome: LookOutcome) -> Change | None:
        """Write a look with its change and its notices, and give the watch back.

        Nothing is written if the watch was removed or taken over in the meantime.
        """
        now = self._clock()
        values: dict[str, Any] = {"holder": "", "held_until": 0.0, "looked_at": now, "next_at": outcome.next_at}
        values |= {"problem": to_storable_text(outcome.problem, 1_000), "looks": watches.c.looks + 1}
        values["failures"] = watches.c.failures + 1 if outcome.problem else 0
        values |= build_snapshot(outcome.reading) if outcome.reading else {}
        if outcome.change:
            values |= {"changes": watches.c.changes + 1, "changed_at": now}
        is_own = (watches.c.id == watch.id) & (watches.c.holder == self._holder)
        recorded = watches.update().where(is_own).values(values).returning(watches.c.changes)
        async with self._database.write() as connection:
            number = (await connection.execute(recorded)).scalar()
            if number is None or outcome.change is None:
                return None
            return await self._add_change(connection, watch, number, outcome)

    async def _add_change(self, connection: AsyncConnection, watch: Watch, number: int, outcome: LookOutcome) -> Change:
        max_changes = 100  # of each watch; older ones are deleted
        now = self._clock()
        texts = {name: to_storable_text(text) for name, text in (outcome.change or {}).items()}
        change = Change(watch=watch.id, number=number, at=now, **texts)
        await connection.execute(watch_changes.insert().values(vars(change)))
        rows = [
            {**WAITING, "next_at": now} | {"watch": watch.id, "number": number, "name": name} for name in outcome.notify
        ]
        if rows:
            await connection.execute(watch_notices.insert(), rows)
        for table in (watch_notices, watch_changes):
            old = (table.c.watch == watch.id) & (table.c.number <= number - max_changes)
            await connection.execute(table.delete().where(old))
        return change

    async def find_next_due(self) -> float | None:
        """Return when the next watch is due, in seconds since the epoch; None if all are paused."""
        query = select(func.min(watches.c.next_at)).where(watches.c.state == "active")
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar()
