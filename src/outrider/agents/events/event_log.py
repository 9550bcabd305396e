"""The table of events: read from any process, written for all runs of one process in the same transaction."""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from outrider.agents.events.event import EventKind, RunEvent
from outrider.agents.run import RESTING
from outrider.core.db import Database
from outrider.core.errors import Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

T = TypeVar("T")
READ_AT_ONCE = 500
TRIES = 10  # to write behind what others write at the same time; a worker does so fifty times a second at most


class TakenError(Exception):
    """Another process has written an event of that number."""


@dataclass(frozen=True)
class End:
    """Where a run's events end: the last one's number, and whether nothing happens until somebody acts."""

    last: int
    rests: bool


class EventLog:
    """All events in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, run_id: str, after: int, limit: int = READ_AT_ONCE) -> list[RunEvent]:
        """The events that came after, in order."""
        given = {"run": run_id, "after": after, "limit": limit}

        def found(connection: "Connection") -> list[RunEvent]:
            return [RunEvent(**row) for row in connection.execute(_after(), given).mappings()]

        return await self._database.short(found, write=False)

    async def last(self, run_id: str) -> int:
        """The number of the newest event, 0 if there is none."""

        def found(connection: "Connection") -> int:
            return connection.execute(_last(), {"run": run_id}).scalar_one()

        return await self._database.short(found, write=False)

    async def ends(self, run_ids: Collection[str]) -> dict[str, End]:
        """Where the events of these runs end, in one query."""
        given = {"ids": list(run_ids)}

        def found(connection: "Connection") -> dict[str, End]:
            return {row[0]: End(row[2] or 0, row[1] in RESTING) for row in connection.execute(_ends(), given)}

        return await self._database.short(found, write=False)

    async def add(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> list[RunEvent]:
        """Writes events behind those that are there, whoever wrote them. Raises Unavailable."""
        now = time.time()

        def added(connection: "Connection") -> list[RunEvent]:
            connection.execute(_alone(), {"run": run_id})
            start = connection.execute(_last(), {"run": run_id}).scalar_one()
            numbered = [RunEvent(run_id, start + count, now, *event) for count, event in enumerate(events, 1)]
            _insert(connection, numbered)
            return numbered

        for _ in range(TRIES):
            with suppress(TakenError):  # the worker, who numbers by itself, wrote between the look and the insertion
                return await self._written(added)
        raise Unavailable("other processes write events of this run without a pause", retry_after=1.0)

    async def save(self, events: Sequence[RunEvent]) -> None:
        """Writes events of many runs, all or none. Raises TakenError and Unavailable."""
        await self._written(lambda connection: _insert(connection, events))

    async def _written(self, write: "Callable[[Connection], T]") -> T:
        """Raises TakenError and Unavailable."""
        from sqlalchemy.exc import IntegrityError

        try:
            return await self._database.short(write, write=True)
        except Unavailable as error:
            if isinstance(error.__cause__, IntegrityError):
                raise TakenError from error
            raise


def _insert(connection: "Connection", events: Sequence[RunEvent]) -> None:
    from outrider.agents.events.bell import ring_with
    from outrider.agents.tables import run_events as table

    connection.execute(table.insert(), [asdict(event) for event in events])
    ring_with(connection, events)


@cache
def _alone() -> "Select[Any]":
    """One after another, of those who write behind others; foreign keys need not wait."""
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import runs

    return select(runs.c.id).where(runs.c.id == bindparam("run")).with_for_update(key_share=True)


@cache
def _after() -> "Select[Any]":
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import run_events as table

    wanted = table.c.run_id == bindparam("run"), table.c.seq > bindparam("after")
    return select(table).where(*wanted).order_by(table.c.seq).limit(bindparam("limit"))


@cache
def _last() -> "Select[Any]":
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table

    return select(func.coalesce(func.max(table.c.seq), 0)).where(table.c.run_id == bindparam("run"))


@cache
def _ends() -> "Select[Any, Any, Any]":
    """The greatest number of each run by a query of its own: one look into the index, where grouping reads it all."""
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table
    from outrider.agents.tables import runs

    last = select(func.max(table.c.seq)).where(table.c.run_id == runs.c.id).scalar_subquery()
    return select(runs.c.id, runs.c.status, last).where(runs.c.id.in_(bindparam("ids", expanding=True)))
