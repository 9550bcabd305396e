"""Which waiting run begins next, and where: fair between users, within limits that hold over all processes.

A run that waits is a row nobody works on; each process that has room takes rows for itself, in one transaction at a
time for all of them. Of several users the one with the fewest runs at work goes first, then the one who has waited
longest for a turn, so that a thousand runs of one user do not keep another's first one waiting.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, text, update

from outrider.agents.run import ACTIVE_STATUSES, ActiveRun
from outrider.agents.settings import RunLimits
from outrider.agents.tables import run_turns, runs
from outrider.core.database.database import Database


@dataclass(frozen=True)
class QueuedRun:
    """A run that waits for its turn."""

    id: str
    attempt: int
    user: str
    agent: str
    model: str
    created_at: float


class RunQueue:
    """The runs that wait for a process to work on them.

    Args:
        database: Holds them.
        limits: How many may be at work at the same time, over all processes.
    """

    def __init__(self, database: Database, limits: RunLimits) -> None:
        self._database = database
        self._limits = limits

    async def take_runs(self, worker: str, limit: int) -> list[ActiveRun]:
        """Up to so many runs that this process shall begin now; from then on they are its own.

        Args:
            worker: By which name it is known to the others.
            limit: For how many it has room.
        """
        if limit < 1 or not await self.has_waiting():
            return []
        now = self._database.now()

        def claim_runs(connection: "Connection") -> list[ActiveRun]:
            _lock_queue(connection)
            chosen = self._chosen(connection, limit)
            for each in chosen:
                self._assign_run(connection, each, worker, now)
            return [ActiveRun(each.id, each.attempt, worker, None, now) for each in chosen]

        return await self._database.run_transaction(claim_runs, write=True)

    async def has_waiting(self, before: float | None = None) -> bool:
        """Whether a run waits for its turn; with `before`, since that time (seconds since the epoch)."""
        query = _build_any_waiting_query()
        if before is not None:
            from outrider.agents.tables import runs

            query = query.where(runs.c.updated_at < before)
        return await self._database.run_transaction(
            lambda connection: connection.execute(query).first() is not None, write=False
        )

    def _chosen(self, connection: "Connection", places: int) -> list[QueuedRun]:
        max_rows_per_user = (
            100  # rows of one user that are looked at: behind those that a limit keeps back there may be others
        )
        at_work = [QueuedRun(**row) for row in connection.execute(_build_active_query()).mappings()]
        waiting = [
            QueuedRun(**row)
            for row in connection.execute(_build_waiting_query(), {"each": max_rows_per_user}).mappings()
        ]
        served: dict[str, float] = {row[0]: row[1] for row in connection.execute(_build_turns_query())}
        return select_runs(waiting, at_work, served, self._limits, places)

    def _assign_run(self, connection: "Connection", run: QueuedRun, worker: str, now: float) -> None:

        connection.execute(update(runs).where(runs.c.id == run.id).values(executor=worker, updated_at=now))
        turn = {"user": run.user, "served_at": now}
        connection.execute(self._database.build_upsert(run_turns, turn, key="user"))


def select_runs(
    waiting: Sequence[QueuedRun],
    at_work: Sequence[QueuedRun],
    served: dict[str, float],
    limits: RunLimits,
    limit: int,
) -> list[QueuedRun]:
    """Those whose turn it is, in order.

    Args:
        waiting: All that wait.
        at_work: All that somebody works on.
        served: By user when one of their runs was last begun.
        limits: What keeps runs back.
        limit: At most so many.
    """
    count = _ActiveCounts(limits)
    for run in at_work:
        count.add(run)
    turns, left, found = dict(served), sorted(waiting, key=lambda run: (run.created_at, run.id)), []
    while len(found) < limit:
        able = [run for run in left if count.can_start(run)]
        if not able:
            break
        first = min(able, key=lambda run: (count.users[run.user], turns.get(run.user, 0.0), run.created_at, run.id))
        left.remove(first)
        count.add(first)
        turns[first.user] = max(turns.values(), default=0.0) + 1.0
        found.append(first)
    return found


class _ActiveCounts:
    """How many are at work, by what is limited."""

    def __init__(self, limits: RunLimits) -> None:
        self.users: Counter[str] = Counter()
        self._agents: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        self._limits = limits

    def add(self, run: QueuedRun) -> None:
        self.users[run.user] += 1
        self._agents[run.agent] += 1
        self._models.update(_list_limit_names(run.model))

    def can_start(self, run: QueuedRun) -> bool:
        if self._limits.user and self.users[run.user] >= self._limits.user:
            return False
        if self._agents[run.agent] >= self._limits.agents.get(run.agent, self._agents[run.agent] + 1):
            return False
        bounds = self._limits.models
        return all(self._models[name] < bounds[name] for name in _list_limit_names(run.model) if name in bounds)


def _list_limit_names(model: str) -> tuple[str, ...]:
    """What a limit may call `provider:model`: its provider, or the whole."""
    provider = model.partition(":")[0]
    return (provider, model) if provider and provider != model else (model,)


def _lock_queue(connection: "Connection") -> None:
    """One process at a time gives places away, and one that is silent meanwhile loses that right to the others.

    SQLite's writers are alone anyway.
    """
    idle_timeout = (
        "3s"  # after which Postgres ends the transaction of a process that gives places away: its cable is pulled
    )
    lock_id = 0x6F75_7471  # of Postgres' advisory locks: whoever gives places away
    if connection.dialect.name == "postgresql":
        silence = "set_config('idle_in_transaction_session_timeout', :silence, true)"
        query = text(f"SELECT {silence}, pg_advisory_xact_lock(:lock)")
        connection.execute(query, {"lock": lock_id, "silence": idle_timeout})


def _build_user_column() -> "ColumnElement[str]":
    """Whose run it is: of the person, or of the conversation where nobody said who it is."""
    named = func.coalesce(runs.c.identity, "") != ""
    return case((named, "person " + runs.c.identity), else_="session " + runs.c.session)


def _build_outermost_filter() -> "tuple[ColumnElement[bool], ...]":
    """Runs below another need no turn: the one above holds a place for them all."""
    return (runs.c.parent_run_id.is_(None),)


def _build_waiting_filter() -> "tuple[ColumnElement[bool], ...]":
    return (*_build_outermost_filter(), runs.c.status == "queued", runs.c.executor.is_(None))


def _build_columns() -> list[Any]:

    model = func.coalesce(runs.c.model, "").label("model")
    return [runs.c.id, runs.c.attempt, _build_user_column().label("user"), runs.c.agent, model, runs.c.created_at]


@lru_cache
def _build_any_waiting_query() -> "Select[Any]":

    return select(runs.c.id).where(*_build_waiting_filter()).limit(1)


@lru_cache
def _build_waiting_query() -> "Select[Any]":

    order = (runs.c.created_at, runs.c.id)
    place = func.row_number().over(partition_by=_build_user_column(), order_by=order).label("place")
    ranked = select(*_build_columns(), place).where(*_build_waiting_filter()).subquery()
    names = [ranked.c[each.name] for each in _build_columns()]
    return select(*names).where(ranked.c.place <= bindparam("each"))


@lru_cache
def _build_active_query() -> "Select[Any]":

    return select(*_build_columns()).where(
        *_build_outermost_filter(), runs.c.status.in_(ACTIVE_STATUSES), runs.c.executor.is_not(None)
    )


@lru_cache
def _build_turns_query() -> "Select[Any, Any]":

    return select(run_turns.c.user, run_turns.c.served_at)
