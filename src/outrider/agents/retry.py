"""Retry a failed run from the step that failed."""

from typing import Any

from sqlalchemy import Connection, delete, select, update

from outrider.agents.limits import RunUsage
from outrider.agents.run import Run
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs


def can_retry(run: Run) -> bool:
    """Return whether a run can be retried.

    Its error must be one that may be gone by now, and no parent run may have continued without it.
    """
    is_transient = run.stop_reason in ("model_error", "no_model", "error", "time")
    has_caller = run.parent_run_id is not None or run.state.get("lent")
    return run.status == "failed" and is_transient and not has_caller


def reopen_run(connection: "Connection", run: Run, now: float) -> bool:
    """Queue the next attempt of a failed run; return False if another process was faster.

    The attempt replays the steps after the run's history from their saved results. The failed step is therefore
    deleted, and the usage of the steps to be replayed is subtracted, because the replay counts it again.
    """
    response_count = sum(message.get("kind") == "response" for message in run.history or ())
    model_steps = steps.c.run_id == run.id, steps.c.kind == "model"
    in_history = select(steps.c.usage).where(*model_steps, steps.c.number <= response_count)
    used = sum((RunUsage.from_dict(usage) for usage in connection.execute(in_history).scalars()), RunUsage())
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
    unchanged = runs.c.id == run.id, runs.c.status == "failed", runs.c.attempt == run.attempt
    if connection.execute(update(runs).where(*unchanged).values(values)).rowcount != 1:
        return False
    # "stopped" is the outcome of a step in which all models failed.
    connection.execute(delete(steps).where(*model_steps, steps.c.outcome == "stopped"))
    return True
