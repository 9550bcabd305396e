"""A failed run begun once more where it failed: what its model said and its tools did is not done again."""

from typing import Any

from sqlalchemy import Connection, delete, select, update

from outrider.agents.limits import RunUsage
from outrider.agents.run import Run
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs


def can_retry(run: Run) -> bool:
    """Whether `Runs.retry` takes it up: what it failed of may be gone, and nobody above has gone on without it."""
    transient_reasons = ("model_error", "no_model", "error", "time")  # reasons that may be gone the next time
    alone = run.parent_run_id is None and not run.state.get("lent")
    return alone and run.status == "failed" and run.stop_reason in transient_reasons


def reopen_run(connection: "Connection", run: Run, now: float) -> bool:
    """Makes the next attempt of a failed run possible, in one transaction; False if somebody was faster.

    An attempt goes through the steps again from the run's history on, and takes what stands there for what came of
    them. So the step that failed is forgotten, and what the steps will count again is not counted now.
    """
    stopped_outcome = "stopped"  # the outcome of a step in which the models themselves failed
    said = sum(each.get("kind") == "response" for each in run.history or ())
    mine = steps.c.run_id == run.id, steps.c.kind == "model"
    before = connection.execute(select(steps.c.usage).where(*mine, steps.c.number <= said)).scalars()
    used = sum((RunUsage.from_dict(each) for each in before), RunUsage())
    values: dict[str, Any] = {
        "status": "queued",
        "stop_reason": None,
        "error": None,
        "attempt": run.attempt + 1,
        "executor": None,
        "ended_at": None,
        "usage": used.to_dict(),
        "cost": used.cost,
        "state": run.state | {"seconds": 0.0},
        "updated_at": now,
    }
    same = runs.c.id == run.id, runs.c.status == "failed", runs.c.attempt == run.attempt
    if connection.execute(update(runs).where(*same).values(values)).rowcount != 1:
        return False
    connection.execute(delete(steps).where(*mine, steps.c.outcome == stopped_outcome))
    return True
