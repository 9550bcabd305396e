"""Start, follow, resume and cancel runs from any process with the database."""

import logging
import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.assignment import Assignment
from outrider.agents.conversations import Conversation, build_message
from outrider.agents.definition import Agent, Budgets
from outrider.agents.dependencies import AgentDependencies
from outrider.agents.events.stream import EventStreams, RunEvent
from outrider.agents.limits import RunUsage
from outrider.agents.quota_check import RunReservation, SpendingCheck, reserve_before_start
from outrider.agents.run import Run, RunStore, build_run_row
from outrider.core.context import Call, ClientModel
from outrider.core.errors import NotConfigured, OutriderError, Refused
from outrider.core.grant import Grant
from outrider.core.tool import Tool

if TYPE_CHECKING:
    from outrider.agents.steps import RunSteps
    from outrider.agents.workers.worker import RunWorker

log = logging.getLogger(__name__)


class RunService:
    """All runs in the database, and this process's work on them.

    The durable engine and the model libraries are loaded with the first run; following and reading runs needs neither.

    Attributes:
        reserve_run: Reserves each new run, if there are quotas.
        check_spending: Checked before each request to a model, if spending is limited.
    """

    def __init__(self, dependencies: AgentDependencies) -> None:
        self.streams = EventStreams(dependencies.database)
        self.questions = dependencies.questions
        self.conversations = dependencies.conversations
        self._dependencies = dependencies
        self._database = dependencies.database
        self._rows = RunStore(dependencies.database)
        self._settings = dependencies.settings
        self.reserve_run: RunReservation | None = None
        self.check_spending: SpendingCheck | None = None
        self._created_worker: RunWorker | None = None

    @property
    def _worker(self) -> "RunWorker":
        """The worker of this process, created at its first use, because it imports SQLAlchemy."""
        if self._created_worker is None:
            from outrider.agents.workers.worker import RunWorker

            self._created_worker = worker = RunWorker(self._dependencies, self.streams)
            worker.resume_if_unblocked = self._resume_if_unblocked
            worker.set_spending_check(self.check_spending)
        return self._created_worker

    @property
    def steps(self) -> "RunSteps":
        """The steps of all runs."""
        return self._worker.steps

    @property
    def is_started(self) -> bool:
        """Whether this process has started to work on runs."""
        return self._created_worker is not None and self._created_worker.is_started

    @property
    def is_busy(self) -> bool:
        """Whether this process is working on a run now."""
        return self._created_worker is not None and self._created_worker.is_busy

    @reserve_before_start
    async def start(self, agent: Agent, work: Assignment, call: Call, conversation: Conversation) -> Run:
        """Start a run and return at once.

        Repetitions of a parent run's call, or with the same idempotency key, return the run that they started.

        Args:
            agent: The agent; its tools, stakes and budgets are fixed from now on.
            work: The task.
            call: The caller; `call.run` is the parent run, if any.
            conversation: The conversation that the run belongs to.

        Raises:
            NotFound: A tool or toolset is not offered.
            NotConfigured: No model is configured, or the libraries for agents are missing.
            InvalidInput: The idempotency key came with another request.
        """
        parent_run = await self._rows.get(call.run.id) if call.run else None
        agent = await self._freeze_agent(agent, work.toolsets, parent_run, call.grant)
        model, client_model = await self._choose_model(agent, call)
        # Only this process has the parent's budgets and the connection to the client.
        runs_here = parent_run is not None or client_model is not None
        if runs_here or self._settings.runs:
            await self._worker.ensure_engine()
        message = build_message(conversation.id, "user", work.message or work.query, agent=agent.name, files=work.files)
        state: dict[str, Any] = {"given": [dict(file) for file in work.files]}
        state |= {"lent": True} if client_model is not None else {}
        state |= {"grant": call.grant.to_dict()} if call.grant else {}
        row = build_run_row(
            agent,
            work.query,
            call,
            conversation,
            message_id=message.id,
            budgets=self._compute_budgets(agent, call, work.budget),
            state=state,
            history=await self._load_history(conversation.id, agent.name),
        )
        row |= {"model": model, "executor": self._worker.name if runs_here else None}
        run, is_new = await self._rows.add_run(row, message, work.start_key)
        if not is_new:
            await self.conversations.delete_if_empty(conversation.id)
            return run
        if client_model is not None:
            self._worker.client_models[run.id] = client_model
        await self._worker.start_attempt(run.id, run.attempt, here=runs_here)
        return run

    async def check_agent(self, agent: Agent) -> None:
        """Raise the error with which `start` would fail.

        NotFound means a missing tool or server, NotConfigured a missing model.
        """
        await self._freeze_agent(agent, (), None, None)
        await self._dependencies.models.resolve_chain(agent.model)

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """Yield the events of a run until it ends or waits for a person. Raises NotFound."""
        return self.streams.follow(run_id, after)

    async def get(self, run_id: str) -> Run:
        """Return the current state of the run. Raises NotFound."""
        return await self._rows.get(run_id)

    async def sum_usage(self, run_id: str) -> RunUsage:
        """Return the usage of the run and all runs below it, so far. Raises NotFound."""
        own_usage = (await self._rows.load_usage([(await self._rows.get(run_id)).id]))[run_id]
        return own_usage + await self._worker.sum_descendant_usage(run_id)

    async def resume(self, run_id: str) -> Run:
        """Start a new attempt of a blocked run; return any other run unchanged."""
        from outrider.agents.tables import runs

        run = await self._rows.get(run_id)
        if run.status != "blocked":
            return run
        unchanged = runs.c.id == run.id, runs.c.status == "blocked", runs.c.attempt == run.attempt
        runs_here = run.parent_run_id is not None and bool(self._settings.runs)
        if runs_here:
            await self._worker.ensure_engine()
        values = {"attempt": run.attempt + 1, "executor": self._worker.name if runs_here else None}
        if await self._rows.update_runs(*unchanged, status="queued", **values):
            await self.streams.append(run.id, [("status", {"status": "queued", "attempt": run.attempt + 1})])
            await self._worker.start_attempt(run.id, run.attempt + 1, here=runs_here)
        return await self._rows.get(run_id)

    async def _resume_if_unblocked(self, run: Run) -> None:
        """Resume a blocked run if all of its questions are decided."""
        tree = {run.id, *(child.id for child in await self._rows.list_descendants(run.id))}
        pending = await self.questions.list_pending(run.root_run_id)
        if not any(question.run_id in tree for question in pending):
            await self.resume(run.id)

    async def retry(self, run_id: str) -> Run:
        """Start a new attempt of a failed run at the failed step. Raises Refused if a retry makes no sense."""
        from outrider.agents.retry import can_retry, reopen_run

        run = await self._rows.get(run_id)
        if not can_retry(run):
            raise Refused(f"run {run.id} is {run.status} and cannot be retried", hint="start a new run")
        if await self._database.run_transaction(
            lambda connection: reopen_run(connection, run, time.time()), write=True
        ):
            await self.streams.append(run.id, [("status", {"status": "queued", "attempt": run.attempt + 1})])
            await self._worker.start_attempt(run.id, run.attempt + 1, here=False)
        return await self._rows.get(run_id)

    async def cancel(self, run_id: str) -> None:
        """Cancel the run and all runs below it, in any process; ended runs do not change."""
        await self._worker.cancel_tree(run_id)

    async def recover_runs(self) -> list[str]:
        """Take over the runs of dead or hanging workers; return their ids."""
        return await self._worker.recover_runs()

    async def run_forever(self) -> None:
        """Recover the runs of dead processes until cancelled; run it as a background task.

        It waits until something else opens the database, and loads no large libraries while there is nothing to do.
        """
        poll_interval_s = 5.0
        await self._database.opened_event.wait()
        while True:
            if not self.is_started and self._settings.runs:  # a started worker has its own, faster watcher
                try:
                    await self.recover_runs()
                    if await self._worker.has_waiting(poll_interval_s):
                        await self._worker.dispatch_queued()
                except OutriderError as error:
                    log.warning("cannot recover runs: %s", error)
            await anyio.sleep(poll_interval_s)

    async def start_working(self) -> None:
        """Start to take queued runs without being asked. Raises NotConfigured and Unavailable."""
        await self._worker.ensure_engine()
        await self._worker.dispatch_queued()

    async def close(self) -> None:
        """Stop working on runs; another process or the next start continues them."""
        if self._created_worker is not None:
            await self._created_worker.close()
        await self.streams.close()

    async def _freeze_agent(
        self, agent: Agent, toolsets: Sequence[str], parent_run: Run | None, grant: Grant | None
    ) -> Agent:
        from outrider.agents.remote_tools import list_remote_tools
        from outrider.agents.tool_permissions import freeze_agent

        served, all_tools = await self._worker.refresh_toolboxes()
        remote: dict[str, Tool] = {}
        added: dict[str, Tool] = {}
        servers = self._dependencies.servers
        if servers is not None:
            # A caller may name other MCP servers among the toolsets.
            added_servers = [name for name in toolsets if name in servers.names and name not in all_tools.toolsets]
            remote = await list_remote_tools(servers, agent.mcp)
            added = await list_remote_tools(servers, added_servers)
            agent = agent.model_copy(update={"mcp": [*agent.mcp, *added_servers]})
            toolsets = [name for name in toolsets if name not in added_servers]
        return freeze_agent(
            agent, toolsets, parent_run, served=served, all_tools=all_tools, remote=remote, added=added, grant=grant
        )

    async def _choose_model(self, agent: Agent, call: Call) -> tuple[str, ClientModel | None]:
        """Return the first model's label, or the client's own model.

        The client's model is used if no other is configured.

        Raises NotConfigured.
        """
        try:
            return (await self._dependencies.models.resolve_chain(agent.model))[0].label, None
        except NotConfigured as error:
            is_named = agent.model or self._dependencies.models.has_default
            if error.code != "no_model" or is_named or call.client_model is None:
                raise
            if agent.tools:
                raise NotConfigured(
                    f"{error.message}; your client offers its own model, but that cannot use tools, "
                    f"and agent {agent.name!r} has tools",
                    hint=error.hint,
                    code="no_model",
                ) from None
            return "client", call.client_model

    def _compute_budgets(self, agent: Agent, call: Call, budget: Budgets | None) -> Budgets:
        """Combine the budgets of agent, settings, caller and parent run."""
        defaults = self._settings.budgets
        budgets = agent.budgets.clamp_to(defaults) if agent.origin == "workspace" else agent.budgets.fill_from(defaults)
        if budget:
            budgets = budgets.clamp_to(budget)
        parent_meter = self._worker.meters.get(call.run.id) if call.run else None
        return budgets.clamp_to(parent_meter.remaining_budgets) if parent_meter else budgets

    async def _load_history(self, conversation_id: str, agent: str) -> list[Any] | None:
        """Return the model's messages of the agent's last finished run in the conversation."""
        from outrider.agents.tables import runs

        finished = await self._rows.list_runs(
            runs.c.conversation_id == conversation_id,
            runs.c.agent == agent,
            runs.c.status.in_(("completed", "partial")),
            runs.c.history.is_not(None),
        )
        return finished[-1].history if finished else None
