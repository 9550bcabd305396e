"""Find runs whose worker is dead or hangs."""

from collections.abc import Sequence
from pathlib import Path

from outrider.agents.run import ActiveRun
from outrider.agents.workers.locks import FileLocks, SessionLocks, WorkerLocks
from outrider.core.database.database import Database


def build_locks(database: Database) -> WorkerLocks:
    """Return the worker locks for the type of the database."""
    if database.dialect == "sqlite":
        from sqlalchemy import make_url

        return FileLocks(Path(make_url(database.url).database or ".").parent / "workers")
    return SessionLocks(database)


async def find_lost_runs(runs: Sequence[ActiveRun], worker: str, locks: WorkerLocks, now: float) -> list[ActiveRun]:
    """Return the runs whose worker is dead or hangs.

    Args:
        runs: Active runs that this worker is not executing.
        worker: The name of this worker.
        locks: The locks of all workers.
        now: The time of the database in seconds since the epoch.
    """
    hang_grace_s = 60.0  # a worker hangs if it still holds a run so long after the deadline
    handover_timeout_s = 4.0  # an assigned run that has not started by then is assigned again
    lost: list[ActiveRun] = []
    for run in runs:
        if run.executor is None and not run.is_child:  # it waits in the queue
            continue
        if run.executor in (None, worker):  # it should start soon, unless the process that assigned it died
            is_lost = now - run.updated_at > handover_timeout_s
        else:
            hangs = run.deadline is not None and now > run.deadline + hang_grace_s
            is_lost = hangs or await locks.is_dead(run.executor)
        if is_lost:
            lost.append(run)
    return lost
