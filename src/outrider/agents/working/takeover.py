"""Whose work goes on elsewhere: runs of workers that died, and of workers that hang."""

from collections.abc import Sequence
from pathlib import Path

from outrider.agents.run import Working
from outrider.agents.working.locks import FileLocks, Locks, SessionLocks
from outrider.core.db import Database

WAITED = 4.0  # seconds after which a run that was to be taken up, and was not, is taken up again
GRACE = 60.0  # seconds after a run's deadline from which on a worker that still holds it is taken to hang


def locks_of(database: Database) -> Locks:
    """The locks of all workers on the database."""
    if database.dialect == "sqlite":
        from sqlalchemy import make_url

        return FileLocks(Path(make_url(database.url).database or ".").parent / "workers")
    return SessionLocks(database)


async def lost(theirs: Sequence[Working], worker: str, locks: Locks, now: float) -> list[Working]:
    """Those of the runs whose worker is dead or hangs.

    Args:
        theirs: Runs that somebody else works on, or should.
        worker: Who looks.
        locks: By which the living are known.
        now: By the clock of the database.
    """
    return [run for run in theirs if await _is_lost(run, worker, locks, now)]


async def _is_lost(run: Working, worker: str, locks: Locks, now: float) -> bool:
    if run.executor is None and not run.below:  # it waits for its turn: whoever has room takes it
        return False
    if run.executor in (None, worker):  # about to be taken up, unless whoever was to do it is dead
        return now - run.updated_at > WAITED
    hangs = run.deadline is not None and now > run.deadline + GRACE
    return hangs or await locks.is_dead(run.executor)
