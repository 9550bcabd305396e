"""Start, hand over, resume and follow agent runs for tool calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.assignment import Assignment
from outrider.agents.catalogue import Catalogue
from outrider.agents.citations import adopt_citations
from outrider.agents.conversations import Conversation, Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.run import Run, RunStore
from outrider.agents.runs import RunService
from outrider.agents.start_keys import StartKey, build_start_key
from outrider.core.citations import CitationPool
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound
from outrider.core.result import Result
from outrider.toolsets.run_agent.attachments import Attachments
from outrider.toolsets.run_agent.progress import ProgressFeed, ProgressStyle, build_store_payload
from outrider.toolsets.run_agent.results import (
    add_overruled_note,
    build_answer_result,
    build_conversation_uri,
    build_handoff_result,
    build_pending_result,
    build_run_error,
)

DelegationMode = Literal["run", "handoff", "background"]


@dataclass(frozen=True)
class DelegationOptions:
    """Operator settings for agents as tools.

    Attributes:
        mime_prefix: The vendor tree of typed resources.
        progress: Whether progress notices contain the text so far or only new text.
        per_second: Maximum progress notices per second of each kind.
        detach_s: Seconds that a call waits for its agent before it returns without an answer.
        configured: Whether an agent is defined, or a model for agents is set.
    """

    mime_prefix: str = "application/vnd.dust"
    progress: ProgressStyle = "accumulated"
    per_second: float = 20.0
    detach_s: float = 600.0
    configured: bool = False


@dataclass(frozen=True)
class DelegationRequest:
    """A task for an agent."""

    query: str
    toolsets: Sequence[str] = ()
    files: Sequence[str] = ()
    conversation_id: str = ""
    mode: DelegationMode | None = None
    budget: Budgets | None = None
    idempotency_key: str = ""


@dataclass(frozen=True)
class Delegation:
    """Runs agents for hosts, people and other agents."""

    catalogue: Catalogue
    runs: RunService
    conversations: Conversations
    questions: Questions
    citations: CitationPool
    attachments: Attachments
    database: Database
    options: DelegationOptions

    async def run_agent(self, name: str, request: DelegationRequest, call: Call) -> Result:
        """Run an agent and return its answer, or how to get it later.

        Args:
            name: The agent's name, not that of its tool.
            request: The task.
            call: The caller; with `call.state` or the host's `resumeState` it returns to an earlier run.

        Raises:
            AnswerNeeded: The run waits for people; the same call with their answers continues it.
            OutriderError: The run failed or was cancelled.
        """
        earlier_run = await self._find_earlier_run(call)
        if earlier_run is not None:
            if earlier_run.agent != name:
                raise InvalidInput(
                    f"this call returns to a run of agent {earlier_run.agent!r}, not of {name!r}",
                    hint=f"call agent_run with runId {earlier_run.id}, or repeat the call without state for a new run",
                )
            return await self.wait_for_run(earlier_run, call)
        start_key = _build_start_key(name, request, call)
        started_run = await self._run_store.find_started(start_key) if start_key else None
        if started_run is not None:
            return await self._return_to_run(started_run, request, call)
        agent = await self.catalogue.get(name, call.workspace)
        parent_run = await self.runs.get(call.run.id) if call.run else None
        if _is_handoff(request, call):
            return await self._hand_over(agent, request, call, parent_run, start_key)
        feed = self._build_feed(call)
        await feed.send_payload(
            "Storing query resource", build_store_payload(self._build_query_resource(agent, request))
        )
        run = await self._start_run(agent, request, call, parent_run, start_key)
        await feed.send_payload(
            f"Running agent {agent.name}", {"type": "run_agent", "query": request.query} | _serialize_ids(run)
        )
        if request.mode == "background":
            return build_pending_result(run, await self.runs.sum_usage(run.id), waited=False)
        return await self.wait_for_run(run, call, feed=feed)

    async def wait_for_run(
        self, run: Run, call: Call, *, seconds: float | None = None, feed: ProgressFeed | None = None
    ) -> Result:
        """Apply the answers that came with the call, wait up to `seconds`, and return the run's result."""
        run = await self._apply_decisions(run, call)
        with anyio.move_on_after(self.options.detach_s if seconds is None else seconds):
            feed = feed or self._build_feed(call)
            try:
                async with feed.follow_run(_serialize_ids(run)):
                    async for event in self.runs.follow(run.id):
                        await feed.handle_event(event.kind, event.data)
            except anyio.get_cancelled_exc_class():
                if call.is_cancelled():  # a lost connection is not a cancellation
                    with anyio.CancelScope(shield=True):
                        await self.runs.cancel(run.id)
                raise
        result = await self._build_run_result(await self.runs.get(run.id), call)
        if call.run is not None or not call.answers:
            return result
        overruled = await self.questions.list_overruled(call.answers, by=call.identity or call.session)
        return add_overruled_note(result, overruled)

    async def find_own_run(self, run_id: str, call: Call) -> Run:
        """Return the run of that id. Raises NotFound, even for runs of other callers' conversations."""
        run = await self.runs.get(run_id)
        try:
            await self.conversations.get(run.conversation_id, call)
        except NotFound:
            hint = "use an id from an agent's result"
            raise NotFound(f"no run {run_id[:60]!r}", hint=hint) from None
        return run

    async def list_recent_runs(self, call: Call, limit: int = 10) -> list[Run]:
        """Return the caller's last runs, the newest first."""
        return await self._run_store.list_recent(call.workspace or "", call.session, limit)

    async def format_transcript(self, conversation_id: str, call: Call) -> str:
        """Format a conversation of the caller as Markdown. Raises NotFound."""
        conversation = await self.conversations.get(conversation_id, call)
        parts = [f"# {conversation.title}"]
        for message in await self.conversations.list_messages(conversation.id):
            parts += [f"## {'' if message.role == 'agent' else 'To '}{message.agent}", message.text]
        return "\n\n".join(parts)

    @property
    def _run_store(self) -> RunStore:
        return RunStore(self.database)

    # Returning to earlier runs

    async def _find_earlier_run(self, call: Call) -> Run | None:
        """Find the run that this call returns to, by its own state or a host's saved one; None if it does not."""
        if call.state:
            return await self.find_own_run(call.state, call)
        saved = call.extra.get("resumeState")
        ids = (saved.get("conversationId"), saved.get("userMessageId")) if isinstance(saved, Mapping) else (None, None)
        conversation, message = ids
        if not isinstance(conversation, str) or not isinstance(message, str):
            return None
        await self.conversations.get(conversation, call)
        run = await self._run_store.find_by_message(conversation, message)
        if run is None:
            raise NotFound("resumeState: no run answers that message", hint="call again without resumeState")
        return run

    async def _return_to_run(self, run: Run, request: DelegationRequest, call: Call) -> Result:
        """Return the result of a run that the same request has started before."""
        if request.mode == "background":
            return await self._build_run_result(run, call)
        if _is_handoff(request, call):
            return build_handoff_result(run, self.options.mime_prefix)
        return await self.wait_for_run(run, call)

    async def _apply_decisions(self, run: Run, call: Call) -> Run:
        """Store the call's answers, and resume the run if no question is open."""
        if call.run is None and call.answers:
            await self.questions.apply_answers(run.root_run_id, call.answers, by=call.identity or call.session)
        if run.status != "blocked":
            return run
        await self._raise_if_waiting(run)
        root = await self.runs.get(run.root_run_id)
        # A waiting parent is resumed instead and resumes this run; a background run has no waiting parent.
        await self.runs.resume(root.id if call.run is None and root.status == "blocked" else run.id)
        return await self.runs.get(run.id)

    async def _raise_if_waiting(self, run: Run) -> None:
        tree = {run.id, *(descendant.id for descendant in await self._run_store.list_descendants(run.id))}
        pending = [
            question for question in await self.questions.list_pending(run.root_run_id) if question.run_id in tree
        ]
        if pending:
            titles = ", ".join(dict.fromkeys(question.title for question in pending))
            raise AnswerNeeded(
                f"Agent {run.agent} waits for a person: {titles}",
                state=run.id,
                details={"conversationId": run.conversation_id, "userMessageId": run.message_id, "runId": run.id},
                questions=pending,
            )

    # Starting

    async def _start_run(
        self,
        agent: Agent,
        request: DelegationRequest,
        call: Call,
        parent_run: Run | None,
        start_key: StartKey | None,
    ) -> Run:
        if call.run is not None:  # the parent may repeat this call after its process has died
            started = await self._run_store.find_by_parent_call(call.run.id, call.run.call_id)
            if started is not None:
                return started
        conversation = await self._choose_conversation(agent, request, call)
        files = await self._collect_files(request.files, parent_run, call)
        assignment = replace(_build_assignment(request, files), start_key=start_key)
        return await self.runs.start(agent, assignment, call, conversation)

    async def _choose_conversation(self, agent: Agent, request: DelegationRequest, call: Call) -> Conversation:
        """Return the conversation that the caller continues, else create one below the parent's."""
        if request.conversation_id and request.conversation_id not in _list_parent_ids(call):
            try:
                return await self._enter_conversation(await self.conversations.get(request.conversation_id, call), call)
            except NotFound:
                pass  # the contract: any other id means a new child conversation
        parent = call.run.agent if call.run else str(call.extra.get("agent") or "host")
        depth = call.extra.get("depth")
        return await self.conversations.create(
            call,
            agent.name,
            title=f"run_agent {parent} > {agent.name}",
            parent=call.run,
            depth=depth + 1 if isinstance(depth, int) and depth >= 0 else 1,
        )

    async def _enter_conversation(self, conversation: Conversation, call: Call) -> Conversation:
        """Return an existing conversation with the nesting depth of this caller's children."""
        if call.run is None:
            return conversation
        self.conversations.check_nesting(conversation.agent, call.run.depth + 1, (*call.run.ancestors, call.run.agent))
        return replace(conversation, depth=call.run.depth + 1, ancestors=(*call.run.ancestors, call.run.agent))

    async def _collect_files(self, names: Sequence[str], parent_run: Run | None, call: Call) -> list[dict[str, Any]]:
        """Return the parent's attachments and the wanted files, with their text.

        Files are wanted by id or path.

        Unknown ids are left out. Raises the errors of `Attachments.load_file` for paths.
        """
        max_chars, max_file_chars = 60_000, 20_000  # of all, and of one
        attached: dict[str, dict[str, Any]] = {}
        if parent_run and names:
            known = await self.conversations.find_attachments(parent_run.conversation_id, names)
            attached = {file["id"]: file for file in known}
        files = []
        for name in dict.fromkeys(names):
            file = await self.attachments.load_file(name, call, min(max_file_chars, max_chars // len(names)))
            if file or name in attached:
                files.append((file or {}) | attached.get(name, {}))
        return files

    # Handing over

    async def _hand_over(
        self,
        agent: Agent,
        request: DelegationRequest,
        call: Call,
        parent_run: Run | None,
        start_key: StartKey | None,
    ) -> Result:
        """Post the task into the parent's conversation and return at once: the agent answers there."""
        instructions = str(parent_run.definition.get("instructions", "")) if parent_run else ""
        feed = self._build_feed(call)
        handover = {"mimeType": self._build_mime_type("run-agent-handover"), "text": instructions, "uri": ""}
        await feed.send_payload(
            "Storing query resource", build_store_payload(self._build_query_resource(agent, request), handover)
        )
        conversation = await self._choose_handoff_conversation(agent, request, call)
        query = f"{instructions}\n\n{request.query}" if instructions else request.query
        mention = f":mention[{agent.name}]{{sId={agent.name}}} {query}"
        files = await self._collect_files(request.files, parent_run, call)
        assignment = replace(_build_assignment(request, files), query=query, message=mention, start_key=start_key)
        run = await self.runs.start(agent, assignment, replace(call, run=None), conversation)
        return build_handoff_result(run, self.options.mime_prefix)

    async def _choose_handoff_conversation(self, agent: Agent, request: DelegationRequest, call: Call) -> Conversation:
        """Return the conversation to hand over: the one named, else the parent's."""
        conversation_id = request.conversation_id
        if conversation_id and conversation_id not in _list_parent_ids(call):
            return await self._enter_conversation(await self.conversations.get(conversation_id, call), call)
        if call.run is None:
            return await self.conversations.ensure_host_conversation(call, agent.name)
        self.conversations.check_nesting(agent.name, call.run.depth, (*call.run.ancestors, call.run.agent))
        conversation = await self.conversations.get(call.run.conversation_id, call)
        return replace(conversation, ancestors=(*call.run.ancestors, call.run.agent))

    # Following runs and building results

    async def _build_run_result(self, run: Run, call: Call) -> Result:
        usage = await self.runs.sum_usage(run.id)
        match run.status:
            case "completed" | "partial":
                cited = await adopt_citations(self.citations, call, run.answer, run.citations)
                return build_answer_result(run, cited, usage, self.options.mime_prefix)
            case "blocked":
                await self._raise_if_waiting(run)
                return build_pending_result(run, usage, waited=True)  # decided in the meantime, e.g. in the dashboard
            case "failed" | "cancelled":
                raise build_run_error(run, usage)
            case _:
                return build_pending_result(run, usage, waited=True)

    def _build_feed(self, call: Call) -> ProgressFeed:
        return ProgressFeed(call, self.options.progress, self.options.per_second)

    def _build_query_resource(self, agent: Agent, request: DelegationRequest) -> dict[str, Any]:
        return {
            "mimeType": self._build_mime_type("run-agent-query"),
            "text": request.query,
            "childAgentId": agent.name,
            "uri": "",
        }

    def _build_mime_type(self, name: str) -> str:
        return f"{self.options.mime_prefix}.tool-output.{name}"


def _serialize_ids(run: Run) -> dict[str, Any]:
    return {
        "childAgentId": run.agent,
        "conversationId": run.conversation_id,
        "userMessageId": run.message_id,
        "agentMessageId": run.id,
        "uri": build_conversation_uri(run),
    }


def _list_parent_ids(call: Call) -> set[str]:
    """Return the ids by which a caller may name its own conversation."""
    return {call.run.conversation_id} if call.run else {call.session}


def _is_handoff(request: DelegationRequest, call: Call) -> bool:
    in_own_conversation = request.conversation_id in _list_parent_ids(call)
    return request.mode == "handoff" or (request.mode is None and in_own_conversation)


def _build_start_key(agent: str, request: DelegationRequest, call: Call) -> StartKey | None:
    """Return the key of the request, as its argument or the call has it."""
    key = request.idempotency_key or call.idempotency_key
    if not key:
        return None
    budget = request.budget.model_dump(exclude_none=True) if request.budget else None
    return build_start_key(key, call, vars(replace(request, idempotency_key="")) | {"agent": agent, "budget": budget})


def _build_assignment(request: DelegationRequest, files: Sequence[dict[str, Any]]) -> Assignment:
    # Hosts of the wire format name a toolset by one of these prefixes and its name.
    toolsets = [name.removeprefix("mcp_server_view_").removeprefix("msv_") for name in request.toolsets]
    return Assignment(request.query, toolsets, files, request.budget)
