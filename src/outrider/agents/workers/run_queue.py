"""Queue runs fairly between users, within limits across all processes.

A queued run is a row without an executor. Each process with free capacity assigns rows to itself, one process at a
time. The user with the fewest active runs goes first, then the user who has waited longest for a turn, so that a
thousand runs of one user do not delay the first run of another.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, text, update

from outrider.agents.run import ActiveRun
from outrider.agents.run_status import ACTIVE_STATUSES
from outrider.agents.settings import RunLimits
from outrider.agents.tables import run_turns, runs
from outrider.core.database.database import Database


@dataclass(frozen=True)
class QueuedRun:
    """A queued or active run, with the fields that limits refer to."""

    id: str
    attempt: int
    user: str
    agent: str
    model: str
    created_at: float


class RunQueue:
    """The runs that wait for a worker.

    Args:
        database: Holds the runs.
        limits: How many runs may be active at the same time, over all processes.
    """

    def __init__(self, database: Database, limits: RunLimits) -> None:
        self._database = database
        self._limits = limits

    async def take_runs(self, worker: str, limit: int) -> list[ActiveRun]:
        """Assign queued runs to a worker and return them.

        Args:
            worker: The worker's name.
            limit: The maximum number of runs.
        """
        if limit < 1 or not await self.has_waiting():
            return []
        now = self._database.now()

        def claim_runs(connection: "Connection") -> list[ActiveRun]:
            # One process at a time assigns runs; SQLite has only one writer anyway.
            lock_id = 0x6F75_7471  # any number that is the same in every process
            # If the process with the lock loses its network, Postgres ends its transaction after this time.
            idle_timeout = "3s"
            if connection.dialect.name == "postgresql":
                set_timeout = "set_config('idle_in_transaction_session_timeout', :idle_timeout, true)"
                query = text(f"SELECT {set_timeout}, pg_advisory_xact_lock(:lock_id)")
                connection.execute(query, {"lock_id": lock_id, "idle_timeout": idle_timeout})
            # Limits may hold back a user's first runs while later ones, for other agents or models, can start.
            max_rows_per_user = 100
            active = [QueuedRun(**row) for row in connection.execute(_build_active_query()).mappings()]
            rows = connection.execute(_build_waiting_query(), {"max_rows": max_rows_per_user}).mappings()
            waiting = [QueuedRun(**row) for row in rows]
            served_at: dict[str, float] = {row[0]: row[1] for row in connection.execute(_build_turns_query())}
            selected = select_runs(waiting, active, served_at, self._limits, limit)
            for run in selected:
                connection.execute(update(runs).where(runs.c.id == run.id).values(executor=worker, updated_at=now))
                turn = {"user": run.user, "served_at": now}
                connection.execute(self._database.build_upsert(run_turns, turn, key="user"))
            return [ActiveRun(run.id, run.attempt, worker, None, now) for run in selected]

        return await self._database.run_transaction(claim_runs, write=True)

    async def has_waiting(self, before: float | None = None) -> bool:
        """Return whether a run is queued; with `before`, since that time in seconds since the epoch."""
        query = _build_any_waiting_query()
        if before is not None:
            query = query.where(runs.c.updated_at < before)
        return await self._database.run_transaction(
            lambda connection: connection.execute(query).first() is not None, write=False
        )


def select_runs(
    waiting: Sequence[QueuedRun],
    active: Sequence[QueuedRun],
    served_at: dict[str, float],
    limits: RunLimits,
    limit: int,
) -> list[QueuedRun]:
    """Return the runs to start next, in order.

    Args:
        waiting: All queued runs.
        active: All active runs.
        served_at: When each user's last run was started, in seconds since the epoch.
        limits: How many runs may be active at the same time.
        limit: The maximum number of runs to start.
    """
    counts = _ActiveCounts(limits)
    for run in active:
        counts.add(run)
    last_turns = dict(served_at)
    candidates = sorted(waiting, key=lambda run: (run.created_at, run.id))
    selected: list[QueuedRun] = []
    while len(selected) < limit:
        startable = [run for run in candidates if counts.can_start(run)]
        if not startable:
            break
        first = min(
            startable,
            key=lambda run: (counts.users[run.user], last_turns.get(run.user, 0.0), run.created_at, run.id),
        )
        candidates.remove(first)
        counts.add(first)
        last_turns[first.user] = max(last_turns.values(), default=0.0) + 1.0
        selected.append(first)
    return selected


class _ActiveCounts:
    """The number of active runs by user, agent and model."""

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
        model_limits = self._limits.models
        names = [name for name in _list_limit_names(run.model) if name in model_limits]
        return all(self._models[name] < model_limits[name] for name in names)


def _list_limit_names(model: str) -> tuple[str, ...]:
    """Return the names by which a limit may refer to a model: its provider, or `provider:model`."""
    provider = model.partition(":")[0]
    return (provider, model) if provider and provider != model else (model,)


def _build_user_column() -> "ColumnElement[str]":
    """Return the user of a run: the person, or the session of an anonymous caller."""
    has_identity = func.coalesce(runs.c.identity, "") != ""
    return case((has_identity, "person " + runs.c.identity), else_="session " + runs.c.session)


def _build_waiting_filter() -> "tuple[ColumnElement[bool], ...]":
    # Runs below another one do not queue: they belong to the worker of the outermost run.
    return runs.c.parent_run_id.is_(None), runs.c.status == "queued", runs.c.executor.is_(None)


def _build_columns() -> list[Any]:
    model = func.coalesce(runs.c.model, "").label("model")
    return [runs.c.id, runs.c.attempt, _build_user_column().label("user"), runs.c.agent, model, runs.c.created_at]


@lru_cache
def _build_any_waiting_query() -> "Select[Any]":
    return select(runs.c.id).where(*_build_waiting_filter()).limit(1)


@lru_cache
def _build_waiting_query() -> "Select[Any]":
    """Select the oldest queued runs of each user, at most `max_rows` per user."""
    order = (runs.c.created_at, runs.c.id)
    rank = func.row_number().over(partition_by=_build_user_column(), order_by=order).label("rank")
    ranked = select(*_build_columns(), rank).where(*_build_waiting_filter()).subquery()
    columns = [ranked.c[column.name] for column in _build_columns()]
    return select(*columns).where(ranked.c.rank <= bindparam("max_rows"))


@lru_cache
def _build_active_query() -> "Select[Any]":
    is_active = runs.c.status.in_(ACTIVE_STATUSES), runs.c.executor.is_not(None)
    return select(*_build_columns()).where(runs.c.parent_run_id.is_(None), *is_active)


@lru_cache
def _build_turns_query() -> "Select[Any, Any]":
    return select(run_turns.c.user, run_turns.c.served_at)
