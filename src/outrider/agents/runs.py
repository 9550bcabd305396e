"""Runs of agents: started, followed, resumed and cancelled from any process that opens the database."""

import logging
import time
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.assignment import Assignment
from outrider.agents.conversations import Conversation
from outrider.agents.definition import Agent, Budgets
from outrider.agents.dependencies import AgentDependencies
from outrider.agents.events.stream import EventStreams, RunEvent
from outrider.agents.limits import RunUsage
from outrider.agents.quota_check import RunReservation, SpendingCheck, reserve_before_start
from outrider.agents.run import Run, RunStore, build_run_row
from outrider.core.context import Call, ClientModel
from outrider.core.errors import NotConfigured, OutriderError, Refused
from outrider.core.grant import Grant

if TYPE_CHECKING:
    from outrider.agents.steps import RunSteps
    from outrider.agents.workers.worker import RunWorker

log = logging.getLogger(__name__)


class RunService:
    """All runs in the database, and this process's work on them.

    The engine and the libraries of models are loaded at the first run; following and reading need neither.

    Attributes:
        reserve_run: What each run begins in, where there are quotas.
        check_spending: What each request to a model is asked of, where money is limited.
    """

    def __init__(self, dependencies: AgentDependencies) -> None:
        self.streams = EventStreams(dependencies.database, dependencies.settings.stream_ms / 1000)
        self.questions = dependencies.questions
        self.conversations = dependencies.conversations
        self._dependencies = dependencies
        self._database = dependencies.database
        self._rows = RunStore(dependencies.database)
        self._settings = dependencies.settings
        self.reserve_run: RunReservation | None = None
        self.check_spending: SpendingCheck | None = None

    @cached_property
    def _worker(self) -> "RunWorker":
        """This process's work on runs; what it needs is loaded with the first."""
        from outrider.agents.workers.worker import RunWorker

        worker = RunWorker(self._dependencies, self.streams)
        worker.resume_if_unblocked = self._resume_if_unblocked
        worker.set_spending_check(self.check_spending)
        return worker

    @property
    def steps(self) -> "RunSteps":
        """What the runs have done, one row a step."""
        return self._worker.steps

    @property
    def is_started(self) -> bool:
        """Whether this process has begun to work on runs."""
        return "_worker" in vars(self) and self._worker.is_started

    @property
    def is_busy(self) -> bool:
        """Whether it works on a run now."""
        return "_worker" in vars(self) and self._worker.is_busy

    @reserve_before_start
    async def start(self, agent: Agent, work: Assignment, call: Call, conversation: Conversation) -> Run:
        """Begins a run and returns at once. The same call of the same parent run begins one only once.

        Args:
            agent: What it is from now on: tools, stakes and budgets are fixed here.
            work: What it is asked.
            call: For whom; `call.run` is the run that asks, if one does.
            conversation: Where it speaks.

        Raises:
            NotFound: A tool or toolset that is not offered.
            NotConfigured: No model, or no libraries for agents.
        """
        above = await self._rows.get(call.run.id) if call.run else None
        agent = await self._freeze_agent(agent, work.toolsets, above, call.grant)
        model, lender = await self._choose_model(agent, call)
        here = above is not None or lender is not None  # the others have not got what these need
        if here or self._settings.runs:
            await self._worker.ensure_engine()
        row = build_run_row(
            agent,
            work.query,
            call,
            conversation,
            message_id=work.message_id or await self._posted(work, agent, conversation),
            budgets=self._compute_budgets(agent, call, work.budget),
            state=_given(work.files, call, lent=lender is not None),
            history=await self._load_history(conversation.id, agent.name),
        )
        row |= {"model": model, "executor": self._worker.name if here else None}
        run, is_new = await self._rows.add_run(row)
        if is_new:
            if lender is not None:
                self._worker.client_models[run.id] = lender
            await self._worker.start_attempt(run.id, run.attempt, here=here)
        return run

    async def _posted(self, work: Assignment, agent: Agent, conversation: Conversation) -> str:
        asked = await self.conversations.post_message(
            conversation.id, "user", work.query, agent=agent.name, files=work.files
        )
        return asked.id

    async def check_agent(self, agent: Agent) -> None:
        """Raises what `start` would: NotFound for a tool or server that there is not, NotConfigured without a model."""
        await self._freeze_agent(agent, (), None, None)
        await self._dependencies.models.resolve_chain(agent.model)

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """What happens, as it happens, until the run ends or waits for a person. Raises NotFound."""
        return self.streams.follow(run_id, after)

    async def get(self, run_id: str) -> Run:
        """The run as it is now. Raises NotFound."""
        return await self._rows.get(run_id)

    async def sum_usage(self, run_id: str) -> RunUsage:
        """What the run and all below it have used."""
        total = RunUsage.from_dict((await self._rows.get(run_id)).usage)
        return total + await self._worker.sum_descendant_usage(run_id)

    async def resume(self, run_id: str) -> Run:
        """A new attempt of a blocked run; of any other, the run as it is."""
        from outrider.agents.tables import runs

        run = await self._rows.get(run_id)
        if run.status != "blocked":
            return run
        same = runs.c.id == run.id, runs.c.status == "blocked", runs.c.attempt == run.attempt
        here = run.parent_run_id is not None and bool(self._settings.runs)
        if here:
            await self._worker.ensure_engine()
        values = {"attempt": run.attempt + 1, "executor": self._worker.name if here else None}
        if await self._rows.update_runs(*same, status="queued", **values):
            told = {"status": "queued", "attempt": run.attempt + 1}
            await self.streams.append(run.id, [("status", told)])
            await self._worker.start_attempt(run.id, run.attempt + 1, here=here)
        return await self._rows.get(run_id)

    async def _resume_if_unblocked(self, run: Run) -> None:
        """Lets a run that has just come to rest go on, if nothing of what it waits for is open any more."""
        tree = {run.id, *(each.id for each in await self._rows.list_descendants(run.id))}
        if not any(each.run_id in tree for each in await self.questions.list_pending(run.root_run_id)):
            await self.resume(run.id)

    async def retry(self, run_id: str) -> Run:
        """A new attempt of a failed run, from where it failed. Raises Refused where that would change nothing."""
        from outrider.agents.retry import can_retry, reopen_run

        run = await self._rows.get(run_id)
        if not can_retry(run):
            raise Refused(f"run {run.id} is {run.status} and cannot go on from there", hint="begin a new one")
        if await self._database.run_transaction(
            lambda connection: reopen_run(connection, run, time.time()), write=True
        ):
            await self.streams.append(run.id, [("status", {"status": "queued", "attempt": run.attempt + 1})])
            await self._worker.start_attempt(run.id, run.attempt + 1, here=False)
        return await self._rows.get(run_id)

    async def cancel(self, run_id: str) -> None:
        """Ends the run and all below it, whoever works on them. What is over stays as it is."""
        await self._worker.cancel_tree(run_id)

    async def recover_runs(self) -> list[str]:
        """Takes up the runs of workers that died, and ends those of workers that hang; which ones."""
        return await self._worker.recover_runs()

    async def run_forever(self) -> None:
        """Looks after what a dead process left, until cancelled; run it as a task beside the tools.

        It begins when the database is opened for something else, and loads nothing heavy while nothing is left.
        """
        poll_interval_s = 5.0  # seconds between looks for what was left, in a process that has not worked on a run yet
        await self._database.opened_event.wait()
        while True:
            if not self.is_started and self._settings.runs:  # afterwards its own watcher looks, and more often
                try:
                    await self.recover_runs()
                    if await self._worker.has_waiting(poll_interval_s):
                        await self._worker.dispatch_queued()
                except OutriderError as error:
                    log.warning("runs that were left cannot be taken up: %s", error)
            await anyio.sleep(poll_interval_s)

    async def start_working(self) -> None:
        """Begins to take runs that wait, from now on and without being asked. Raises NotConfigured and Unavailable."""
        await self._worker.ensure_engine()
        await self._worker.dispatch_queued()

    async def close(self) -> None:
        """Stops working on runs; they stay as they are, and another process or the next start goes on with them."""
        if "_worker" in vars(self):
            await self._worker.close()
        await self.streams.close()

    async def _freeze_agent(
        self, agent: Agent, toolsets: Sequence[str], above: Run | None, grant: Grant | None
    ) -> Agent:
        from outrider.agents.remote_tools import list_remote_tools
        from outrider.agents.tool_permissions import freeze_agent

        served, every = await self._worker.refresh_toolboxes()
        servers = self._dependencies.servers
        if servers is None:
            return freeze_agent(agent, toolsets, above, served=served, every=every, grant=grant)
        beside = [each for each in toolsets if each in servers.names and each not in every.toolsets]
        remote, added = await list_remote_tools(servers, agent.mcp), await list_remote_tools(servers, beside)
        agent = agent.model_copy(update={"mcp": [*agent.mcp, *beside]})
        toolsets = [each for each in toolsets if each not in beside]
        more: dict[str, Any] = {"remote": remote, "added": added, "grant": grant}
        return freeze_agent(agent, toolsets, above, served=served, every=every, **more)

    async def _choose_model(self, agent: Agent, call: Call) -> tuple[str, ClientModel | None]:
        """The model that is asked first, as `provider:model`; with the client's own where there is no other.

        Raises NotConfigured.
        """
        try:
            return (await self._dependencies.models.resolve_chain(agent.model))[0].label, None
        except NotConfigured as error:
            chosen = agent.model or self._dependencies.models.has_default
            if error.code != "no_model" or chosen or call.client_model is None:
                raise
            if agent.tools:
                raise NotConfigured(
                    f"{error.message}; your client lends its own, but without tools, and agent {agent.name!r} has some",
                    hint=error.hint,
                    code="no_model",
                ) from None
            return "client", call.client_model

    def _compute_budgets(self, agent: Agent, call: Call, budget: Budgets | None) -> Budgets:
        """The agent's budgets, filled in by the house's, under the caller's and what the run above has left."""
        house = self._settings.budgets
        own = agent.budgets.clamp_to(house) if agent.origin == "workspace" else agent.budgets.fill_from(house)
        above = self._worker.meters.get(call.run.id) if call.run else None
        limited = own.clamp_to(budget) if budget else own
        return limited.clamp_to(above.remaining_budgets) if above else limited

    async def _load_history(self, conversation_id: str, agent: str) -> list[Any] | None:
        """What the agent remembers of the conversation: the messages of its last finished run there."""
        from outrider.agents.tables import runs

        done = (
            runs.c.conversation_id == conversation_id,
            runs.c.agent == agent,
            runs.c.status.in_(("completed", "partial")),
        )
        earlier = await self._rows.list_runs(*done, runs.c.history.is_not(None))
        return earlier[-1].history if earlier else None


def _given(files: Sequence[dict[str, Any]], call: Call, *, lent: bool) -> dict[str, Any]:
    """What a run begins with besides its question: files, whether its model is lent, and what its caller may do."""
    state: dict[str, Any] = {"given": [dict(each) for each in files]}
    state |= {"lent": True} if lent else {}
    return state | ({"grant": call.grant.to_dict()} if call.grant else {})
