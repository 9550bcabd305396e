"""This process's work on runs: attempts from the row to the row, and taking up what dead processes left."""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.bell import WAITING, ring
from outrider.agents.conversations import Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.limits import Meter, Usage
from outrider.agents.locks import Locks
from outrider.agents.models.access import WAYS, Access, Models, borrowed
from outrider.agents.outcome import Outcome, broken, bug, is_outage
from outrider.agents.queue import Queue
from outrider.agents.remote import Servers, kept
from outrider.agents.rights import restricted
from outrider.agents.run import ENDED, WORKING, Run, RunRows, Working
from outrider.agents.sealing import Sealing
from outrider.agents.settings import AgentsSettings, Api
from outrider.agents.steps import Steps, Superseded
from outrider.agents.stream import Pen, Streams
from outrider.agents.takeover import locks_of, lost
from outrider.agents.tools import Hands
from outrider.core.context import Lender
from outrider.core.db import Database
from outrider.core.egress.guard import Guard
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.toolbox import Toolbox

if TYPE_CHECKING:
    from outrider.agents.durable import Engine

log = logging.getLogger(__name__)
WATCH = 0.4  # seconds between looks for dead workers, and for our own runs that somebody cancelled


class Worker:
    """Works on runs in one process; the engine and the libraries of models are loaded at the first of them.

    Attributes:
        name: By which other processes know it.
        steps: What the runs have done.
        meters: What the runs under way use.
        lenders: The models of clients that wait for their runs, by run.
        answered: Lets a run go on that waits for nobody.
    """

    def __init__(  # noqa: PLR0913 - all that runs need of the house
        self,
        database: Database,
        settings: AgentsSettings,
        models: Models,
        guard: Guard,
        *,
        streams: Streams,
        toolboxes: Callable[[], tuple[Toolbox, Toolbox]],
        questions: Questions,
        conversations: Conversations,
        sealing: Sealing,
        servers: Servers | None = None,
    ) -> None:
        self.name = f"w_{uuid.uuid4().hex[:16]}"
        self._streams = streams
        self.steps = Steps(database, self.name)
        self.meters: dict[str, Meter] = {}
        self.lenders: dict[str, Lender] = {}
        self._database = database
        self._rows = RunRows(database)
        self._settings = settings
        self._models = models
        self._guard = guard
        self._toolboxes = toolboxes
        self._questions = questions
        self._conversations = conversations
        self._servers = servers
        self._sealing = sealing
        self._opening = anyio.Lock()
        self._engine: Engine | None = None
        self._locks: Locks | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._active: dict[str, asyncio.Task[Any]] = {}
        self._queue = Queue(database, settings.limits)
        self._places: set[str] = set()  # outermost runs that this process has taken
        self._taking = anyio.Lock()
        self._woken = anyio.Event()  # something may have changed
        self._closing = False
        self._resting: set[asyncio.Task[Any]] = set()  # what has come to the end of an attempt just now
        self.answered: Callable[[Run], Awaitable[None]] | None = None

    @property
    def works(self) -> bool:
        """Whether it has begun: it then looks after what others leave by itself."""
        return self._engine is not None

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way."""
        return bool(self._active)

    async def opened(self) -> "Engine":
        """The engine, with this worker known to the others. Raises NotConfigured without the libraries for agents."""
        async with self._opening:
            if self._engine is None:
                engine_type = await anyio.to_thread.run_sync(_engine_type)
                locks = locks_of(self._database)
                await locks.hold(self.name)
                engine = engine_type(self._database.url, self.name, self._attempted_and_answered)
                try:
                    await engine.open()
                except BaseException:
                    await locks.close()
                    raise
                self._engine, self._locks = engine, locks
                self._streams.waiting = self._wake
                self._streams.bell.listen()
                self._watcher = asyncio.get_running_loop().create_task(self._watch())
            return self._engine

    async def boxes(self) -> tuple[Toolbox, Toolbox]:
        """The served tools and all, with the agents that there are now."""
        boxes = self._toolboxes()
        for each in boxes:
            await each.refresh()
        return boxes

    async def below(self, run_id: str) -> Usage:
        """What the runs have used that this one began, and those that they began."""
        return sum((Usage.of(each.usage) for each in await self._rows.below(run_id)), Usage())

    async def cancel(self, run: Run) -> None:
        """Ends the run, whoever works on it; what is over stays as it is."""
        from outrider.agents.tables import runs

        open_ = runs.c.id == run.id, runs.c.status.not_in(ENDED)
        values = {"status": "cancelled", "stop_reason": "cancelled", "ended_at": time.time()}
        if not await self._rows.change(*open_, **values):
            return
        told = {"status": "cancelled", "attempt": run.attempt, "stop_reason": "cancelled"}
        await self._streams.append(run.id, [("status", told)])
        if task := self._active.get(run.id):
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
        if self._closing:
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
        theirs = [run for run in await self._rows.working() if run.id not in self._active]
        found = await self._lost(theirs) if theirs else []
        for run in found:
            await self._retake(run)
        if found or (self.works and self._settings.runs):
            await self.dispatch()
        return [run.id for run in found]

    async def close(self) -> None:
        """Stops working on runs; they stay as they are, and another process or the next start goes on with them."""
        self._closing = True
        tasks = [task for task in (self._watcher, *self._active.values(), *self._resting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
        if self._locks is not None:
            await self._locks.close()
        self._engine = self._locks = self._watcher = None
        self._closing = False

    # One attempt

    async def _attempted_and_answered(self, run_id: str, attempt: int) -> None:
        """One attempt. If all that it came to ask was answered before it came to rest, nobody else lets it go on."""
        await self._attempted(run_id, attempt)
        if self._closing or self.answered is None:
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

    async def _attempted(self, run_id: str, attempt: int) -> None:
        """One attempt, from the row to the row."""
        if run_id in self._active:
            return
        task = asyncio.current_task()
        assert task is not None
        self._active[run_id] = task
        try:
            run = await self._rows.get(run_id)
            if run.attempt == attempt and run.status in WORKING:
                await self._tried(run)
        except asyncio.CancelledError:
            if self._closing or not (await self._rows.get(run_id)).ended:
                raise
            task.uncancel()  # the run was cancelled, not the work on it: the attempt ends as any other
        finally:
            self._active.pop(run_id, None)
            self._places.discard(run_id)
            self.meters.pop(run_id, None)
            self.lenders.pop(run_id, None)
            self._woken.set()

    async def _tried(self, run: Run) -> None:
        """Works on it; a database that fails leaves it as it is, to be taken up again when that is back."""
        try:
            await self._worked(run)
        except Exception as error:
            if is_outage(error):
                log.warning("run %s waits for the database: %s", run.id, error)
                return
            outcome = bug(run, error)
            await self._rows.finish(run, self.name, status="failed", stop_reason="error", error=outcome.error)
            raise

    async def _worked(self, run: Run) -> None:
        if not await self._rows.claim(run, self.name):
            return
        run = await self._rows.get(run.id)
        pen = Pen(self._streams, run.id)
        await self._streams.open(run.id)
        try:
            await self._streams.append(run.id, [("status", {"status": "running", "attempt": run.attempt})])
            meter = Meter(
                Budgets.model_validate(run.budgets), own=Usage.of(run.usage), before=run.state.get("seconds", 0.0)
            )
            self.meters[run.id] = meter
            hands: Hands | None = None
            try:
                hands = await self._hands(run, pen)
                outcome = await self._thought(run, hands, pen, meter)
            except Superseded:
                return
            except Exception as error:
                if is_outage(error):
                    raise
                outcome = broken(error) if isinstance(error, OutriderError) else bug(run, error)
            await pen.flush()
            await self._ended(run, hands, meter, outcome)
        finally:
            self._streams.shut(run.id)

    async def _hands(self, run: Run, pen: Pen) -> Hands:
        agent = Agent.model_validate(run.definition).model_copy(update={"origin": "home"})
        every = (await self.boxes())[1]
        remote = await kept(self._servers, agent.mcp, set(agent.tools) - set(every.tools)) if self._servers else {}
        toolbox = restricted(every, agent, remote)
        return Hands(run, toolbox, self.steps, self._questions, pen, width=self._settings.width)

    async def _thought(self, run: Run, hands: Hands, pen: Pen, meter: Meter) -> Outcome:
        chain = await self._chain(run)
        runtime = await anyio.to_thread.run_sync(_runtime, [each.api for each in chain if each.lender is None])

        async def below() -> Usage:
            return await self.below(run.id) if begins else Usage()

        begins = any(tool.toolset == "run_agent" for tool in hands.toolbox.tools.values())
        work = runtime.Attempt(
            run=run,
            chain=chain,
            guard=self._guard,
            sealing=self._sealing,
            hands=hands,
            pen=pen,
            meter=meter,
            remember=partial(self.steps.once, run),
            count_below=below,
        )
        return await runtime.attempt(work)

    async def _chain(self, run: Run) -> list[Access]:
        """The models that the run may ask. Raises NotConfigured and InvalidInput."""
        if not run.state.get("lent"):
            return await self._models.chain(Agent.model_validate(run.definition).model)
        if run.id not in self.lenders:
            raise NotConfigured(
                "the client that lent its model to this run is gone",
                hint=f"call the agent again, or configure a model: {WAYS}",
                code="no_model",
            )
        return [borrowed(self.lenders[run.id])]

    async def _ended(self, run: Run, hands: Hands | None, meter: Meter, outcome: Outcome) -> None:
        """Writes down how the attempt ended, tells the followers, and posts the answer."""
        status = outcome.status
        state: dict[str, Any] = run.state | {"seconds": round(meter.seconds, 3)}
        if hands is not None:
            state |= {"citations": hands.citations, "files": hands.files}
        thoughts = outcome.thoughts if self._settings.keep_thoughts else ""
        values: dict[str, Any] = {
            "status": status,
            "stop_reason": outcome.reason,
            "usage": meter.own.facts(),
            "cost": meter.own.cost,
            "answer": outcome.answer,
            "thoughts": thoughts,
            "error": outcome.error,
            "state": state,
            "model": outcome.model or run.model,
            "ended_at": time.time() if status in ENDED else None,
        }
        if outcome.history is not None:
            values["history"] = outcome.history
        if not await self._rows.finish(run, self.name, **values):
            return
        if outcome.answer and status in ENDED:
            await self._conversations.post(
                run.conversation_id,
                "agent",
                outcome.answer,
                agent=run.agent,
                thoughts=thoughts,
                citations=state.get("citations"),
                files=state.get("files", ()),
                run_id=run.id,
                status=status,
            )
        told = {"status": status, "attempt": run.attempt, "stop_reason": outcome.reason}
        await self._streams.append(run.id, [("status", told | ({"error": outcome.error} if outcome.error else {}))])

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

    async def _stop_cancelled(self) -> None:
        for run_id in await self._rows.cancelled(list(self._active)) if self._active else ():
            if task := self._active.get(run_id):
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
        from outrider.agents.tables import runs

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
        from outrider.agents.durable import Engine
    except ImportError:
        from outrider.agents.extra import missing

        raise missing() from None
    return Engine


def _runtime(apis: Sequence[Api]) -> Any:
    """The module that thinks, with the vendors' libraries: seconds of imports, so not on the thread of the events."""
    from outrider.agents import runtime
    from outrider.agents.models import wire

    for api in apis:
        wire.load(api)
    return runtime
