"""From a call of `run_<name>` to a run and back: begun, handed over, resumed, followed, blocked or left at work."""

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
from outrider.core.artifacts import ArtifactStore
from outrider.core.citations import CitationPool
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError
from outrider.core.result import Result
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
    """What an operator chose about agents as tools.

    Attributes:
        mime_prefix: The vendor tree of typed resources.
        progress: Whether progress holds the text so far or what is new.
        per_second: Progress notices of a kind at most.
        detach_seconds: How long a call waits for its agent before it comes back without.
        configured: Whether somebody has written an agent, or named a model for them.
    """

    mime_prefix: str = "application/vnd.dust"
    progress: ProgressStyle = "accumulated"
    per_second: float = 20.0
    detach_seconds: float = 600.0
    configured: bool = False


@dataclass(frozen=True)
class DelegationRequest:
    """What a caller wants of an agent."""

    query: str
    toolsets: Sequence[str] = ()
    files: Sequence[str] = ()
    conversation_id: str = ""
    mode: DelegationMode | None = None
    budget: Budgets | None = None


@dataclass(frozen=True)
class Delegation:
    """Gives work to agents for hosts, people and other agents."""

    catalogue: Catalogue
    runs: RunService
    conversations: Conversations
    questions: Questions
    citations: CitationPool
    artifacts: ArtifactStore
    database: Database
    options: DelegationOptions

    async def run_agent(self, name: str, request: DelegationRequest, call: Call) -> Result:
        """The agent's answer, or how to come back for it.

        Args:
            name: The agent's true name.
            request: What it is to do.
            call: Who calls; `call.state` or the host's `resumeState` goes back to a run that was begun before.

        Raises:
            AnswerNeeded: The run waits for people; the same call with the answers goes on.
            OutriderError: There is no answer, and why.
        """
        held = await self._find_earlier_run(call)
        if held is not None:
            _check_same_agent(held, name)
            return await self.wait_for_run(held, call)
        agent = await self.catalogue.get(name, call.workspace)
        above = await self._above(call)
        if self._is_handoff(request, call):
            return await self._hand_over(agent, request, call, above)
        feed = self._build_feed(call)
        await feed.send_payload(
            "Storing query resource", build_store_payload(self._build_query_resource(agent, request))
        )
        run = await self._begin_run(agent, request, call, above)
        await feed.send_payload(
            f"Running agent {agent.name}", {"type": "run_agent", "query": request.query} | _serialize_ids(run)
        )
        if request.mode == "background":
            return build_pending_result(run, await self.runs.sum_usage(run.id), asked=True)
        return await self.wait_for_run(run, call, feed=feed)

    async def wait_for_run(
        self, run: Run, call: Call, *, seconds: float | None = None, feed: ProgressFeed | None = None
    ) -> Result:
        """The answer of a run that was begun, after at most `seconds`; answers that came with the call are taken in."""
        run = await self._apply_decisions(run, call)
        with anyio.move_on_after(self.options.detach_seconds if seconds is None else seconds):
            await self._follow_run(run, call, feed or self._build_feed(call))
        told = await self._build_run_result(await self.runs.get(run.id), call)
        if call.run is not None or not call.answers:
            return told
        return add_overruled_note(
            told, await self.questions.list_overruled(call.answers, by=call.identity or call.session)
        )

    async def find_own_run(self, run_id: str, call: Call) -> Run:
        """The run of that id. Raises NotFound, also where the caller takes no part in its conversation."""
        run = await self.runs.get(run_id)
        try:
            await self.conversations.get(run.conversation_id, call)
        except NotFound:
            hint = "use an id that an agent's result gave you"
            raise NotFound(f"no run {run_id[:60]!r}", hint=hint) from None
        return run

    async def list_recent_runs(self, call: Call, limit: int = 10) -> list[Run]:
        """The caller's last runs, the newest first."""
        return await self._rows.list_recent(call.workspace or "", call.session, limit)

    async def format_transcript(self, conversation_id: str, call: Call) -> str:
        """What was said in a conversation of the caller's, as Markdown. Raises NotFound."""
        conversation = await self.conversations.get(conversation_id, call)
        messages = await self.conversations.list_messages(conversation.id)
        parts = [
            f"## {each.agent if each.role == 'agent' else 'To ' + str(each.agent)}\n\n{each.text}" for each in messages
        ]
        return "\n\n".join((f"# {conversation.title}", *parts))

    @property
    def _rows(self) -> RunStore:
        return RunStore(self.database)

    # Going back

    async def _find_earlier_run(self, call: Call) -> Run | None:
        """The run that this call has begun before, if it has."""
        if call.state:
            return await self.find_own_run(call.state, call)
        resume = call.extra.get("resumeState")
        return await self._find_resumed_run(resume, call) if isinstance(resume, Mapping) else None

    async def _find_resumed_run(self, state: Mapping[str, Any], call: Call) -> Run | None:
        """The run of a host's saved state: both ids, or it is none."""
        conversation, message = state.get("conversationId"), state.get("userMessageId")
        if not isinstance(conversation, str) or not isinstance(message, str):
            return None
        await self.conversations.get(conversation, call)
        run = await self._rows.find_by_message(conversation, message)
        if run is None:
            raise NotFound("resumeState: no run answers that message", hint="call again without resumeState")
        return run

    async def _apply_decisions(self, run: Run, call: Call) -> Run:
        """The run, going on if people have decided all that it waits for; their answers are kept in any case."""
        if call.run is None and call.answers:
            await self.questions.apply_answers(run.root_run_id, call.answers, by=call.identity or call.session)
        if run.status != "blocked":
            return run
        await self._raise_if_waiting(run)
        root = await self.runs.get(run.root_run_id)
        # Whoever waits above must go on too, and will take this run along; but a run in the background has nobody.
        await self.runs.resume(root.id if call.run is None and root.status == "blocked" else run.id)
        return await self.runs.get(run.id)

    async def _raise_if_waiting(self, run: Run) -> None:
        tree = {run.id, *(each.id for each in await self._rows.list_descendants(run.id))}
        still = [each for each in await self.questions.list_pending(run.root_run_id) if each.run_id in tree]
        if still:
            waits = ", ".join(dict.fromkeys(each.title for each in still))
            raise AnswerNeeded(
                f"Agent {run.agent} waits for a person: {waits}",
                state=run.id,
                details={"conversationId": run.conversation_id, "userMessageId": run.message_id, "runId": run.id},
                questions=still,
            )

    # Beginning

    async def _above(self, call: Call) -> Run | None:
        return await self.runs.get(call.run.id) if call.run else None

    def _is_handoff(self, request: DelegationRequest, call: Call) -> bool:
        return request.mode == "handoff" or (request.mode is None and request.conversation_id in _list_parent_ids(call))

    async def _begin_run(self, agent: Agent, request: DelegationRequest, call: Call, parent_run: Run | None) -> Run:
        before = await self._find_begun_run(call)
        if before is not None:
            return before
        conversation = await self._choose_conversation(agent, request, call)
        files = await self._collect_files(request.files, parent_run, call)
        return await self.runs.start(agent, _build_assignment(request, files), call, conversation)

    async def _find_begun_run(self, call: Call) -> Run | None:
        """The run that this very call of a parent began before its process died."""
        return await self._rows.find_by_parent_call(call.run.id, call.run.call_id) if call.run else None

    async def _choose_conversation(self, agent: Agent, request: DelegationRequest, call: Call) -> Conversation:
        """The one that the caller goes on with; else a new one below the parent's."""
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
        """An existing conversation as this caller enters it: never shallower than below itself."""
        if call.run is None:
            return conversation
        self.conversations.check_nesting(conversation.agent, call.run.depth + 1, (*call.run.ancestors, call.run.agent))
        return replace(conversation, depth=call.run.depth + 1, ancestors=(*call.run.ancestors, call.run.agent))

    async def _collect_files(self, wanted: Sequence[str], parent_run: Run | None, call: Call) -> list[dict[str, Any]]:
        """Attachments of the parent's conversation and kept files of those ids; unknown ones are left out."""
        held = (
            await self.conversations.find_attachments(parent_run.conversation_id, wanted)
            if parent_run and wanted
            else []
        )
        missing = set(wanted) - {each["id"] for each in held}
        return held + [
            each for name in wanted if name in missing for each in await self._find_artifact_file(name, call)
        ]

    async def _find_artifact_file(self, name: str, call: Call) -> list[dict[str, Any]]:
        try:
            kept = await self.artifacts.get(name, call.workspace)
        except OutriderError:
            return []
        return [{"id": kept.id, "title": kept.name, "content_type": kept.mime_type, "uri": kept.uri}]

    # Handing over

    async def _hand_over(self, agent: Agent, request: DelegationRequest, call: Call, parent_run: Run | None) -> Result:
        """Posts into the parent's conversation and comes back at once: the agent answers there."""
        instructions = str(parent_run.definition.get("instructions", "")) if parent_run else ""
        feed = self._build_feed(call)
        handover = {"mimeType": self._build_mime_type("run-agent-handover"), "text": instructions, "uri": ""}
        await feed.send_payload(
            "Storing query resource", build_store_payload(self._build_query_resource(agent, request), handover)
        )
        conversation = await self._choose_handoff_conversation(agent, request, call)
        lead = f"{instructions}\n\n" if instructions else ""
        mention = f":mention[{agent.name}]{{sId={agent.name}}} {lead}{request.query}"
        files = await self._collect_files(request.files, parent_run, call)
        posted = await self.conversations.post_message(conversation.id, "user", mention, agent=agent.name, files=files)
        work = replace(_build_assignment(request, files), query=f"{lead}{request.query}", message_id=posted.id)
        run = await self.runs.start(agent, work, replace(call, run=None), conversation)
        return build_handoff_result(run, self.options.mime_prefix)

    async def _choose_handoff_conversation(self, agent: Agent, request: DelegationRequest, call: Call) -> Conversation:
        """The conversation that is handed over: the one named, else the parent's."""
        wanted = request.conversation_id
        if wanted and wanted not in _list_parent_ids(call):
            return await self._enter_conversation(await self.conversations.get(wanted, call), call)
        if call.run is None:
            return await self.conversations.ensure_host_conversation(call, agent.name)
        self.conversations.check_nesting(agent.name, call.run.depth, (*call.run.ancestors, call.run.agent))
        conversation = await self.conversations.get(call.run.conversation_id, call)
        return replace(conversation, ancestors=(*call.run.ancestors, call.run.agent))

    # Following and telling

    async def _follow_run(self, run: Run, call: Call, feed: ProgressFeed) -> None:
        """Until the attempt is over. A caller that gives up takes the run with it; one that vanishes does not."""
        try:
            async with feed.follow_run(_serialize_ids(run)):
                async for event in self.runs.follow(run.id):
                    await feed.handle_event(event.kind, event.data)
        except anyio.get_cancelled_exc_class():
            if call.is_cancelled():
                with anyio.CancelScope(shield=True):
                    await self.runs.cancel(run.id)
            raise

    async def _build_run_result(self, run: Run, call: Call) -> Result:
        usage = await self.runs.sum_usage(run.id)
        match run.status:
            case "completed" | "partial":
                cited = await adopt_citations(self.citations, call, run.answer, run.citations)
                return build_answer_result(run, cited, usage, self.options.mime_prefix)
            case "blocked":
                await self._raise_if_waiting(run)
                return build_pending_result(run, usage, asked=False)  # decided meanwhile, by another door
            case "failed" | "cancelled":
                raise build_run_error(run, usage)
            case _:
                return build_pending_result(run, usage, asked=False)

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
    """The ids by which a caller may name its own conversation."""
    return {call.run.conversation_id} if call.run else {call.session}


def _check_same_agent(run: Run, name: str) -> None:
    if run.agent != name:
        raise InvalidInput(
            f"this call goes back to a run of agent {run.agent!r}, not of {name!r}",
            hint=f"call agent_run with runId {run.id}, or repeat the call without state to begin a new run",
        )


def _build_assignment(request: DelegationRequest, files: Sequence[dict[str, Any]]) -> Assignment:
    return Assignment(request.query, [_strip_view_prefix(each) for each in request.toolsets], files, request.budget)


def _strip_view_prefix(name: str) -> str:
    """The toolset behind a host's id for it."""
    view_prefixes = ("mcp_server_view_", "msv_")  # how hosts of the wire format name a toolset: prefix and name
    for prefix in view_prefixes:
        name = name.removeprefix(prefix)
    return name
