"""The table of events: read from any process, written for all runs of one process in the same transaction."""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from outrider.agents.events.event import EventKind, RunEvent
from outrider.agents.run import RESTING_STATUSES
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

T = TypeVar("T")
READ_BATCH_EVENTS = 500


class SequenceTakenError(Exception):
    """Another process has written an event of that number."""


@dataclass(frozen=True)
class EventLogEnd:
    """Where a run's events end: the last one's number, and whether nothing happens until somebody acts."""

    last_seq: int
    at_rest: bool


class EventLog:
    """All events in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, run_id: str, after: int, limit: int = READ_BATCH_EVENTS) -> list[RunEvent]:
        """The events that came after, in order."""
        given = {"run": run_id, "after": after, "limit": limit}

        def load_events(connection: "Connection") -> list[RunEvent]:
            return [RunEvent(**row) for row in connection.execute(_build_read_query(), given).mappings()]

        return await self._database.run_transaction(load_events, write=False)

    async def find_last_seq(self, run_id: str) -> int:
        """The number of the newest event, 0 if there is none."""

        def load_last_seq(connection: "Connection") -> int:
            return connection.execute(_build_last_seq_query(), {"run": run_id}).scalar_one()

        return await self._database.run_transaction(load_last_seq, write=False)

    async def find_ends(self, run_ids: Collection[str]) -> dict[str, EventLogEnd]:
        """Where the events of these runs end, in one query."""
        given = {"ids": list(run_ids)}

        def load_ends(connection: "Connection") -> dict[str, EventLogEnd]:
            return {
                row[0]: EventLogEnd(row[2] or 0, row[1] in RESTING_STATUSES)
                for row in connection.execute(_build_ends_query(), given)
            }

        return await self._database.run_transaction(load_ends, write=False)

    async def append_events(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> list[RunEvent]:
        """Writes events behind those that are there, whoever wrote them. Raises Unavailable."""
        max_tries = (
            10  # to write behind what others write at the same time; a worker does so fifty times a second at most
        )
        now = time.time()

        def number_and_insert(connection: "Connection") -> list[RunEvent]:
            connection.execute(_build_lock_query(), {"run": run_id})
            start = connection.execute(_build_last_seq_query(), {"run": run_id}).scalar_one()
            numbered = [RunEvent(run_id, start + count, now, *event) for count, event in enumerate(events, 1)]
            _insert_events(connection, numbered)
            return numbered

        for _ in range(max_tries):
            with suppress(
                SequenceTakenError
            ):  # the worker, who numbers by itself, wrote between the look and the insertion
                return await self._execute_write(number_and_insert)
        raise Unavailable("other processes write events of this run without a pause", retry_after=1.0)

    async def save_events(self, events: Sequence[RunEvent]) -> None:
        """Writes events of many runs, all or none. Raises TakenError and Unavailable."""
        await self._execute_write(lambda connection: _insert_events(connection, events))

    async def _execute_write(self, write: "Callable[[Connection], T]") -> T:
        """Raises TakenError and Unavailable."""
        from sqlalchemy.exc import IntegrityError

        try:
            return await self._database.run_transaction(write, write=True)
        except Unavailable as error:
            if isinstance(error.__cause__, IntegrityError):
                raise SequenceTakenError from error
            raise


def _insert_events(connection: "Connection", events: Sequence[RunEvent]) -> None:
    from outrider.agents.events.notifier import notify_events
    from outrider.agents.tables import run_events as table

    connection.execute(table.insert(), [asdict(event) for event in events])
    notify_events(connection, events)


@cache
def _build_lock_query() -> "Select[Any]":
    """One after another, of those who write behind others; foreign keys need not wait."""
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import runs

    return select(runs.c.id).where(runs.c.id == bindparam("run")).with_for_update(key_share=True)


@cache
def _build_read_query() -> "Select[Any]":
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import run_events as table

    wanted = table.c.run_id == bindparam("run"), table.c.seq > bindparam("after")
    return select(table).where(*wanted).order_by(table.c.seq).limit(bindparam("limit"))


@cache
def _build_last_seq_query() -> "Select[Any]":
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table

    return select(func.coalesce(func.max(table.c.seq), 0)).where(table.c.run_id == bindparam("run"))


@cache
def _build_ends_query() -> "Select[Any, Any, Any]":
    """The greatest number of each run by a query of its own: one look into the index, where grouping reads it all."""
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table
    from outrider.agents.tables import runs

    last = select(func.max(table.c.seq)).where(table.c.run_id == runs.c.id).scalar_subquery()
    return select(runs.c.id, runs.c.status, last).where(runs.c.id.in_(bindparam("ids", expanding=True)))
