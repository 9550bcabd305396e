"""This process among the workers: which runs it takes, and which it takes up that dead processes left."""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.dependencies import AgentDependencies
from outrider.agents.events.notifier import RUN_WAITING, notify_runs
from outrider.agents.events.stream import EventStreams
from outrider.agents.quota_check import SpendingCheck
from outrider.agents.run import ACTIVE_STATUSES, ENDED_STATUSES, ActiveRun, Run, RunStore
from outrider.agents.tables import runs
from outrider.agents.workers.attempts import AttemptRunner
from outrider.agents.workers.locks import WorkerLocks
from outrider.agents.workers.run_queue import RunQueue
from outrider.agents.workers.takeover import build_locks, find_lost_runs
from outrider.core.errors import OutriderError
from outrider.core.gc_control import freeze_imports

if TYPE_CHECKING:
    from outrider.agents.workers.durable_engine import DurableEngine

log = logging.getLogger(__name__)


class RunWorker:
    """Works on runs in one process; the engine and the libraries of models are loaded at the first of them.

    Attributes:
        name: By which other processes know it.
        steps: What the runs have done.
        meters: What the runs under way use.
        client_models: The models of clients that wait for their runs, by run.
        refresh_toolboxes: The served tools and all, with the agents that there are now.
        sum_descendant_usage: What the runs have used that a run began, and those that they began.
        resume_if_unblocked: Lets a run go on that waits for nobody.
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
        self._taken_runs: set[str] = set()  # outermost runs that this process has taken
        self._dispatch_lock = anyio.Lock()
        self._wake_event = anyio.Event()  # something may have changed
        self._finishing_tasks: set[asyncio.Task[Any]] = set()  # what has come to the end of an attempt just now

    def set_spending_check(self, spending: SpendingCheck | None) -> None:
        """Has it asked before each request to a model."""
        self._attempts.check_spending = spending

    @property
    def is_started(self) -> bool:
        """Whether it has begun: it then looks after what others leave by itself."""
        return self._engine is not None

    @property
    def is_busy(self) -> bool:
        """Whether an attempt is under way."""
        return bool(self._attempts.active_tasks)

    async def ensure_engine(self) -> "DurableEngine":
        """The engine, with this worker known to the others. Raises NotConfigured without the libraries for agents."""
        async with self._open_lock:
            if self._engine is None:
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
                self._streams.on_waiting = self._wake_watcher
                self._streams.notifier.start()
                freeze_imports("workers")
                loop = asyncio.get_running_loop()
                self._background_tasks = [loop.create_task(work()) for work in (self._watch_forever, self._clean_daily)]
            return self._engine

    async def cancel_run(self, run: Run) -> None:
        """Ends the run, whoever works on it; what is over stays as it is."""
        open_ = runs.c.id == run.id, runs.c.status.not_in(ENDED_STATUSES)
        values = {"status": "cancelled", "stop_reason": "cancelled", "ended_at": time.time()}
        if not await self._rows.update_runs(*open_, **values):
            return
        told = {"status": "cancelled", "attempt": run.attempt, "stop_reason": "cancelled"}
        await self._streams.append(run.id, [("status", told)])
        if task := self._attempts.active_tasks.get(run.id):
            task.cancel()

    async def cancel_tree(self, run_id: str) -> None:
        """Ends the run and all below it, also what is begun there meanwhile."""
        ended: set[str] = set()
        while left := {run_id, *(each.id for each in await self._rows.list_descendants(run_id))} - ended:
            for each in left:
                await self.cancel_run(await self._rows.get(each))
            ended |= left

    async def start_attempt(self, run_id: str, attempt: int, *, here: bool) -> None:
        """Lets a queued attempt begin, now or when it is its turn.

        Args:
            run_id: Of the run; its row says that it is queued.
            attempt: Which one.
            here: It is this process's already, and needs no turn.
        """
        if here:
            await (await self.ensure_engine()).start_attempt(run_id, attempt)
        else:
            await self.dispatch_queued()

    async def dispatch_queued(self) -> None:
        """Begins waiting runs, as many as there is room for in this process; else others are told."""
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
        """Whether a run has waited so long for a process with room."""
        return bool(self._settings.runs) and await self._queue.has_waiting(self._database.now() - seconds)

    async def recover_runs(self) -> list[str]:
        """Takes up the runs of workers that died, and ends those of workers that hang; which ones."""
        theirs = [run for run in await self._rows.list_active() if run.id not in self._attempts.active_tasks]
        found = await self._find_lost(theirs) if theirs else []
        for run in found:
            await self._requeue_run(run)
        if found or (self.is_started and self._settings.runs):
            await self.dispatch_queued()
        return [run.id for run in found]

    async def close(self) -> None:
        """Stops working on runs; they stay as they are, and another process or the next start goes on with them."""
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
        """One attempt. If all that it came to ask was answered before it came to rest, nobody else lets it go on."""
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

    # Looking after others' runs, and after those that were cancelled

    def _wake_watcher(self) -> None:
        self._wake_event.set()

    async def _watch_forever(self) -> None:
        watch_interval_s = 0.4  # seconds between looks for dead workers, and for our own runs that somebody cancelled
        while True:
            try:
                await self._stop_cancelled()
                await self.recover_runs()
                if self._locks is not None and not await self._locks.is_held():
                    await self._locks.acquire(self.name)
            except OutriderError as error:
                log.warning("runs cannot be watched: %s", error)
            except Exception:
                log.exception("bug in watching runs")
            self._wake_event = anyio.Event()
            with anyio.move_on_after(watch_interval_s):
                await self._wake_event.wait()

    async def _clean_daily(self) -> None:
        """Lets go of the engine's old notes, now and every day."""
        day_s = 86_400.0  # seconds
        while math.isfinite(self._retention_s):
            try:
                if self._engine is not None:
                    await self._engine.delete_old_attempts(self._database, self._database.now() - self._retention_s)
            except OutriderError as error:
                log.warning("the durable engine's old notes are kept for now: %s", error)
            except Exception:
                log.exception("bug in sweeping the durable engine's notes")
            await anyio.sleep(day_s)

    async def _stop_cancelled(self) -> None:
        for run_id in (
            await self._rows.list_cancelled(list(self._attempts.active_tasks)) if self._attempts.active_tasks else ()
        ):
            if task := self._attempts.active_tasks.get(run_id):
                task.cancel()
                await self.cancel_tree(run_id)

    async def _find_lost(self, theirs: Sequence[ActiveRun]) -> list[ActiveRun]:
        """Those to take up. A process that works on nothing itself only looks, and holds nothing."""
        locks = self._locks or build_locks(self._database)
        try:
            return await find_lost_runs(theirs, self.name, locks, self._database.now())
        finally:
            if locks is not self._locks:
                await locks.close()

    async def _requeue_run(self, run: ActiveRun) -> None:
        """Puts it back among those that wait; one below another goes on here. No two processes can."""
        same = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.status.in_(ACTIVE_STATUSES)
        theirs = runs.c.executor == run.executor if run.executor else runs.c.executor.is_(None)
        here = run.is_child and bool(self._settings.runs)
        values = {"status": "queued", "executor": self.name if here else None}
        if await self._rows.update_runs(*same, theirs, **values):
            log.info("run %s of worker %s is taken up again", run.id, run.executor)
            if here:
                await self.start_attempt(run.id, run.attempt, here=True)


def _import_engine() -> "type[DurableEngine]":
    try:
        from outrider.agents.workers.durable_engine import DurableEngine
    except ImportError:
        from outrider.agents.extra import build_missing_extra_error

        raise build_missing_extra_error() from None
    return DurableEngine
