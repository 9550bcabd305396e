"""What a run has done, one row a step: written before a tool is called and after, so that none is called twice."""

import time
from dataclasses import dataclass
from typing import Any

from outrider.agents.run import Run
from outrider.core.db import Database, storable


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
        from sqlalchemy import exists, literal, select

        from outrider.agents.tables import run_steps as steps
        from outrider.agents.tables import runs

        row = {
            "run_id": run.id,
            "key": key,
            "number": number,
            "kind": "tool",
            "tool": storable(tool, 64),
            "arguments": arguments,
            "started_at": time.time(),
        }
        mine = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.executor == self._executor
        alive = exists().where(*mine, runs.c.status == "running")
        values = select(*(literal(value, steps.c[name].type) for name, value in row.items())).where(alive)
        insert = self._database.insert(steps).from_select(list(row), values)
        async with self._database.write() as connection:
            done = await connection.execute(insert.on_conflict_do_nothing().returning(steps.c.key))
            if done.first() is not None:
                return Step(key, None, None, None, fresh=True)
            if not (await connection.execute(select(alive))).scalar():
                raise Superseded(run.id)
            same = steps.c.run_id == run.id, steps.c.key == key
            found = (await connection.execute(select(steps).where(*same))).mappings().one()
        return Step(key, found["outcome"], found["result"], found["state"], fresh=False)

    async def end(
        self, run: Run, key: str, *, outcome: str, seconds: float, result: Any = None, state: str | None = None
    ) -> None:
        """Writes down how the call ended, or that it waits."""
        from sqlalchemy import update

        from outrider.agents.tables import run_steps as steps

        ended = None if outcome == "asks" else time.time()
        values = {"outcome": storable(outcome, 64), "result": result, "state": state, "seconds": seconds}
        query = update(steps).where(steps.c.run_id == run.id, steps.c.key == key)
        async with self._database.write() as connection:
            await connection.execute(query.values(ended_at=ended, **values))

    async def model(self, run: Run, number: int, usage: dict[str, Any], model: str, seconds: float) -> None:
        """Writes down a request to the model: its use, not its words."""
        from outrider.agents.tables import run_steps as steps

        now = time.time()
        row = {
            "run_id": run.id,
            "key": f"model:{number}",
            "number": number,
            "kind": "model",
            "tool": storable(model, 64),
            "outcome": "ok",
            "seconds": seconds,
            "usage": usage,
            "started_at": now - seconds,
            "ended_at": now,
        }
        async with self._database.write() as connection:
            await connection.execute(self._database.insert(steps).values(row).on_conflict_do_nothing())

    async def of(self, run_id: str) -> list[dict[str, Any]]:
        """All steps of a run in order, as rows."""
        from sqlalchemy import select

        from outrider.agents.tables import run_steps as steps

        query = select(steps).where(steps.c.run_id == run_id).order_by(steps.c.number, steps.c.started_at)
        async with self._database.read() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]
