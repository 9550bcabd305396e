"""What a run has done, one row a step: a tool's before the call and after, so that none is called twice; what a model
has said once it has said it, so that it is not asked again. A row is written in one go: 0.15 ms in SQLite.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Executable, Select, bindparam, exists, select, update
from sqlalchemy.dialects import postgresql, sqlite

from outrider.agents.run import Run
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs
from outrider.core.database.database import Database, to_storable_text

STARTED_COLUMNS = ("run_id", "key", "number", "kind", "tool", "arguments", "started_at")
FINISHED_COLUMNS = ("outcome", "result", "state", "seconds", "ended_at")


class AttemptSuperseded(Exception):
    """The attempt is no longer this process's: it was cancelled, or another process has taken it up."""


@dataclass(frozen=True)
class ToolStep:
    """One tool call of a run.

    Attributes:
        outcome: `ok` or an error's code; `asks` while a person is asked; None while it runs.
        result: What the model got to read, once it has ended.
        state: What a paused call left behind.
        is_new: It was begun just now, and by us.
    """

    key: str
    outcome: str | None
    result: Any
    state: str | None
    is_new: bool

    @property
    def has_ended(self) -> bool:
        return self.outcome not in (None, "asks")


class RunSteps:
    """The table of steps, as one process works on runs."""

    def __init__(self, database: Database, executor: str) -> None:
        self._database = database
        self._executor = executor

    async def start_step(self, run: Run, key: str, number: int, tool: str, arguments: Any) -> ToolStep:
        """Writes down that the tool is about to be called; what is known if it was before. Raises Superseded."""
        given = (run.id, key, number, "tool", to_storable_text(tool, 64), arguments, time.time())

        def insert_or_load(connection: "Connection") -> ToolStep:
            if self._insert_step(connection, run, dict(zip(STARTED_COLUMNS, given, strict=True))):
                return ToolStep(key, None, None, None, is_new=True)
            found = connection.execute(_build_step_query(), {"of": run.id, "named": key}).mappings().one()
            return ToolStep(key, found["outcome"], found["result"], found["state"], is_new=False)

        return await self._database.run_transaction(insert_or_load, write=True)

    async def resume_step(self, run: Run, key: str) -> None:
        """Writes down that a call which waited is about to be made. Raises Superseded."""
        given = {"named": key, "of": run.id, "try": run.attempt, "by": self._executor}

        def mark_running(connection: "Connection") -> bool:
            return connection.execute(_build_resume_update(), given).first() is not None

        if not await self._database.run_transaction(mark_running, write=True):
            raise AttemptSuperseded(run.id)

    async def finish_step(
        self, run: Run, key: str, *, outcome: str, seconds: float, result: Any = None, state: str | None = None
    ) -> None:
        """Writes down how the call ended, or that it waits."""
        ended = None if outcome == "asks" else time.time()
        given = dict(zip(FINISHED_COLUMNS, (to_storable_text(outcome, 64), result, state, seconds, ended), strict=True))
        values = {f"new_{name}": value for name, value in given.items()} | {"of": run.id, "named": key}
        await self._database.run_transaction(
            lambda connection: connection.execute(_build_finish_update(), values), write=True
        )

    async def run_once(
        self, run: Run, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> dict[str, Any]:
        """What the work came to, or what it came to before: in this process or a dead one.

        Args:
            run: At work here.
            number: The request to the model, from 1.
            work: Asks it; of what comes, `model`, `usage` and `seconds` are written beside the whole.
            kind: Tells apart requests of the same number: `model`, or `summary` for one that was made before it.

        Raises:
            Superseded: The attempt is no longer ours.
        """
        all_columns = (*STARTED_COLUMNS, "outcome", "result", "seconds", "usage", "ended_at")
        key = f"{kind}:{number}"
        before = await self._database.run_transaction(
            lambda connection: connection.execute(_build_step_query(), {"of": run.id, "named": key}).mappings().first(),
            write=False,
        )
        if before is not None:
            return before["result"]
        kept, now = await work(), time.time()
        seconds = kept.get("seconds", 0.0)
        begun = (run.id, key, number, "model", to_storable_text(kept.get("model", ""), 64), None, now - seconds)
        ended = ("stopped" if "stop" in kept else "ok", kept, seconds, kept.get("usage"), now)
        row = dict(zip(all_columns, (*begun, *ended), strict=True))
        await self._database.run_transaction(lambda connection: self._insert_step(connection, run, row), write=True)
        return kept

    async def list_steps(self, run_id: str) -> list[dict[str, Any]]:
        """All steps of a run in order, as rows."""
        query = select(steps).where(steps.c.run_id == run_id).order_by(steps.c.number, steps.c.started_at)

        def load_rows(connection: "Connection") -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(query).mappings()]

        return await self._database.run_transaction(load_rows, write=False)

    def _insert_step(self, connection: "Connection", run: Run, row: dict[str, Any]) -> bool:
        """Whether the row is new; only who works on the attempt may write one. Raises Superseded."""
        mine = {"of": run.id, "try": run.attempt, "by": self._executor}
        statement = _build_insert(connection.dialect.name, tuple(row))
        values = {f"new_{name}": value for name, value in row.items()}
        if connection.execute(statement, mine | values).first() is not None:
            return True
        if connection.execute(_build_active_query(), mine).first() is None:
            raise AttemptSuperseded(run.id)
        return False


# Built once: to build a statement takes as long as to execute it.


@lru_cache
def _build_active_query() -> "Select[Any]":

    mine = runs.c.id == bindparam("of"), runs.c.attempt == bindparam("try"), runs.c.executor == bindparam("by")
    return select(runs.c.id).where(*mine, runs.c.status == "running")


@lru_cache
def _build_insert(dialect: str, names: tuple[str, ...]) -> "Executable":

    values = select(*(bindparam(f"new_{name}", type_=steps.c[name].type) for name in names))
    module = sqlite if dialect == "sqlite" else postgresql
    insert = module.insert(steps).from_select(list(names), values.where(exists(_build_active_query())))
    return insert.on_conflict_do_nothing().returning(steps.c.key)


@lru_cache
def _build_step_query() -> "Executable":

    return select(steps).where(steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named"))


@lru_cache
def _build_resume_update() -> "Executable":

    waits = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named"), steps.c.outcome == "asks"
    return update(steps).where(*waits, exists(_build_active_query())).values(outcome=None).returning(steps.c.key)


@lru_cache
def _build_finish_update() -> "Executable":

    same = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named")
    return update(steps).where(*same).values({name: bindparam(f"new_{name}") for name in FINISHED_COLUMNS})
