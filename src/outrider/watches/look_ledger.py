"""Claim watches that are due, and record their checks.

One transaction records a check with its change and notices.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import Unavailable
from outrider.core.notices.notice_queue import WAITING
from outrider.core.process_holder import build_holder, is_holder_dead
from outrider.watches.host_state import MIN_PAUSE_S, HostState
from outrider.watches.tables import watch_changes, watch_hosts, watch_notices, watches
from outrider.watches.watch import Change, ClaimedWatch, Reading, Watch
from outrider.watches.watch_rows import build_snapshot, parse_watch, read_snapshot


@dataclass(frozen=True)
class LookOutcome:
    """The outcome of a look.

    Attributes:
        next_at: When to look again.
        host: The new state of the host.
        reading: The new snapshot; None keeps the last one.
        problem: Why the look failed; empty if it did not.
        change: The change to report, as the columns `kind`, `url`, `summary` and `difference`; None for nothing.
        notify: Names of the notices to send.
    """

    next_at: float
    host: HostState
    reading: Reading | None = None
    problem: str = ""
    change: dict[str, str] | None = None
    notify: tuple[str, ...] = ()


class LookLedger:
    """Claims watches for this process and records its looks.

    Several processes may work on one database: one of them looks at a watch, and if a process dies, another repeats the
    look that it was making.

    Args:
        database: Holds the watches.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._holder = build_holder()

    async def claim_due(self, count: int, busy_hosts: Collection[str]) -> list[ClaimedWatch]:
        """Claim up to `count` due watches, one per host.

        Hosts that are busy or resting get none.
        """
        claimed: list[ClaimedWatch] = []
        tried_hosts = set(busy_hosts)
        while len(claimed) < count and (due := await self._list_longest_due(tried_hosts)):
            for row in due[: count - len(claimed)]:
                tried_hosts.add(row.host)
                is_free = row.held_until <= self._clock() or is_holder_dead(row.holder)
                taken = await self._take_lease(row, needs_free_host=True) if is_free else None
                claimed += [taken] if taken else []
        return claimed

    async def _list_longest_due(self, tried_hosts: Collection[str]) -> list[Any]:
        """Return the longest due row of each host, for some of the free hosts."""
        batch_size = 50  # rows in index order; a window function over all due rows takes ten times as long
        now = self._clock()
        columns = (watches.c[name] for name in ("id", "host", "holder", "held_until", "looks", "next_at"))
        resting = select(watch_hosts.c.host).where(watch_hosts.c.free_at > now)
        is_free = watches.c.host.not_in(tried_hosts) & watches.c.host.not_in(resting)
        is_due = (watches.c.state == "active") & (watches.c.next_at <= now)
        query = select(*columns).where(is_due, is_free).order_by(watches.c.next_at).limit(batch_size)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        by_host: dict[str, Any] = {}
        for row in rows:
            by_host.setdefault(row.host, row)
        return list(by_host.values())

    async def claim_watch(self, watch_id: str) -> ClaimedWatch:
        """Claim a watch, due or not. Raises Unavailable, code `look_running`, while another process looks at it."""
        columns = (watches.c[name] for name in ("id", "host", "holder", "held_until", "looks"))
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

    async def _take_lease(self, found_row: Any, *, needs_free_host: bool = False) -> ClaimedWatch | None:
        """Take the lease if its holder is still the one in `row`; None if another process was faster."""
        look_lease_s = 240.0  # how long a watch belongs to the process that looks at it
        is_free = (
            watches.update()
            .where(
                watches.c.id == found_row.id, watches.c.holder == found_row.holder, watches.c.looks == found_row.looks
            )
            .values(holder=self._holder, held_until=self._clock() + look_lease_s)
            .returning(*watches.c)
        )
        async with self._database.write() as connection:
            host = await self._reserve_host(connection, found_row.host)
            if needs_free_host and host.free_at > self._clock():
                return None
            row = (await connection.execute(is_free)).mappings().first()
        return ClaimedWatch(parse_watch(row), read_snapshot(row["snapshot"]), host) if row else None

    async def _reserve_host(self, connection: AsyncConnection, host: str) -> HostState:
        """Return the state of a host; if it is free, reserve it for a moment."""
        insert = self._database.build_insert(watch_hosts).values(vars(HostState(host)))
        locked = insert.on_conflict_do_update(index_elements=["host"], set_={"host": host}).returning(*watch_hosts.c)
        state = HostState(**(await connection.execute(locked)).mappings().one())
        reserved_until = max(state.free_at, self._clock() + MIN_PAUSE_S)
        is_host = watch_hosts.c.host == host
        await connection.execute(watch_hosts.update().where(is_host).values(free_at=reserved_until))
        return state

    async def release_watch(self, watch: Watch) -> None:
        """Release a watch without a look."""
        is_own = (watches.c.id == watch.id) & (watches.c.holder == self._holder)
        async with self._database.write() as connection:
            await connection.execute(watches.update().where(is_own).values(holder="", held_until=0.0))

    async def record_look(self, watch: Watch, outcome: LookOutcome) -> Change | None:
        """Store a look with its change and its notices, and release the watch.

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
        host_row = vars(outcome.host) | {"problem": to_storable_text(outcome.host.problem, 1_000)}
        async with self._database.write() as connection:
            await connection.execute(self._database.build_upsert(watch_hosts, host_row, key="host"))
            number = (await connection.execute(recorded)).scalar()
            if number is None or outcome.change is None:
                return None
            return await self._add_change(connection, watch, number, outcome)

    async def _add_change(self, connection: AsyncConnection, watch: Watch, number: int, outcome: LookOutcome) -> Change:
        max_changes = 100  # per watch; older ones are deleted
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

    async def find_pause_end(self) -> float | None:
        """Return when the first pausing host with due watches is free again; None if no host is only pausing."""
        now = self._clock()
        is_due = (watches.c.state == "active") & (watches.c.next_at <= now)
        is_pausing = (watch_hosts.c.free_at > now) & (watch_hosts.c.failures == 0)
        query = select(func.min(watch_hosts.c.free_at)).join(watches, watches.c.host == watch_hosts.c.host)
        async with self._database.read() as connection:
            return (await connection.execute(query.where(is_due, is_pausing))).scalar()

    async def find_next_due(self) -> float | None:
        """Return when the next watch is due, in seconds since the epoch; None if all are paused."""
        query = select(func.min(watches.c.next_at)).where(watches.c.state == "active")
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar()
