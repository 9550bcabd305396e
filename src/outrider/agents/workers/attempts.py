"""Execute attempts at runs and save their outcomes."""

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
from outrider.agents.run import Run, RunStore
from outrider.agents.run_status import ACTIVE_STATUSES, ENDED_STATUSES
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
    """Executes the runs assigned to a worker; the model libraries are loaded with the first run.

    Args:
        worker: The name of the worker.
        dependencies: Services of the app.
        streams: Publishes the events.

    Attributes:
        active_tasks: The tasks of active attempts, by run id.
        is_closing: Whether tasks are cancelled because the process ends, not because their run is cancelled.
        steps: The steps of all runs.
        meters: The meters of active runs, by run id.
        client_models: The models of clients that wait for their runs, by run id.
        check_spending: Checked before each request to a model, because concurrent runs share a spending limit.
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
        """Return the served tools and all tools, including the current agents."""
        toolboxes = self._dependencies.toolboxes()
        for toolbox in toolboxes:
            await toolbox.refresh_tools()
        return toolboxes

    async def sum_descendant_usage(self, run_id: str) -> RunUsage:
        """Return the usage of all runs below a run."""
        descendants = await self._rows.list_descendants(run_id)
        return sum((RunUsage.from_dict(run.usage) for run in descendants), RunUsage())

    async def run_attempt(self, run_id: str, attempt: int) -> None:
        """Execute an attempt, unless it has ended, is active here or belongs to another worker."""
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
            task.uncancel()  # the run was cancelled, not this task: end the attempt normally
        finally:
            self.active_tasks.pop(run_id, None)
            self.meters.pop(run_id, None)
            self.client_models.pop(run_id, None)

    async def _run_guarded(self, run: Run) -> None:
        """Execute a run; if the database fails, leave the run unchanged, so that it is recovered later."""
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
        event_writer = EventWriter(self._streams, run.id)
        await self._streams.open_run(run.id)
        try:
            await self._streams.append(run.id, [("status", {"status": "running", "attempt": run.attempt})])
            meter = BudgetMeter(
                Budgets.model_validate(run.budgets),
                own_usage=RunUsage.from_dict(run.usage),
                earlier_seconds=run.state.get("seconds", 0.0),
            )
            self.meters[run.id] = meter
            executor: ToolExecutor | None = None
            try:
                executor = await self._build_executor(run, event_writer)
                outcome = await self._run_model(run, executor, event_writer, meter)
            except AttemptSuperseded:
                return
            except Exception as error:
                if is_outage(error):
                    raise
                is_expected = isinstance(error, OutriderError)
                outcome = build_error_outcome(error) if is_expected else build_bug_outcome(run, error)
            await event_writer.flush()
            await self._save_outcome(run, executor, meter, outcome)
        finally:
            self._streams.close_run(run.id)

    async def _build_executor(self, run: Run, event_writer: EventWriter) -> ToolExecutor:
        # The stakes were fixed when the run started, so a workspace's agent is no longer restricted here.
        agent = Agent.model_validate(run.definition).model_copy(update={"origin": "home"})
        _, all_tools = await self.refresh_toolboxes()
        servers = self._dependencies.servers
        remote_names = set(agent.tools) - set(all_tools.tools)
        remote = await restore_remote_tools(servers, agent.mcp, remote_names) if servers else {}
        return ToolExecutor(
            run,
            restrict_toolbox(all_tools, agent, remote),
            self.steps,
            self._dependencies.questions,
            event_writer,
        )

    async def _run_model(
        self, run: Run, executor: ToolExecutor, event_writer: EventWriter, meter: BudgetMeter
    ) -> AttemptOutcome:
        chain = await self._resolve_chain(run)
        executor.sees_pictures = any(access.sees_pictures for access in chain)
        runtime = await anyio.to_thread.run_sync(
            _import_runtime, [access.api for access in chain if access.client_model is None]
        )
        can_start_runs = any(tool.toolset == "run_agent" for tool in executor.toolbox.tools.values())

        async def sum_usage() -> RunUsage:
            return await self.sum_descendant_usage(run.id) if can_start_runs else RunUsage()

        context = runtime.AttemptContext(
            run=run,
            chain=chain,
            guard=self._dependencies.guard,
            state_cipher=self._dependencies.state_cipher,
            executor=executor,
            event_writer=event_writer,
            meter=meter,
            request_once=partial(self._request_within_budget, run),
            sum_descendant_usage=sum_usage,
        )
        return await runtime.run_attempt(context)

    async def _request_within_budget(
        self, run: Run, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> dict[str, Any]:
        """Call `RunSteps.run_once`, but stop the run if its person has reached a spending limit."""

        async def check_and_request() -> dict[str, Any]:
            if self.check_spending and kind == "model":
                reason = await self.check_spending(run.workspace, run.identity)
                if reason:
                    return {"stop": ["cost", reason]}
            return await work()

        return await self.steps.run_once(run, number, check_and_request, kind)

    async def _resolve_chain(self, run: Run) -> list[ModelAccess]:
        """Return the models for the run. Raises NotConfigured and InvalidInput."""
        if not run.state.get("lent"):
            return await self._dependencies.models.resolve_chain(Agent.model_validate(run.definition).model)
        if run.id not in self.client_models:
            raise NotConfigured(
                "the client whose model this run used is disconnected",
                hint=f"call the agent again, or configure a model: {MODEL_SETUP_HINT}",
                code="no_model",
            )
        return [build_client_access(self.client_models[run.id])]

    async def _save_outcome(
        self, run: Run, executor: ToolExecutor | None, meter: BudgetMeter, outcome: AttemptOutcome
    ) -> None:
        """Save the outcome of an attempt, post the answer and publish the status."""
        status = outcome.status
        state: dict[str, Any] = run.state | {"seconds": round(meter.seconds, 3)}
        if executor is not None:
            files = executor.files
            if status in ("completed", "partial"):
                files = await self._dependencies.publish_files(run.build_call(""), files)
            state |= {"citations": executor.citations, "files": files}
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
        message = build_message(
            run.conversation_id,
            "agent",
            answer,
            agent=run.agent,
            thoughts=outcome.thoughts,
            citations=state.get("citations"),
            files=state.get("files", ()),
            run_id=run.id,
            status=status,
        )
        if not await self._rows.finish_attempt(run, self._worker, message if answer else None, **values):
            return
        event: dict[str, Any] = {"status": status, "attempt": run.attempt, "stop_reason": outcome.reason}
        event |= {"error": outcome.error} if outcome.error else {}
        await self._streams.append(run.id, [("status", event)])


def _import_runtime(apis: Sequence[ApiFormat]) -> Any:
    """Import the runtime and the vendors' libraries; this takes seconds, so call it in a thread."""
    from outrider.agents import runtime
    from outrider.agents.models import wire

    for api in apis:
        wire.import_libraries(api)
        freeze_imports(f"models of {api}")
    return runtime
