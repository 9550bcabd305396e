"""Whose work goes on elsewhere: runs of workers that died, and of workers that hang."""

from collections.abc import Sequence
from pathlib import Path

from outrider.agents.run import ActiveRun
from outrider.agents.workers.locks import FileLocks, SessionLocks, WorkerLocks
from outrider.core.database.database import Database


def build_locks(database: Database) -> WorkerLocks:
    """The locks of all workers on the database."""
    if database.dialect == "sqlite":
        from sqlalchemy import make_url

        return FileLocks(Path(make_url(database.url).database or ".").parent / "workers")
    return SessionLocks(database)


async def find_lost_runs(runs: Sequence[ActiveRun], worker: str, locks: WorkerLocks, now: float) -> list[ActiveRun]:
    """Those of the runs whose worker is dead or hangs.

    Args:
        runs: Runs that somebody else works on, or should.
        worker: Who looks.
        locks: By which the living are known.
        now: By the clock of the database.
    """
    return [run for run in runs if await _is_lost(run, worker, locks, now)]


async def _is_lost(run: ActiveRun, worker: str, locks: WorkerLocks, now: float) -> bool:
    hang_grace_s = 60.0  # seconds after a run's deadline from which on a worker that still holds it is taken to hang
    handover_timeout_s = 4.0  # seconds after which a run that was to be taken up, and was not, is taken up again
    if run.executor is None and not run.is_child:  # it waits for its turn: whoever has room takes it
        return False
    if run.executor in (None, worker):  # about to be taken up, unless whoever was to do it is dead
        return now - run.updated_at > handover_timeout_s
    hangs = run.deadline is not None and now > run.deadline + hang_grace_s
    return hangs or await locks.is_dead(run.executor)
