"""Runs of agents: started, followed, resumed and cancelled from any process that opens the database."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.conversations import Conversation, Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.limits import PARTIAL, Meter, StopReason, Usage
from outrider.agents.locks import FileLocks, Locks, SessionLocks
from outrider.agents.models.access import Models
from outrider.agents.run import ENDED, WORKING, Run, RunRows, Status, Working, new_row
from outrider.agents.settings import AgentsSettings, Api
from outrider.agents.steps import Steps, Superseded
from outrider.agents.stream import Pen, RunEvent, Streams
from outrider.agents.tools import Hands, restricted
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.egress.guard import Guard
from outrider.core.errors import OutriderError
from outrider.core.toolbox import Toolbox

if TYPE_CHECKING:
    from outrider.agents.durable import Engine
    from outrider.agents.runtime import Outcome

log = logging.getLogger(__name__)
WATCH = 0.4  # seconds between looks for dead workers, and for our own runs that somebody cancelled
MIND = 5.0  # seconds between looks for what was left, in a process that has not worked on a run yet
WAITED = 4.0  # seconds after which a run that was to be taken up, and was not, is taken up again
GRACE = 60.0  # seconds after a run's deadline from which on a worker that still holds it is taken to hang
SUCCESS: dict[str, Status] = {"done": "completed", "blocked": "blocked", "cancelled": "cancelled"}


class Runs:
    """All runs in the database, and this process's work on them.

    The engine and the libraries of models are loaded at the first run; following and reading need neither.

    Args:
        database: Holds everything about runs.
        toolboxes: The served tools and all of the house's. Agents of a workspace's file get of the served ones only,
            because such a file may choose and not widen.
        guard: Lets requests to models out.
    """

    def __init__(
        self,
        database: Database,
        settings: AgentsSettings,
        models: Models,
        guard: Guard,
        *,
        toolboxes: Callable[[], tuple[Toolbox, Toolbox]],
        questions: Questions,
        conversations: Conversations,
    ) -> None:
        self.worker = f"w_{uuid.uuid4().hex[:16]}"
        self.streams = Streams(database)
        self.steps = Steps(database, self.worker)
        self._database = database
        self._rows = RunRows(database)
        self._settings = settings
        self._models = models
        self._guard = guard
        self._toolboxes = toolboxes
        self.questions = questions
        self.conversations = conversations
        self._opening = anyio.Lock()
        self._engine: Engine | None = None
        self._locks: Locks | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._active: dict[str, asyncio.Task[Any]] = {}
        self._meters: dict[str, Meter] = {}
        self._slots = anyio.Semaphore(settings.runs)
        self._closing = False

    async def start(
        self,
        agent: Agent,
        query: str,
        call: Call,
        *,
        conversation: Conversation,
        toolsets: Sequence[str] = (),
        files: Sequence[dict[str, Any]] = (),
        budget: Budgets | None = None,
        message_id: str = "",
    ) -> Run:
        """Begins a run and returns at once. The same call of the same parent run begins one only once.

        Args:
            agent: What it is from now on: tools, stakes and budgets are fixed here.
            query: What is asked.
            call: For whom; `call.run` is the run that asks, if one does.
            conversation: Where it speaks.
            toolsets: Further toolsets for this run.
            files: What comes with the question, each with `id` and `title`.
            budget: What the caller allows; the agent's own and the house's budgets hold besides.
            message_id: The message that it answers; posted now if there is none yet.

        Raises:
            NotFound: A tool or toolset that is not offered.
            NotConfigured: No model, or no libraries for agents.
        """
        engine = await self._engine_opened()
        agent = await self._frozen(agent, toolsets, await self._rows.get(call.run.id) if call.run else None)
        await self._models.chain(agent.model)
        posted = (
            message_id
            or (await self.conversations.post(conversation.id, "user", query, agent=agent.name, files=files)).id
        )
        row = new_row(
            agent,
            query,
            call,
            conversation_id=conversation.id,
            message_id=posted,
            depth=conversation.depth,
            ancestors=conversation.ancestors,
            budgets=self._budgets(agent, call, budget),
            state={"given": [dict(each) for each in files]},
            history=await self._history(conversation.id, agent.name),
        )
        run, is_new = await self._rows.add(row)
        if is_new:
            await engine.start(run.id, run.attempt)
        return run

    async def check(self, agent: Agent) -> None:
        """Raises what `start` would: NotFound for a tool that is not offered, NotConfigured without a model."""
        await self._frozen(agent, (), None)
        await self._models.chain(agent.model)

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """What happens, as it happens, until the run ends or waits for a person. Raises NotFound."""
        return self.streams.follow(run_id, after)

    async def get(self, run_id: str) -> Run:
        """The run as it is now. Raises NotFound."""
        return await self._rows.get(run_id)

    async def usage(self, run_id: str) -> Usage:
        """What the run and all below it have used."""
        total = Usage.of((await self._rows.get(run_id)).usage)
        return total + await self._below(run_id)

    async def resume(self, run_id: str) -> Run:
        """A new attempt of a blocked run; of any other, the run as it is."""
        from outrider.agents.tables import runs

        run = await self._rows.get(run_id)
        if run.status != "blocked":
            return run
        engine = await self._engine_opened()
        same = runs.c.id == run.id, runs.c.status == "blocked", runs.c.attempt == run.attempt
        if await self._rows.change(*same, status="queued", attempt=run.attempt + 1, executor=None):
            told = {"status": "queued", "attempt": run.attempt + 1}
            await self.streams.append(run.id, [("status", told)])
            await engine.start(run.id, run.attempt + 1)
        return await self._rows.get(run_id)

    async def cancel(self, run_id: str) -> None:
        """Ends the run and all below it, whoever works on them. What is over stays as it is."""
        for each in [run_id, *(below.id for below in await self._rows.below(run_id))]:
            await self._cancelled(await self._rows.get(each))

    async def recover(self) -> list[str]:
        """Takes up the runs of workers that died, and ends those of workers that hang; which ones."""
        theirs = [run for run in await self._rows.working() if run.id not in self._active]
        lost = await self._lost(theirs) if theirs else []
        for run in lost:
            await self._retake(await self._engine_opened(), run)
        return [run.id for run in lost]

    async def mind(self) -> None:
        """Looks after what a dead process left, until cancelled; run it as a task beside the tools.

        It begins when the database is opened for something else, and loads nothing heavy while nothing is left.
        """
        await self._database.used.wait()
        while True:
            if self._engine is None:  # afterwards its own watcher looks, and more often
                try:
                    await self.recover()
                except OutriderError as error:
                    log.warning("runs that were left cannot be taken up: %s", error)
            await anyio.sleep(MIND)

    async def close(self) -> None:
        """Stops working on runs; they stay as they are, and another process or the next start goes on with them."""
        self._closing = True
        tasks = [task for task in (self._watcher, *self._active.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
        if self._locks is not None:
            await self._locks.close()
        self._engine = self._locks = self._watcher = None
        self._closing = False

    async def _below(self, run_id: str) -> Usage:
        return sum((Usage.of(each.usage) for each in await self._rows.below(run_id)), Usage())

    # What is fixed at the start

    async def _frozen(self, agent: Agent, toolsets: Sequence[str], above: Run | None) -> Agent:
        """The agent with its tools by name, as they are offered now.

        A run that begins another may hand on the tools that it has itself. Of others that it asks for each call is a
        question for a person: what a page or a tool's result talked it into must not widen anybody's rights.
        """
        wanted = agent.model_copy(update={"toolsets": [*agent.toolsets, *toolsets]})
        served, every = await self._boxes()
        house = served if agent.origin == "workspace" else every
        seen = restricted(house, wanted)
        stakes = dict(seen.policy.stakes)
        if above is not None:
            known = {*restricted(house, agent).tools, *above.definition.get("tools", ())}
            stakes |= {name: "high" for name in seen.tools if name not in known}
        return wanted.model_copy(update={"toolsets": [], "tools": list(seen.tools), "stakes": stakes})

    def _budgets(self, agent: Agent, call: Call, budget: Budgets | None) -> Budgets:
        """The agent's budgets, filled in by the house's, under the caller's and what the run above has left."""
        house = self._settings.budgets
        own = agent.budgets.within(house) if agent.origin == "workspace" else agent.budgets.over(house)
        above = self._meters.get(call.run.id) if call.run else None
        limited = own.within(budget) if budget else own
        return limited.within(above.left) if above else limited

    async def _history(self, conversation_id: str, agent: str) -> list[Any] | None:
        """What the agent remembers of the conversation: the messages of its last finished run there."""
        from outrider.agents.tables import runs

        done = (
            runs.c.conversation_id == conversation_id,
            runs.c.agent == agent,
            runs.c.status.in_(("completed", "partial")),
        )
        earlier = await self._rows.where(*done, runs.c.history.is_not(None))
        return earlier[-1].history if earlier else None

    # Working

    async def _engine_opened(self) -> "Engine":
        async with self._opening:
            if self._engine is None:
                engine_type = await anyio.to_thread.run_sync(_engine_type)
                locks = _locks(self._database)
                await locks.hold(self.worker)
                engine = engine_type(self._database.url, self.worker, self._attempted)
                try:
                    await engine.open()
                except BaseException:
                    await locks.close()
                    raise
                self._engine, self._locks = engine, locks
                self._watcher = asyncio.get_running_loop().create_task(self._watch())
            return self._engine

    async def _watch(self) -> None:
        while True:
            try:
                await self._stop_cancelled()
                await self.recover()
                if self._locks is not None and not await self._locks.held():
                    await self._locks.hold(self.worker)
            except OutriderError as error:
                log.warning("runs cannot be watched: %s", error)
            await anyio.sleep(WATCH)

    async def _stop_cancelled(self) -> None:
        for run_id in await self._rows.cancelled(list(self._active)) if self._active else ():
            if task := self._active.get(run_id):
                task.cancel()

    async def _attempted(self, run_id: str, attempt: int) -> None:
        """One attempt, from the row to the row."""
        run = await self._rows.get(run_id)
        if run.attempt != attempt or run.status not in WORKING:
            return
        task = asyncio.current_task()
        assert task is not None
        self._active[run_id] = task
        try:
            await self._rows.take(run, self.worker)
            # Who waits for a run below holds a place meanwhile: those below need none, or all would wait for ever.
            async with self._slots if run.parent_run_id is None else nullcontext():
                await self._worked(run)
        except asyncio.CancelledError:
            if self._closing or not (await self._rows.get(run_id)).ended:
                raise
            task.uncancel()  # the run was cancelled, not the work on it: the attempt ends as any other
        except Exception as error:
            outcome = _bug(run, error)
            await self._rows.finish(run, self.worker, status="failed", stop_reason="error", error=outcome.error)
            raise
        finally:
            self._active.pop(run_id, None)
            self._meters.pop(run_id, None)

    async def _worked(self, run: Run) -> None:
        if not await self._rows.claim(run, self.worker):
            return
        run = await self._rows.get(run.id)
        pen = Pen(self.streams, run.id, self._settings.stream_ms / 1000)
        await self.streams.append(run.id, [("status", {"status": "running", "attempt": run.attempt})])
        writing = asyncio.get_running_loop().create_task(pen.write_forever())
        try:
            meter = Meter(
                Budgets.model_validate(run.budgets), own=Usage.of(run.usage), before=run.state.get("seconds", 0.0)
            )
            self._meters[run.id] = meter
            hands: Hands | None = None
            try:
                hands = await self._hands(run, pen)
                outcome = await self._thought(run, hands, pen, meter)
            except Superseded:
                return
            except OutriderError as error:
                outcome = _broken("no_model" if error.code == "no_model" else "error", error)
            except Exception as error:  # noqa: BLE001 - the run ends with it
                outcome = _bug(run, error)
            await pen.flush()
            await self._ended(run, hands, meter, outcome)
        finally:
            writing.cancel()

    async def _boxes(self) -> tuple[Toolbox, Toolbox]:
        """The served tools and all, with the agents that there are now."""
        boxes = self._toolboxes()
        for each in boxes:
            await each.refresh()
        return boxes

    async def _hands(self, run: Run, pen: Pen) -> Hands:
        agent = Agent.model_validate(run.definition).model_copy(update={"origin": "home"})
        toolbox = restricted((await self._boxes())[1], agent)
        return Hands(run, toolbox, self.steps, self.questions, pen, width=self._settings.width)

    async def _thought(self, run: Run, hands: Hands, pen: Pen, meter: Meter) -> "Outcome":
        chain = await self._models.chain(Agent.model_validate(run.definition).model)
        runtime = await anyio.to_thread.run_sync(_runtime, [each.api for each in chain])
        engine = self._engine
        assert engine is not None

        async def note(number: int, usage: dict[str, Any], model: str, seconds: float) -> None:
            await self.steps.model(run, number, usage, model, seconds)

        async def below() -> Usage:
            return await self._below(run.id) if begins else Usage()

        begins = any(tool.toolset == "run_agent" for tool in hands.toolbox.tools.values())
        work = runtime.Attempt(
            run=run,
            chain=chain,
            guard=self._guard,
            hands=hands,
            pen=pen,
            meter=meter,
            remember=engine.step,
            note_model=note,
            count_below=below,
        )
        return await runtime.attempt(work)

    async def _ended(self, run: Run, hands: Hands | None, meter: Meter, outcome: "Outcome") -> None:
        """Writes down how the attempt ended, tells the followers, and posts the answer."""
        status = _status(outcome)
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
        if not await self._rows.finish(run, self.worker, **values):
            return
        if outcome.answer and status in ENDED:
            await self.conversations.post(
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
        await self.streams.append(run.id, [("status", told | ({"error": outcome.error} if outcome.error else {}))])

    async def _cancelled(self, run: Run) -> None:
        from outrider.agents.tables import runs

        open_ = runs.c.id == run.id, runs.c.status.not_in(ENDED)
        values = {"status": "cancelled", "stop_reason": "cancelled", "ended_at": time.time()}
        if not await self._rows.change(*open_, **values):
            return
        told = {"status": "cancelled", "attempt": run.attempt, "stop_reason": "cancelled"}
        await self.streams.append(run.id, [("status", told)])
        if task := self._active.get(run.id):
            task.cancel()
        if self._engine is not None:
            await self._engine.cancel([run.workflow])

    # Taking over

    async def _lost(self, theirs: Sequence[Working]) -> list[Working]:
        """Those whose worker is dead or hangs. A process that works on nothing itself only looks, and holds nothing."""
        locks = self._locks or _locks(self._database)
        try:
            return [run for run in theirs if await self._is_lost(run, locks)]
        finally:
            if locks is not self._locks:
                await locks.close()

    async def _is_lost(self, run: Working, locks: Locks) -> bool:
        if run.executor in (None, self.worker):  # about to be taken up, unless whoever was to do it is dead
            return time.time() - run.updated_at > WAITED
        hangs = run.deadline is not None and time.time() > run.deadline + GRACE
        return hangs or await locks.is_dead(run.executor)

    async def _retake(self, engine: "Engine", run: Working) -> None:
        """Goes on with the attempt here or wherever DBOS finds room; no two processes can."""
        from outrider.agents.tables import runs

        same = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.status.in_(WORKING)
        theirs = runs.c.executor == run.executor if run.executor else runs.c.executor.is_(None)
        if await self._rows.change(*same, theirs, executor=self.worker, status="queued"):
            log.info("run %s of worker %s is taken up again", run.id, run.executor)
            await engine.resume([run.workflow])
            await engine.start(run.id, run.attempt)


def _status(outcome: "Outcome") -> Status:
    if outcome.reason in SUCCESS:
        return SUCCESS[outcome.reason]
    return "partial" if outcome.reason in PARTIAL and outcome.answer else "failed"


def _broken(reason: StopReason, error: OutriderError) -> "Outcome":
    from outrider.agents.runtime import Outcome

    return Outcome(reason, error=error.to_dict())


def _bug(run: Run, error: Exception) -> "Outcome":
    from outrider.agents.runtime import Outcome

    incident = uuid.uuid4().hex[:8]
    log.error("bug %s in run %s", incident, run.id, exc_info=error)
    return Outcome("error", error={"code": "bug", "message": f"a bug in Outrider (incident {incident})"})


def _locks(database: Database) -> Locks:
    if database.dialect == "sqlite":
        from sqlalchemy import make_url

        return FileLocks(Path(make_url(database.url).database or ".").parent / "workers")
    return SessionLocks(database)


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
