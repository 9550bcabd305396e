"""One attempt at a run, from the row to the row: who thinks, with which tools, and how it ended."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import anyio

from outrider.agents.conversations import build_message
from outrider.agents.definition import Agent, Budgets
from outrider.agents.dependencies import AgentDependencies
from outrider.agents.events.stream import EventStreams, EventWriter
from outrider.agents.limits import BudgetMeter, RunUsage
from outrider.agents.models.access import MODEL_SETUP_HINT, ModelAccess, build_client_access
from outrider.agents.outcome import AttemptOutcome, build_bug_outcome, build_error_outcome, is_outage
from outrider.agents.quota_check import SpendingCheck
from outrider.agents.remote_tools import restore_remote_tools
from outrider.agents.run import ACTIVE_STATUSES, ENDED_STATUSES, Run, RunStore
from outrider.agents.settings import ApiFormat
from outrider.agents.steps import AttemptSuperseded, RunSteps
from outrider.agents.tool_executor import ToolExecutor
from outrider.agents.tool_permissions import restrict_toolbox
from outrider.core.context import ClientModel
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.gc_control import freeze_imports
from outrider.core.toolbox import Toolbox

log = logging.getLogger(__name__)


class AttemptRunner:
    """Works on runs that are this process's; the libraries of models are loaded at the first of them.

    Args:
        worker: This process's name, by which a run's row says whose it is.

    Attributes:
        active_tasks: The attempts under way, by run.
        is_closing: Whoever is cancelled from now on is so because the process ends.
        steps: What the runs have done.
        meters: What the runs under way use.
        client_models: The models of clients that wait for their runs, by run.
        check_spending: Asked before each request to a model, where money is limited: runs at the same time share it.
    """

    def __init__(self, worker: str, dependencies: AgentDependencies, streams: EventStreams) -> None:
        self.active_tasks: dict[str, asyncio.Task[Any]] = {}
        self.is_closing = False
        self.steps = RunSteps(dependencies.database, worker)
        self.meters: dict[str, BudgetMeter] = {}
        self.client_models: dict[str, ClientModel] = {}
        self.check_spending: SpendingCheck | None = None
        self._worker = worker
        self._streams = streams
        self._dependencies = dependencies
        self._rows = RunStore(dependencies.database)

    async def refresh_toolboxes(self) -> tuple[Toolbox, Toolbox]:
        """The served tools and all, with the agents that there are now."""
        boxes = self._dependencies.toolboxes()
        for each in boxes:
            await each.refresh_tools()
        return boxes

    async def sum_descendant_usage(self, run_id: str) -> RunUsage:
        """What the runs have used that this one began, and those that they began."""
        return sum((RunUsage.from_dict(each.usage) for each in await self._rows.list_descendants(run_id)), RunUsage())

    async def run_attempt(self, run_id: str, attempt: int) -> None:
        """Makes that attempt, unless it is under way here, over, or another process's."""
        if run_id in self.active_tasks:
            return
        task = asyncio.current_task()
        assert task is not None
        self.active_tasks[run_id] = task
        try:
            run = await self._rows.get(run_id)
            if run.attempt == attempt and run.status in ACTIVE_STATUSES:
                await self._run_guarded(run)
        except asyncio.CancelledError:
            if self.is_closing or not (await self._rows.get(run_id)).has_ended:
                raise
            task.uncancel()  # the run was cancelled, not the work on it: the attempt ends as any other
        finally:
            self.active_tasks.pop(run_id, None)
            self.meters.pop(run_id, None)
            self.client_models.pop(run_id, None)

    async def _run_guarded(self, run: Run) -> None:
        """Works on it; a database that fails leaves it as it is, to be taken up again when that is back."""
        try:
            await self._run_claimed(run)
        except Exception as error:
            if is_outage(error):
                log.warning("run %s waits for the database: %s", run.id, error)
                return
            outcome = build_bug_outcome(run, error)
            await self._rows.finish_attempt(
                run, self._worker, status="failed", stop_reason="error", error=outcome.error
            )
            raise

    async def _run_claimed(self, run: Run) -> None:
        if not await self._rows.claim_attempt(run, self._worker):
            return
        run = await self._rows.get(run.id)
        pen = EventWriter(self._streams, run.id)
        await self._streams.open_run(run.id)
        try:
            await self._streams.append(run.id, [("status", {"status": "running", "attempt": run.attempt})])
            meter = BudgetMeter(
                Budgets.model_validate(run.budgets),
                own_usage=RunUsage.from_dict(run.usage),
                earlier_seconds=run.state.get("seconds", 0.0),
            )
            self.meters[run.id] = meter
            hands: ToolExecutor | None = None
            try:
                hands = await self._build_executor(run, pen)
                outcome = await self._run_model(run, hands, pen, meter)
            except AttemptSuperseded:
                return
            except Exception as error:
                if is_outage(error):
                    raise
                outcome = (
                    build_error_outcome(error) if isinstance(error, OutriderError) else build_bug_outcome(run, error)
                )
            await pen.flush()
            await self._save_outcome(run, hands, meter, outcome)
        finally:
            self._streams.close_run(run.id)

    async def _build_executor(self, run: Run, pen: EventWriter) -> ToolExecutor:
        agent = Agent.model_validate(run.definition).model_copy(update={"origin": "home"})
        every = (await self.refresh_toolboxes())[1]
        servers = self._dependencies.servers
        remote = await restore_remote_tools(servers, agent.mcp, set(agent.tools) - set(every.tools)) if servers else {}
        toolbox = restrict_toolbox(every, agent, remote)
        return ToolExecutor(
            run,
            toolbox,
            self.steps,
            self._dependencies.questions,
            pen,
            max_parallel_calls=self._dependencies.settings.width,
        )

    async def _run_model(self, run: Run, hands: ToolExecutor, pen: EventWriter, meter: BudgetMeter) -> AttemptOutcome:
        chain = await self._resolve_chain(run)
        runtime = await anyio.to_thread.run_sync(
            _import_runtime, [each.api for each in chain if each.client_model is None]
        )

        async def sum_usage() -> RunUsage:
            return await self.sum_descendant_usage(run.id) if begins else RunUsage()

        begins = any(tool.toolset == "run_agent" for tool in hands.toolbox.tools.values())
        context = runtime.AttemptContext(
            run=run,
            chain=chain,
            guard=self._dependencies.guard,
            state_cipher=self._dependencies.state_cipher,
            executor=hands,
            event_writer=pen,
            meter=meter,
            request_once=partial(self._request_within_budget, run),
            sum_descendant_usage=sum_usage,
        )
        return await runtime.run_attempt(context)

    async def _request_within_budget(
        self, run: Run, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> dict[str, Any]:
        """`Steps.once`, for what its person can still pay."""

        async def check_and_request() -> dict[str, Any]:
            why = (
                await self.check_spending(run.workspace, run.identity)
                if self.check_spending and kind == "model"
                else None
            )
            return {"stop": ["cost", why]} if why else await work()

        return await self.steps.run_once(run, number, check_and_request, kind)

    async def _resolve_chain(self, run: Run) -> list[ModelAccess]:
        """The models that the run may ask. Raises NotConfigured and InvalidInput."""
        if not run.state.get("lent"):
            return await self._dependencies.models.resolve_chain(Agent.model_validate(run.definition).model)
        if run.id not in self.client_models:
            raise NotConfigured(
                "the client that lent its model to this run is gone",
                hint=f"call the agent again, or configure a model: {MODEL_SETUP_HINT}",
                code="no_model",
            )
        return [build_client_access(self.client_models[run.id])]

    async def _save_outcome(
        self, run: Run, hands: ToolExecutor | None, meter: BudgetMeter, outcome: AttemptOutcome
    ) -> None:
        """Writes down how the attempt ended, tells the followers, and posts the answer."""
        status = outcome.status
        state: dict[str, Any] = run.state | {"seconds": round(meter.seconds, 3)}
        if hands is not None:
            state |= {"citations": hands.citations, "files": hands.files}
        thoughts = outcome.thoughts if self._dependencies.settings.keep_thoughts else ""
        values: dict[str, Any] = {
            "status": status,
            "stop_reason": outcome.reason,
            "usage": meter.own_usage.to_dict(),
            "cost": meter.own_usage.cost,
            "answer": outcome.answer,
            "thoughts": thoughts,
            "error": outcome.error,
            "state": state,
            "model": outcome.model or run.model,
            "ended_at": time.time() if status in ENDED_STATUSES else None,
        }
        if outcome.history is not None:
            values["history"] = outcome.history
        answer = outcome.answer if status in ENDED_STATUSES else ""
        said = build_message(
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
        if not await self._rows.finish_attempt(run, self._worker, said if answer else None, **values):
            return
        told = {"status": status, "attempt": run.attempt, "stop_reason": outcome.reason}
        await self._streams.append(run.id, [("status", told | ({"error": outcome.error} if outcome.error else {}))])


def _import_runtime(apis: Sequence[ApiFormat]) -> Any:
    """The module that thinks, with the vendors' libraries: seconds of imports, so not on the thread of the events."""
    from outrider.agents import runtime
    from outrider.agents.models import wire

    for api in apis:
        wire.import_libraries(api)
        freeze_imports(f"models of {api}")
    return runtime
