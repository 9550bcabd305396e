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
from outrider.core.db import Database, storable

BEGUN = ("run_id", "key", "number", "kind", "tool", "arguments", "started_at")
WHOLE = (*BEGUN, "outcome", "result", "seconds", "usage", "ended_at")
ENDED = ("outcome", "result", "state", "seconds", "ended_at")


class Superseded(Exception):
    """The attempt is no longer this process's: it was cancelled, or another process has taken it up."""


@dataclass(frozen=True)
class Step:
    """One tool call of a run.

    Attributes:
        outcome: `ok` or an error's code; `asks` while a person is asked; None while it runs.
        result: What the model got to read, once it has ended.
        state: What a paused call left behind.
        fresh: It was begun just now, and by us.
    """

    key: str
    outcome: str | None
    result: Any
    state: str | None
    fresh: bool

    @property
    def ended(self) -> bool:
        return self.outcome not in (None, "asks")


class Steps:
    """The table of steps, as one process works on runs."""

    def __init__(self, database: Database, executor: str) -> None:
        self._database = database
        self._executor = executor

    async def begin(self, run: Run, key: str, number: int, tool: str, arguments: Any) -> Step:
        """Writes down that the tool is about to be called; what is known if it was before. Raises Superseded."""
        given = (run.id, key, number, "tool", storable(tool, 64), arguments, time.time())

        def begun(connection: "Connection") -> Step:
            if self._inserted(connection, run, dict(zip(BEGUN, given, strict=True))):
                return Step(key, None, None, None, fresh=True)
            found = connection.execute(_same(), {"of": run.id, "named": key}).mappings().one()
            return Step(key, found["outcome"], found["result"], found["state"], fresh=False)

        return await self._database.short(begun, write=True)

    async def resume(self, run: Run, key: str) -> None:
        """Writes down that a call which waited is about to be made. Raises Superseded."""
        given = {"named": key, "of": run.id, "try": run.attempt, "by": self._executor}

        def resumed(connection: "Connection") -> bool:
            return connection.execute(_resumption(), given).first() is not None

        if not await self._database.short(resumed, write=True):
            raise Superseded(run.id)

    async def end(
        self, run: Run, key: str, *, outcome: str, seconds: float, result: Any = None, state: str | None = None
    ) -> None:
        """Writes down how the call ended, or that it waits."""
        ended = None if outcome == "asks" else time.time()
        given = dict(zip(ENDED, (storable(outcome, 64), result, state, seconds, ended), strict=True))
        values = {f"new_{name}": value for name, value in given.items()} | {"of": run.id, "named": key}
        await self._database.short(lambda connection: connection.execute(_ending(), values), write=True)

    async def once(
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
        key = f"{kind}:{number}"
        before = await self._database.short(
            lambda connection: connection.execute(_same(), {"of": run.id, "named": key}).mappings().first(), write=False
        )
        if before is not None:
            return before["result"]
        kept, now = await work(), time.time()
        seconds = kept.get("seconds", 0.0)
        begun = (run.id, key, number, "model", storable(kept.get("model", ""), 64), None, now - seconds)
        ended = ("stopped" if "stop" in kept else "ok", kept, seconds, kept.get("usage"), now)
        row = dict(zip(WHOLE, (*begun, *ended), strict=True))
        await self._database.short(lambda connection: self._inserted(connection, run, row), write=True)
        return kept

    async def of(self, run_id: str) -> list[dict[str, Any]]:
        """All steps of a run in order, as rows."""
        query = select(steps).where(steps.c.run_id == run_id).order_by(steps.c.number, steps.c.started_at)

        def found(connection: "Connection") -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(query).mappings()]

        return await self._database.short(found, write=False)

    def _inserted(self, connection: "Connection", run: Run, row: dict[str, Any]) -> bool:
        """Whether the row is new; only who works on the attempt may write one. Raises Superseded."""
        mine = {"of": run.id, "try": run.attempt, "by": self._executor}
        statement = _insertion(connection.dialect.name, tuple(row))
        values = {f"new_{name}": value for name, value in row.items()}
        if connection.execute(statement, mine | values).first() is not None:
            return True
        if connection.execute(_alive(), mine).first() is None:
            raise Superseded(run.id)
        return False


# Built once: to build a statement takes as long as to execute it.


@lru_cache
def _alive() -> "Select[Any]":

    mine = runs.c.id == bindparam("of"), runs.c.attempt == bindparam("try"), runs.c.executor == bindparam("by")
    return select(runs.c.id).where(*mine, runs.c.status == "running")


@lru_cache
def _insertion(dialect: str, names: tuple[str, ...]) -> "Executable":

    values = select(*(bindparam(f"new_{name}", type_=steps.c[name].type) for name in names))
    module = sqlite if dialect == "sqlite" else postgresql
    insert = module.insert(steps).from_select(list(names), values.where(exists(_alive())))
    return insert.on_conflict_do_nothing().returning(steps.c.key)


@lru_cache
def _same() -> "Executable":

    return select(steps).where(steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named"))


@lru_cache
def _resumption() -> "Executable":

    waits = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named"), steps.c.outcome == "asks"
    return update(steps).where(*waits, exists(_alive())).values(outcome=None).returning(steps.c.key)


@lru_cache
def _ending() -> "Executable":

    same = steps.c.run_id == bindparam("of"), steps.c.key == bindparam("named")
    return update(steps).where(*same).values({name: bindparam(f"new_{name}") for name in ENDED})
