"""One attempt at a run, from the row to the row: who thinks, with which tools, and how it ended."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import anyio

from outrider.agents.admission import Spending
from outrider.agents.conversations import message_of
from outrider.agents.definition import Agent, Budgets
from outrider.agents.events.stream import Pen, Streams
from outrider.agents.limits import Meter, Usage
from outrider.agents.means import Means
from outrider.agents.models.access import WAYS, Access, borrowed
from outrider.agents.outcome import Outcome, broken, bug, is_outage
from outrider.agents.remote import kept
from outrider.agents.rights import restricted
from outrider.agents.run import ENDED, WORKING, Run, RunRows
from outrider.agents.settings import Api
from outrider.agents.steps import Steps, Superseded
from outrider.agents.tools import Hands
from outrider.core.collecting import keep_imports
from outrider.core.context import Lender
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.toolbox import Toolbox

log = logging.getLogger(__name__)


class Attempts:
    """Works on runs that are this process's; the libraries of models are loaded at the first of them.

    Args:
        worker: This process's name, by which a run's row says whose it is.

    Attributes:
        active: The attempts under way, by run.
        closing: Whoever is cancelled from now on is so because the process ends.
        steps: What the runs have done.
        meters: What the runs under way use.
        lenders: The models of clients that wait for their runs, by run.
        spending: Asked before each request to a model, where money is limited: runs at the same time share it.
    """

    def __init__(self, worker: str, means: Means, streams: Streams) -> None:
        self.active: dict[str, asyncio.Task[Any]] = {}
        self.closing = False
        self.steps = Steps(means.database, worker)
        self.meters: dict[str, Meter] = {}
        self.lenders: dict[str, Lender] = {}
        self.spending: Spending | None = None
        self._worker = worker
        self._streams = streams
        self._means = means
        self._rows = RunRows(means.database)

    async def boxes(self) -> tuple[Toolbox, Toolbox]:
        """The served tools and all, with the agents that there are now."""
        boxes = self._means.toolboxes()
        for each in boxes:
            await each.refresh()
        return boxes

    async def below(self, run_id: str) -> Usage:
        """What the runs have used that this one began, and those that they began."""
        return sum((Usage.of(each.usage) for each in await self._rows.below(run_id)), Usage())

    async def make(self, run_id: str, attempt: int) -> None:
        """Makes that attempt, unless it is under way here, over, or another process's."""
        if run_id in self.active:
            return
        task = asyncio.current_task()
        assert task is not None
        self.active[run_id] = task
        try:
            run = await self._rows.get(run_id)
            if run.attempt == attempt and run.status in WORKING:
                await self._tried(run)
        except asyncio.CancelledError:
            if self.closing or not (await self._rows.get(run_id)).ended:
                raise
            task.uncancel()  # the run was cancelled, not the work on it: the attempt ends as any other
        finally:
            self.active.pop(run_id, None)
            self.meters.pop(run_id, None)
            self.lenders.pop(run_id, None)

    async def _tried(self, run: Run) -> None:
        """Works on it; a database that fails leaves it as it is, to be taken up again when that is back."""
        try:
            await self._worked(run)
        except Exception as error:
            if is_outage(error):
                log.warning("run %s waits for the database: %s", run.id, error)
                return
            outcome = bug(run, error)
            await self._rows.finish(run, self._worker, status="failed", stop_reason="error", error=outcome.error)
            raise

    async def _worked(self, run: Run) -> None:
        if not await self._rows.claim(run, self._worker):
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
        servers = self._means.servers
        remote = await kept(servers, agent.mcp, set(agent.tools) - set(every.tools)) if servers else {}
        toolbox = restricted(every, agent, remote)
        return Hands(run, toolbox, self.steps, self._means.questions, pen, width=self._means.settings.width)

    async def _thought(self, run: Run, hands: Hands, pen: Pen, meter: Meter) -> Outcome:
        chain = await self._chain(run)
        runtime = await anyio.to_thread.run_sync(_runtime, [each.api for each in chain if each.lender is None])

        async def below() -> Usage:
            return await self.below(run.id) if begins else Usage()

        begins = any(tool.toolset == "run_agent" for tool in hands.toolbox.tools.values())
        work = runtime.Attempt(
            run=run,
            chain=chain,
            guard=self._means.guard,
            sealing=self._means.sealing,
            hands=hands,
            pen=pen,
            meter=meter,
            remember=partial(self._affordable, run),
            count_below=below,
        )
        return await runtime.attempt(work)

    async def _affordable(
        self, run: Run, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> dict[str, Any]:
        """`Steps.once`, for what its person can still pay."""

        async def asked() -> dict[str, Any]:
            why = await self.spending(run.workspace, run.identity) if self.spending and kind == "model" else None
            return {"stop": ["cost", why]} if why else await work()

        return await self.steps.once(run, number, asked, kind)

    async def _chain(self, run: Run) -> list[Access]:
        """The models that the run may ask. Raises NotConfigured and InvalidInput."""
        if not run.state.get("lent"):
            return await self._means.models.chain(Agent.model_validate(run.definition).model)
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
        thoughts = outcome.thoughts if self._means.settings.keep_thoughts else ""
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
        answer = outcome.answer if status in ENDED else ""
        said = message_of(
            run.conversation_id,
            "agent",
            answer,
            agent=run.agent,
            thoughts=thoughts,
            citations=state.get("citations"),
            files=state.get("files", ()),
            run_id=run.id,
            status=status,
        )
        if not await self._rows.finish(run, self._worker, said if answer else None, **values):
            return
        told = {"status": status, "attempt": run.attempt, "stop_reason": outcome.reason}
        await self._streams.append(run.id, [("status", told | ({"error": outcome.error} if outcome.error else {}))])


def _runtime(apis: Sequence[Api]) -> Any:
    """The module that thinks, with the vendors' libraries: seconds of imports, so not on the thread of the events."""
    from outrider.agents import runtime
    from outrider.agents.models import wire

    for api in apis:
        wire.load(api)
        keep_imports(f"models of {api}")
    return runtime
