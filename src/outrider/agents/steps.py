"""Persist the steps of runs, so that another process can replay them.

The row of a tool call is written before the call and completed after it, so that no call is made twice. The row of a
model's response is written once it is complete, so that the model is not asked again.
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


class AttemptSuperseded(Exception):
    """The attempt no longer belongs to this process: it was cancelled or taken over."""


@dataclass(frozen=True)
class ToolStep:
    """A tool call of a run.

    Attributes:
        outcome: `ok` or an error's code; `asks` while a person is asked; None while it runs.
        result: The result that the model read, once the call has ended.
        state: The saved state of a paused call.
        is_new: Whether this process has just started it.
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
    """The table of steps, as written by one worker."""

    def __init__(self, database: Database, executor: str) -> None:
        self._database = database
        self._executor = executor

    async def start_step(self, run: Run, key: str, number: int, tool: str, arguments: Any) -> ToolStep:
        """Save a pending tool call, or load an earlier attempt's step.

        Raises AttemptSuperseded.
        """
        row = {
            "run_id": run.id,
            "key": key,
            "number": number,
            "kind": "tool",
            "tool": to_storable_text(tool, 64),
            "arguments": arguments,
            "started_at": time.time(),
        }

        def insert_or_load(connection: "Connection") -> ToolStep:
            if self._insert_step(connection, run, row):
                return ToolStep(key, None, None, None, is_new=True)
            saved = connection.execute(_build_step_query(), {"of": run.id, "named": key}).mappings().one()
            return ToolStep(key, saved["outcome"], saved["result"], saved["state"], is_new=False)

        return await self._database.run_transaction(insert_or_load, write=True)

    async def resume_step(self, run: Run, key: str) -> None:
        """Save that a paused call is about to be made. Raises AttemptSuperseded."""
        parameters = {"named": key, "of": run.id, "try": run.attempt, "by": self._executor}

        def mark_running(connection: "Connection") -> bool:
            return connection.execute(_build_resume_update(), parameters).first() is not None

        if not await self._database.run_transaction(mark_running, write=True):
            raise AttemptSuperseded(run.id)

    async def finish_step(
        self, run: Run, key: str, *, outcome: str, seconds: float, result: Any = None, state: str | None = None
    ) -> None:
        """Save the outcome of a call; `asks` means that it is paused."""
        parameters = {
            "of": run.id,
            "named": key,
            "new_outcome": to_storable_text(outcome, 64),
            "new_result": result,
            "new_state": state,
            "new_seconds": seconds,
            "new_ended_at": None if outcome == "asks" else time.time(),
        }
        await self._database.run_transaction(
            lambda connection: connection.execute(_build_finish_update(), parameters), write=True
        )

    async def run_once(
        self, run: Run, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> dict[str, Any]:
        """Return a model request's saved result, or make and save it.

        Args:
            run: A run of this worker.
            number: The number of the request, from 1.
            work: Makes the request; `model`, `usage` and `seconds` of its result also get separate columns.
            kind: Distinguishes requests with the same number: `model`, or `summary` for the one made before it.

        Raises:
            AttemptSuperseded: The attempt no longer belongs to this worker.
        """
        key = f"{kind}:{number}"
        saved = await self._database.run_transaction(
            lambda connection: connection.execute(_build_step_query(), {"of": run.id, "named": key}).mappings().first(),
            write=False,
        )
        if saved is not None:
            return saved["result"]
        result, now = await work(), time.time()
        seconds = result.get("seconds", 0.0)
        row = {
            "run_id": run.id,
            "key": key,
            "number": number,
            "kind": "model",
            "tool": to_storable_text(result.get("model", ""), 64),
            "arguments": None,
            "started_at": now - seconds,
            "outcome": "stopped" if "stop" in result else "ok",
            "result": result,
            "seconds": seconds,
            "usage": result.get("usage"),
            "ended_at": now,
        }
        await self._database.run_transaction(lambda connection: self._insert_step(connection, run, row), write=True)
        return result

    async def list_steps(self, run_id: str) -> list[dict[str, Any]]:
        """Return all steps of a run in order, as rows."""
        query = select(steps).where(steps.c.run_id == run_id).order_by(steps.c.number, steps.c.started_at)

        def load_rows(connection: "Connection") -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(query).mappings()]

        return await self._database.run_transaction(load_rows, write=False)

    def _insert_step(self, connection: "Connection", run: Run, row: dict[str, Any]) -> bool:
        """Insert a row and return whether it is new; only the owner of the attempt may do so.

        Raises AttemptSuperseded.
        """
        owner = {"of": run.id, "try": run.attempt, "by": self._executor}
        statement = _build_insert(connection.dialect.name, tuple(row))
        values = {f"new_{name}": value for name, value in row.items()}
        if connection.execute(statement, owner | values).first() is not None:
            return True
        if connection.execute(_build_active_query(), owner).first() is None:
            raise AttemptSuperseded(run.id)
        return False


# Statements are cached, because building one takes as long as executing it.


@lru_cache
def _build_active_query() -> "Select[Any]":
    is_owned = runs.c.id == bindparam("of"), runs.c.attempt == bindparam("try"), runs.c.executor == bindparam("by")
    return select(runs.c.id).where(*is_owned, runs.c.status == "running")


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
    is_paused = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named"), steps.c.outcome == "asks"
    return update(steps).where(*is_paused, exists(_build_active_query())).values(outcome=None).returning(steps.c.key)


@lru_cache
def _build_finish_update() -> "Executable":
    columns = ("outcome", "result", "state", "seconds", "ended_at")
    is_step = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named")
    return update(steps).where(*is_step).values({name: bindparam(f"new_{name}") for name in columns})
