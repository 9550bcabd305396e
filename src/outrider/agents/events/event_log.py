"""The table of run events, shared by all processes."""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from outrider.agents.events.event import EventKind, RunEvent
from outrider.agents.run_status import RESTING_STATUSES
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

ResultT = TypeVar("ResultT")


class SequenceTakenError(Exception):
    """Another process has written an event with the same number."""


@dataclass(frozen=True)
class EventLogEnd:
    """The last event's number of a run, and whether the run has ended or is blocked."""

    last_seq: int
    at_rest: bool


class EventLog:
    """All events in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, run_id: str, after: int, limit: int = 500) -> list[RunEvent]:
        """Return the events after a number, in order."""
        parameters = {"run": run_id, "after": after, "limit": limit}

        def load_events(connection: "Connection") -> list[RunEvent]:
            return [RunEvent(**row) for row in connection.execute(_build_read_query(), parameters).mappings()]

        return await self._database.run_transaction(load_events, write=False)

    async def find_last_seq(self, run_id: str) -> int:
        """Return the number of the newest event, or 0 if there is none."""

        def load_last_seq(connection: "Connection") -> int:
            return connection.execute(_build_last_seq_query(), {"run": run_id}).scalar_one()

        return await self._database.run_transaction(load_last_seq, write=False)

    async def find_ends(self, run_ids: Collection[str]) -> dict[str, EventLogEnd]:
        """Return the end of the log for each run, with one query."""

        def load_ends(connection: "Connection") -> dict[str, EventLogEnd]:
            rows = connection.execute(_build_ends_query(), {"ids": list(run_ids)})
            return {run_id: EventLogEnd(last_seq or 0, status in RESTING_STATUSES) for run_id, status, last_seq in rows}

        return await self._database.run_transaction(load_ends, write=False)

    async def append_events(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> list[RunEvent]:
        """Append events of a run that may belong to another process. Raises Unavailable."""
        max_tries = 10  # the run's worker may write at the same time, at most fifty times per second
        now = time.time()

        def number_and_insert(connection: "Connection") -> list[RunEvent]:
            connection.execute(_build_lock_query(), {"run": run_id})
            last_seq = connection.execute(_build_last_seq_query(), {"run": run_id}).scalar_one()
            numbered = [RunEvent(run_id, seq, now, *event) for seq, event in enumerate(events, last_seq + 1)]
            _insert_events(connection, numbered)
            return numbered

        for _ in range(max_tries):
            # The worker assigns numbers without this lock, so it may have taken ours.
            with suppress(SequenceTakenError):
                return await self._execute_write(number_and_insert)
        raise Unavailable("other processes keep writing to this run's log", retry_after=1.0)

    async def save_events(self, events: Sequence[RunEvent]) -> None:
        """Save numbered events of many runs in one transaction. Raises SequenceTakenError and Unavailable."""
        await self._execute_write(lambda connection: _insert_events(connection, events))

    async def _execute_write(self, write: "Callable[[Connection], ResultT]") -> ResultT:
        """Run a write transaction. Raises SequenceTakenError and Unavailable."""
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
    """Lock the run's row, so that processes append one after another; inserts into other tables need not wait."""
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import runs

    return select(runs.c.id).where(runs.c.id == bindparam("run")).with_for_update(key_share=True)


@cache
def _build_read_query() -> "Select[Any]":
    from sqlalchemy import bindparam, select

    from outrider.agents.tables import run_events as table

    is_later = table.c.run_id == bindparam("run"), table.c.seq > bindparam("after")
    return select(table).where(*is_later).order_by(table.c.seq).limit(bindparam("limit"))


@cache
def _build_last_seq_query() -> "Select[Any]":
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table

    return select(func.coalesce(func.max(table.c.seq), 0)).where(table.c.run_id == bindparam("run"))


@cache
def _build_ends_query() -> "Select[Any, Any, Any]":
    """Select status and last number of runs; a subquery per run needs one index lookup, while grouping scans it."""
    from sqlalchemy import bindparam, func, select

    from outrider.agents.tables import run_events as table
    from outrider.agents.tables import runs

    last = select(func.max(table.c.seq)).where(table.c.run_id == runs.c.id).scalar_subquery()
    return select(runs.c.id, runs.c.status, last).where(runs.c.id.in_(bindparam("ids", expanding=True)))
