"""This process among the workers: which runs it takes, and which it takes up that dead processes left."""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.admission import Spending
from outrider.agents.events.bell import WAITING, ring
from outrider.agents.events.stream import Streams
from outrider.agents.means import Means
from outrider.agents.run import ENDED, WORKING, Run, RunRows, Working
from outrider.agents.tables import runs
from outrider.agents.working.attempts import Attempts
from outrider.agents.working.locks import Locks
from outrider.agents.working.queue import Queue
from outrider.agents.working.takeover import locks_of, lost
from outrider.core.collecting import keep_imports
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.agents.working.durable import Engine

log = logging.getLogger(__name__)
DAY = 86_400.0  # seconds
WATCH = 0.4  # seconds between looks for dead workers, and for our own runs that somebody cancelled


class Worker:
    """Works on runs in one process; the engine and the libraries of models are loaded at the first of them.

    Attributes:
        name: By which other processes know it.
        steps: What the runs have done.
        meters: What the runs under way use.
        lenders: The models of clients that wait for their runs, by run.
        boxes: The served tools and all, with the agents that there are now.
        below: What the runs have used that a run began, and those that they began.
        answered: Lets a run go on that waits for nobody.
    """

    def __init__(self, means: Means, streams: Streams) -> None:
        self.name = f"w_{uuid.uuid4().hex[:16]}"
        self._attempts = Attempts(self.name, means, streams)
        self.steps, self.meters = self._attempts.steps, self._attempts.meters
        self.lenders = self._attempts.lenders
        self.boxes, self.below = self._attempts.boxes, self._attempts.below
        self.answered: Callable[[Run], Awaitable[None]] | None = None
        self._streams = streams
        self._database = means.database
        self._rows = RunRows(means.database)
        self._settings = means.settings
        self._kept = means.kept
        self._opening = anyio.Lock()
        self._engine: Engine | None = None
        self._locks: Locks | None = None
        self._minding: list[asyncio.Task[None]] = []
        self._queue = Queue(means.database, means.settings.limits)
        self._places: set[str] = set()  # outermost runs that this process has taken
        self._taking = anyio.Lock()
        self._woken = anyio.Event()  # something may have changed
        self._resting: set[asyncio.Task[Any]] = set()  # what has come to the end of an attempt just now

    def limit_spending(self, spending: Spending | None) -> None:
        """Has it asked before each request to a model."""
        self._attempts.spending = spending

    @property
    def works(self) -> bool:
        """Whether it has begun: it then looks after what others leave by itself."""
        return self._engine is not None

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way."""
        return bool(self._attempts.active)

    async def opened(self) -> "Engine":
        """The engine, with this worker known to the others. Raises NotConfigured without the libraries for agents."""
        async with self._opening:
            if self._engine is None:
                engine_type = await anyio.to_thread.run_sync(_engine_type)
                locks = locks_of(self._database)
                await locks.hold(self.name)
                engine = engine_type(self._database.url, self.name, self._attempted)
                try:
                    await engine.open()
                except BaseException:
                    await locks.close()
                    raise
                self._engine, self._locks = engine, locks
                self._streams.waiting = self._wake
                self._streams.bell.listen()
                keep_imports("workers")
                loop = asyncio.get_running_loop()
                self._minding = [loop.create_task(work()) for work in (self._watch, self._sweep)]
            return self._engine

    async def cancel(self, run: Run) -> None:
        """Ends the run, whoever works on it; what is over stays as it is."""
        open_ = runs.c.id == run.id, runs.c.status.not_in(ENDED)
        values = {"status": "cancelled", "stop_reason": "cancelled", "ended_at": time.time()}
        if not await self._rows.change(*open_, **values):
            return
        told = {"status": "cancelled", "attempt": run.attempt, "stop_reason": "cancelled"}
        await self._streams.append(run.id, [("status", told)])
        if task := self._attempts.active.get(run.id):
            task.cancel()

    async def cancel_tree(self, run_id: str) -> None:
        """Ends the run and all below it, also what is begun there meanwhile."""
        ended: set[str] = set()
        while left := {run_id, *(each.id for each in await self._rows.below(run_id))} - ended:
            for each in left:
                await self.cancel(await self._rows.get(each))
            ended |= left

    async def begin(self, run_id: str, attempt: int, *, here: bool) -> None:
        """Lets a queued attempt begin, now or when it is its turn.

        Args:
            run_id: Of the run; its row says that it is queued.
            attempt: Which one.
            here: It is this process's already, and needs no turn.
        """
        if here:
            await (await self.opened()).start(run_id, attempt)
        else:
            await self.dispatch()

    async def dispatch(self) -> None:
        """Begins waiting runs, as many as there is room for in this process; else others are told."""
        if self._attempts.closing:
            return
        if not self._settings.runs:
            await self._database.short(lambda connection: ring(connection, [WAITING]), write=True)
            return
        engine = await self.opened()
        async with self._taking:
            for run in await self._queue.take(self.name, self._settings.runs - len(self._places)):
                self._places.add(run.id)
                try:
                    await engine.start(run.id, run.attempt)
                except BaseException:
                    self._places.discard(run.id)
                    raise

    async def waits(self, seconds: float) -> bool:
        """Whether a run has waited so long for a process with room."""
        return bool(self._settings.runs) and await self._queue.waits(self._database.now() - seconds)

    async def recover(self) -> list[str]:
        """Takes up the runs of workers that died, and ends those of workers that hang; which ones."""
        theirs = [run for run in await self._rows.working() if run.id not in self._attempts.active]
        found = await self._lost(theirs) if theirs else []
        for run in found:
            await self._retake(run)
        if found or (self.works and self._settings.runs):
            await self.dispatch()
        return [run.id for run in found]

    async def close(self) -> None:
        """Stops working on runs; they stay as they are, and another process or the next start goes on with them."""
        self._attempts.closing = True
        tasks = [*self._minding, *self._attempts.active.values(), *self._resting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
        if self._locks is not None:
            await self._locks.close()
        self._engine = self._locks = None
        self._minding = []
        self._attempts.closing = False

    async def _attempted(self, run_id: str, attempt: int) -> None:
        """One attempt. If all that it came to ask was answered before it came to rest, nobody else lets it go on."""
        try:
            await self._attempts.make(run_id, attempt)
        finally:
            if run_id not in self._attempts.active:
                self._places.discard(run_id)
            self._woken.set()
        if self._attempts.closing or self.answered is None:
            return
        task = asyncio.current_task()
        assert task is not None
        self._resting.add(task)
        try:
            run = await self._rows.get(run_id)
            if run.status == "blocked" and run.attempt == attempt:
                await self.answered(run)
        finally:
            self._resting.discard(task)

    # Looking after others' runs, and after those that were cancelled

    def _wake(self) -> None:
        self._woken.set()

    async def _watch(self) -> None:
        while True:
            try:
                await self._stop_cancelled()
                await self.recover()
                if self._locks is not None and not await self._locks.held():
                    await self._locks.hold(self.name)
            except OutriderError as error:
                log.warning("runs cannot be watched: %s", error)
            except Exception:
                log.exception("bug in watching runs")
            self._woken = anyio.Event()
            with anyio.move_on_after(WATCH):
                await self._woken.wait()

    async def _sweep(self) -> None:
        """Lets go of the engine's old notes, now and every day."""
        while math.isfinite(self._kept):
            try:
                if self._engine is not None:
                    await self._engine.sweep(self._database, self._database.now() - self._kept)
            except OutriderError as error:
                log.warning("the durable engine's old notes are kept for now: %s", error)
            except Exception:
                log.exception("bug in sweeping the durable engine's notes")
            await anyio.sleep(DAY)

    async def _stop_cancelled(self) -> None:
        for run_id in await self._rows.cancelled(list(self._attempts.active)) if self._attempts.active else ():
            if task := self._attempts.active.get(run_id):
                task.cancel()
                await self.cancel_tree(run_id)

    async def _lost(self, theirs: Sequence[Working]) -> list[Working]:
        """Those to take up. A process that works on nothing itself only looks, and holds nothing."""
        locks = self._locks or locks_of(self._database)
        try:
            return await lost(theirs, self.name, locks, self._database.now())
        finally:
            if locks is not self._locks:
                await locks.close()

    async def _retake(self, run: Working) -> None:
        """Puts it back among those that wait; one below another goes on here. No two processes can."""
        same = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.status.in_(WORKING)
        theirs = runs.c.executor == run.executor if run.executor else runs.c.executor.is_(None)
        here = run.below and bool(self._settings.runs)
        values = {"status": "queued", "executor": self.name if here else None}
        if await self._rows.change(*same, theirs, **values):
            log.info("run %s of worker %s is taken up again", run.id, run.executor)
            if here:
                await self.begin(run.id, run.attempt, here=True)


def _engine_type() -> "type[Engine]":
    try:
        from outrider.agents.working.durable import Engine
    except ImportError:
        from outrider.agents.extra import missing

        raise missing() from None
    return Engine
