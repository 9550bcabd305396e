"""The worker of a process: it takes queued runs and recovers lost ones."""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.dependencies import AgentDependencies
from outrider.agents.events.notifier import RUN_WAITING, notify_runs
from outrider.agents.events.stream import EventStreams
from outrider.agents.quota_check import SpendingCheck
from outrider.agents.run import ActiveRun, Run, RunStore
from outrider.agents.run_status import ACTIVE_STATUSES, ENDED_STATUSES
from outrider.agents.tables import runs
from outrider.agents.workers.attempts import AttemptRunner
from outrider.agents.workers.locks import FileLocks, SessionLocks, WorkerLocks
from outrider.agents.workers.run_queue import RunQueue
from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.core.gc_control import freeze_imports

if TYPE_CHECKING:
    from outrider.agents.workers.durable_engine import DurableEngine

log = logging.getLogger(__name__)


class RunWorker:
    """Works on runs in one process; the engine and the model libraries are loaded with the first run.

    Attributes:
        name: The worker's unique name.
        steps: The steps of all runs.
        meters: The meters of active runs, by run id.
        client_models: The models of clients that wait for their runs, by run id.
        refresh_toolboxes: Returns the served tools and all tools, including the current agents.
        sum_descendant_usage: Returns the usage of all runs below a run.
        resume_if_unblocked: Resumes a blocked run that no longer waits for an answer.
    """

    def __init__(self, dependencies: AgentDependencies, streams: EventStreams) -> None:
        self.name = f"w_{uuid.uuid4().hex[:16]}"
        self._attempts = AttemptRunner(self.name, dependencies, streams)
        self.steps, self.meters = self._attempts.steps, self._attempts.meters
        self.client_models = self._attempts.client_models
        self.refresh_toolboxes, self.sum_descendant_usage = (
            self._attempts.refresh_toolboxes,
            self._attempts.sum_descendant_usage,
        )
        self.resume_if_unblocked: Callable[[Run], Awaitable[None]] | None = None
        self._streams = streams
        self._database = dependencies.database
        self._rows = RunStore(dependencies.database)
        self._settings = dependencies.settings
        self._retention_s = dependencies.engine_retention_s
        self._open_lock = anyio.Lock()
        self._engine: DurableEngine | None = None
        self._locks: WorkerLocks | None = None
        self._background_tasks: list[asyncio.Task[None]] = []
        self._queue = RunQueue(dependencies.database, dependencies.settings.limits)
        self._taken_runs: set[str] = set()  # outermost runs that this worker has taken from the queue
        self._dispatch_lock = anyio.Lock()
        self._wake_event = anyio.Event()  # set if the watcher should check at once
        self._finishing_tasks: set[asyncio.Task[Any]] = set()  # tasks whose attempt has just ended

    def set_spending_check(self, spending: SpendingCheck | None) -> None:
        """Set the check to make before each request to a model."""
        self._attempts.check_spending = spending

    @property
    def is_started(self) -> bool:
        """Whether it has started, and so also watches for lost runs."""
        return self._engine is not None

    @property
    def is_busy(self) -> bool:
        """Whether it is executing an attempt."""
        return bool(self._attempts.active_tasks)

    async def ensure_engine(self) -> "DurableEngine":
        """Return the engine; start it and the background tasks first if necessary.

        Raises NotConfigured if the libraries for agents are missing.
        """
        async with self._open_lock:
            if self._engine is None:
                # The import takes seconds.
                engine_type = await anyio.to_thread.run_sync(_import_engine)
                locks = build_locks(self._database)
                await locks.acquire(self.name)
                engine = engine_type(self._database.url, self.name, self._run_attempt)
                try:
                    await engine.open()
                except BaseException:
                    await locks.close()
                    raise
                self._engine, self._locks = engine, locks

                def wake_watcher() -> None:
                    self._wake_event.set()  # a new event after each check

                self._streams.on_waiting = wake_watcher
                self._streams.notifier.start()
                freeze_imports("workers")
                loop = asyncio.get_running_loop()
                self._background_tasks = [loop.create_task(work()) for work in (self._watch_forever, self._clean_daily)]
            return self._engine

    async def cancel_run(self, run: Run) -> None:
        """Cancel a run of any worker; an ended run does not change."""
        is_open = runs.c.id == run.id, runs.c.status.not_in(ENDED_STATUSES)
        values = {"status": "cancelled", "stop_reason": "cancelled", "ended_at": time.time()}
        if not await self._rows.update_runs(*is_open, **values):
            return
        event = {"status": "cancelled", "attempt": run.attempt, "stop_reason": "cancelled"}
        await self._streams.append(run.id, [("status", event)])
        if task := self._attempts.active_tasks.get(run.id):
            task.cancel()

    async def cancel_tree(self, run_id: str) -> None:
        """Cancel a run and all runs below it, including those that start in the meantime."""
        cancelled: set[str] = set()
        while remaining := {run_id, *(run.id for run in await self._rows.list_descendants(run_id))} - cancelled:
            for remaining_id in remaining:
                await self.cancel_run(await self._rows.get(remaining_id))
            cancelled |= remaining

    async def start_attempt(self, run_id: str, attempt: int, *, here: bool) -> None:
        """Start a queued attempt now, or when its turn comes.

        Args:
            run_id: The id of a run whose row has status `queued`.
            attempt: The number of the attempt.
            here: Whether the run is assigned to this worker already and does not queue.
        """
        if here:
            await (await self.ensure_engine()).start_attempt(run_id, attempt)
        else:
            await self.dispatch_queued()

    async def dispatch_queued(self) -> None:
        """Start queued runs up to the limit of this process; if it takes none at all, notify the others."""
        if self._attempts.is_closing:
            return
        if not self._settings.runs:
            await self._database.run_transaction(lambda connection: notify_runs(connection, [RUN_WAITING]), write=True)
            return
        engine = await self.ensure_engine()
        async with self._dispatch_lock:
            for run in await self._queue.take_runs(self.name, self._settings.runs - len(self._taken_runs)):
                self._taken_runs.add(run.id)
                try:
                    await engine.start_attempt(run.id, run.attempt)
                except BaseException:
                    self._taken_runs.discard(run.id)
                    raise

    async def has_waiting(self, seconds: float) -> bool:
        """Return whether this process takes runs, and one has waited for this long."""
        return bool(self._settings.runs) and await self._queue.has_waiting(self._database.now() - seconds)

    async def recover_runs(self) -> list[str]:
        """Requeue the runs of dead or hanging workers; return their ids."""
        candidates = [run for run in await self._rows.list_active() if run.id not in self._attempts.active_tasks]
        lost: list[ActiveRun] = []
        if candidates:
            # A process that has not started its own worker only checks the locks of others.
            locks = self._locks or build_locks(self._database)
            try:
                lost = await find_lost_runs(candidates, self.name, locks, self._database.now())
            finally:
                if locks is not self._locks:
                    await locks.close()
        for run in lost:
            # Requeue it, or continue it here if it is below another run; the update succeeds in one process only.
            unchanged = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.status.in_(ACTIVE_STATUSES)
            same_executor = runs.c.executor == run.executor if run.executor else runs.c.executor.is_(None)
            runs_here = run.is_child and bool(self._settings.runs)
            values = {"status": "queued", "executor": self.name if runs_here else None}
            if await self._rows.update_runs(*unchanged, same_executor, **values):
                log.info("run %s of worker %s is queued again", run.id, run.executor)
                if runs_here:
                    await self.start_attempt(run.id, run.attempt, here=True)
        if lost or (self.is_started and self._settings.runs):
            await self.dispatch_queued()
        return [run.id for run in lost]

    async def close(self) -> None:
        """Stop working on runs; another process or the next start continues them."""
        self._attempts.is_closing = True
        tasks = [*self._background_tasks, *self._attempts.active_tasks.values(), *self._finishing_tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
        if self._locks is not None:
            await self._locks.close()
        self._engine = self._locks = None
        self._background_tasks = []
        self._attempts.is_closing = False

    async def _run_attempt(self, run_id: str, attempt: int) -> None:
        """Run an attempt.

        The run resumes at once if its questions were answered before it was blocked.
        """
        try:
            await self._attempts.run_attempt(run_id, attempt)
        finally:
            if run_id not in self._attempts.active_tasks:
                self._taken_runs.discard(run_id)
            self._wake_event.set()
        if self._attempts.is_closing or self.resume_if_unblocked is None:
            return
        task = asyncio.current_task()
        assert task is not None
        self._finishing_tasks.add(task)
        try:
            run = await self._rows.get(run_id)
            if run.status == "blocked" and run.attempt == attempt:
                await self.resume_if_unblocked(run)
        finally:
            self._finishing_tasks.discard(task)

    async def _watch_forever(self) -> None:
        """Stop cancelled runs of this worker and recover lost runs of others."""
        watch_interval_s = 0.4
        while True:
            try:
                active_tasks = self._attempts.active_tasks
                for run_id in await self._rows.list_cancelled(list(active_tasks)) if active_tasks else []:
                    if task := active_tasks.get(run_id):
                        task.cancel()
                        await self.cancel_tree(run_id)
                await self.recover_runs()
                if self._locks is not None and not await self._locks.is_held():
                    await self._locks.acquire(self.name)
            except OutriderError as error:
                log.warning("cannot watch runs: %s", error)
            except Exception:
                log.exception("bug in watching runs")
            self._wake_event = anyio.Event()
            with anyio.move_on_after(watch_interval_s):
                await self._wake_event.wait()

    async def _clean_daily(self) -> None:
        """Delete old records of the engine, now and every day."""
        day_s = 86_400.0
        while math.isfinite(self._retention_s):
            try:
                if self._engine is not None:
                    await self._engine.delete_old_attempts(self._database, self._database.now() - self._retention_s)
            except OutriderError as error:
                log.warning("cannot delete old records of the durable engine: %s", error)
            except Exception:
                log.exception("bug in deleting old records of the durable engine")
            await anyio.sleep(day_s)


def _import_engine() -> "type[DurableEngine]":
    """Import the engine. Raises NotConfigured if the libraries for agents are missing."""
    try:
        from outrider.agents.workers.durable_engine import DurableEngine
    except ImportError:
        from outrider.agents.extra import build_missing_extra_error

        raise build_missing_extra_error() from None
    return DurableEngine


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
    hang_grace_s = 60.0  # a worker hangs if it still holds a run this long after the deadline
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
