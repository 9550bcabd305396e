"""Hand out waiting notices, and record how sending them ended.

It loads SQLAlchemy.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Table, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.database.database import Database, to_storable_text
from outrider.core.notices.notifier import Notice
from outrider.core.process_holder import build_holder, is_holder_dead

MAX_ATTEMPTS = 14
# The columns of a new notice, which its table has besides its key.
WAITING: Mapping[str, Any] = {
    "state": "waiting",
    "attempts": 0,
    "next_at": 0.0,
    "problem": "",
    "holder": "",
    "held_until": 0.0,
}


@dataclass(frozen=True)
class ClaimedNotice:
    """A notice that this process sends.

    Attributes:
        attempts: The number of earlier attempts.
        key: The columns that name its row.
    """

    notice: Notice
    attempts: int
    key: Mapping[str, Any] = field(repr=False)


class NoticeQueue:
    """The waiting notices of a table, each handed to one process at a time.

    Args:
        database: Holds the notices.
        table: Has the columns of `WAITING` besides its key.
        load_notice: Returns the notice of a row, or None if its subject is gone.
        clock: The time in seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        table: Table,
        load_notice: Callable[[AsyncConnection, Any], Awaitable[Notice | None]],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._table = table
        self._load_notice = load_notice
        self._clock = clock
        self._holder = build_holder()

    async def claim_due(self, count: int) -> list[ClaimedNotice]:
        """Claim up to `count` notices that are due."""
        notice_lease_s = 120.0  # how long a notice belongs to the process that sends it
        now, columns = self._clock(), self._table.c
        due = select(self._table).where(columns.state == "waiting", columns.next_at <= now).order_by(columns.next_at)
        async with self._database.read() as connection:
            rows = (await connection.execute(due.limit(10 * count))).mappings().all()
        free = [row for row in rows if row["held_until"] <= now or is_holder_dead(row["holder"])]
        claimed: list[ClaimedNotice] = []
        for row in free[:count]:
            key = {column.name: row[column.name] for column in self._table.primary_key}
            # Another process may have tried since.
            own = self._build_own_filter(key, row["holder"]) & (columns.attempts == row["attempts"])
            attempts = row["attempts"] + 1
            lease = {"holder": self._holder, "held_until": self._clock() + notice_lease_s, "attempts": attempts}
            async with self._database.write() as connection:
                updated = await connection.execute(self._table.update().where(own).values(lease))
                notice = await self._load_notice(connection, row)
            claimed += [ClaimedNotice(notice, row["attempts"], key)] if updated.rowcount and notice else []
        return claimed

    async def record_sent(self, claimed: ClaimedNotice) -> None:
        """Delete a notice that has been sent."""
        async with self._database.write() as connection:
            own = self._build_own_filter(claimed.key, self._holder)
            await connection.execute(self._table.delete().where(own))

    async def record_failure(self, claimed: ClaimedNotice, problem: str, *, is_final: bool) -> None:
        """Schedule a notice's next attempt, or give it up."""
        first_delay_s, max_delay_s = 30.0, 21_600.0
        delay_s = min(first_delay_s * 2**claimed.attempts, max_delay_s)
        is_over = is_final or claimed.attempts + 1 >= MAX_ATTEMPTS
        values = {"state": "failed" if is_over else "waiting", "next_at": self._clock() + delay_s}
        values |= {"problem": to_storable_text(problem, 500), "holder": "", "held_until": 0.0}
        own = self._build_own_filter(claimed.key, self._holder)
        async with self._database.write() as connection:
            await connection.execute(self._table.update().where(own).values(values))

    def _build_own_filter(self, key: Mapping[str, Any], holder: str) -> Any:
        """Return the condition for a notice that this holder has claimed."""
        columns = self._table.c
        return and_(columns.holder == holder, *(columns[name] == value for name, value in key.items()))
