"""Hand out the notices that wait, and record how sending them went."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.process_holder import build_holder, is_holder_dead
from outrider.watches.tables import watch_changes, watch_notices, watches
from outrider.watches.watch import Change, Watch
from outrider.watches.watch_rows import parse_change, parse_watch

NOTICE_LEASE_S = 120.0  # for which a notice belongs to the process that sends it
MAX_ATTEMPTS = 14


@dataclass(frozen=True)
class Notice:
    """A change that is to be told by the way of that name.

    Attributes:
        attempts: How often it was tried before.
    """

    name: str
    watch: Watch
    change: Change
    attempts: int

    @property
    def id(self) -> str:
        """Its id, the same at every attempt, by which a receiver knows one that came twice."""
        return f"{self.watch.id}-{self.change.number}-{self.name}"


class NoticeQueue:
    """The notices that wait in the database, each handed to one process at a time.

    Args:
        database: Holds them.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._holder = build_holder()

    async def claim_due(self, count: int) -> list[Notice]:
        """Claim up to `count` notices that are due."""
        now = self._clock()
        due = (
            select(watch_notices)
            .where(watch_notices.c.state == "waiting", watch_notices.c.next_at <= now)
            .order_by(watch_notices.c.next_at)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(due.limit(10 * count))).mappings().all()
        free = [row for row in rows if row["held_until"] <= now or is_holder_dead(row["holder"])]
        return [notice for row in free[:count] if (notice := await self._take_lease(row))]

    async def _take_lease(self, row: Any) -> Notice | None:

        own = self._build_update(row["watch"], row["number"], row["name"], row["holder"])
        own = own.where(watch_notices.c.attempts == row["attempts"])  # another process may have tried since
        changes = select(watch_changes).where(
            watch_changes.c.watch == row["watch"], watch_changes.c.number == row["number"]
        )
        async with self._database.write() as connection:
            claimed = await connection.execute(
                own.values(holder=self._holder, held_until=self._clock() + NOTICE_LEASE_S, attempts=row["attempts"] + 1)
            )
            watch = (await connection.execute(select(watches).where(watches.c.id == row["watch"]))).mappings().first()
            change = (await connection.execute(changes)).mappings().first()
        if not claimed.rowcount or watch is None or change is None:
            return None
        return Notice(row["name"], parse_watch(watch), parse_change(change), row["attempts"])

    async def record_sent(self, notice: Notice) -> None:
        """Delete a notice that has been sent."""
        own = (watch_notices.c.watch == notice.watch.id) & (watch_notices.c.number == notice.change.number)
        own &= (watch_notices.c.name == notice.name) & (watch_notices.c.holder == self._holder)
        async with self._database.write() as connection:
            await connection.execute(watch_notices.delete().where(own))

    async def record_failure(self, notice: Notice, problem: str, *, is_final: bool) -> None:
        """Let a notice wait for its next attempt, or give it up."""
        first_delay_s, max_delay_s = 30.0, 21_600.0
        delay_s = min(first_delay_s * 2**notice.attempts, max_delay_s)
        own = self._build_update(notice.watch.id, notice.change.number, notice.name, self._holder)
        is_over = is_final or notice.attempts + 1 >= MAX_ATTEMPTS
        values = {"state": "failed" if is_over else "waiting", "next_at": self._clock() + delay_s}
        values |= {"problem": to_storable_text(problem, 500), "holder": "", "held_until": 0.0}
        async with self._database.write() as connection:
            await connection.execute(own.values(values))

    @staticmethod
    def _build_update(watch: str, number: int, name: str, holder: str) -> Any:
        """Return the UPDATE of one notice that this holder has."""
        columns = watch_notices.c
        own = (columns.watch == watch) & (columns.number == number) & (columns.name == name)
        return watch_notices.update().where(own & (columns.holder == holder))
