"""From a call of `run_<name>` to a run and back: begun, handed over, resumed, followed, blocked or left at work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.assignment import Assignment
from outrider.agents.catalogue import Catalogue
from outrider.agents.citations import adopt
from outrider.agents.conversations import Conversation, Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.run import Run, RunRows
from outrider.agents.runs import Runs
from outrider.core.artifacts import Artifacts
from outrider.core.citations import Citations
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError
from outrider.core.result import Result
from outrider.toolsets.run_agent_progress import Feed, Style, stored
from outrider.toolsets.run_agent_results import address, answered, at_work, broken, handed_over, overruled

Mode = Literal["run", "handoff", "background"]
VIEWS = ("mcp_server_view_", "msv_")  # how hosts of the wire format name a toolset: prefix and name


@dataclass(frozen=True)
class Manner:
    """What an operator chose about agents as tools.

    Attributes:
        mime_prefix: The vendor tree of typed resources.
        progress: Whether progress holds the text so far or what is new.
        per_second: Progress notices of a kind at most.
        detach_seconds: How long a call waits for its agent before it comes back without.
        configured: Whether somebody has written an agent, or named a model for them.
    """

    mime_prefix: str = "application/vnd.dust"
    progress: Style = "accumulated"
    per_second: float = 20.0
    detach_seconds: float = 600.0
    configured: bool = False


@dataclass(frozen=True)
class Wish:
    """What a caller wants of an agent."""

    query: str
    toolsets: Sequence[str] = ()
    files: Sequence[str] = ()
    conversation_id: str = ""
    mode: Mode | None = None
    budget: Budgets | None = None


@dataclass(frozen=True)
class Delegation:
    """Gives work to agents for hosts, people and other agents."""

    catalogue: Catalogue
    runs: Runs
    conversations: Conversations
    questions: Questions
    citations: Citations
    artifacts: Artifacts
    database: Database
    manner: Manner

    async def run(self, name: str, wish: Wish, call: Call) -> Result:
        """The agent's answer, or how to come back for it.

        Args:
            name: The agent's true name.
            wish: What it is to do.
            call: Who calls; `call.state` or the host's `resumeState` goes back to a run that was begun before.

        Raises:
            AnswerNeeded: The run waits for people; the same call with the answers goes on.
            OutriderError: There is no answer, and why.
        """
        held = await self._held(call)
        if held is not None:
            _same_agent(held, name)
            return await self.wait(held, call)
        agent = await self.catalogue.get(name, call.workspace)
        above = await self._above(call)
        if self._hands_over(wish, call):
            return await self._hand_over(agent, wish, call, above)
        feed = self._feed(call)
        await feed.tell("Storing query resource", stored(self._query(agent, wish)))
        run = await self._begin(agent, wish, call, above)
        await feed.tell(f"Running agent {agent.name}", {"type": "run_agent", "query": wish.query} | _ids(run))
        if wish.mode == "background":
            return at_work(run, await self.runs.usage(run.id), asked=True)
        return await self.wait(run, call, feed=feed)

    async def wait(self, run: Run, call: Call, *, seconds: float | None = None, feed: Feed | None = None) -> Result:
        """The answer of a run that was begun, after at most `seconds`; answers that came with the call are taken in."""
        run = await self._decided(run, call)
        with anyio.move_on_after(self.manner.detach_seconds if seconds is None else seconds):
            await self._follow(run, call, feed or self._feed(call))
        told = await self._told(await self.runs.get(run.id), call)
        if call.run is not None or not call.answers:
            return told
        return overruled(told, await self.questions.overruled(call.answers, by=call.identity or call.session))

    async def mine(self, run_id: str, call: Call) -> Run:
        """The run of that id. Raises NotFound, also where the caller takes no part in its conversation."""
        run = await self.runs.get(run_id)
        try:
            await self.conversations.get(run.conversation_id, call)
        except NotFound:
            hint = "use an id that an agent's result gave you"
            raise NotFound(f"no run {run_id[:60]!r}", hint=hint) from None
        return run

    async def recent(self, call: Call, limit: int = 10) -> list[Run]:
        """The caller's last runs, the newest first."""
        from outrider.agents.tables import runs

        mine = runs.c.workspace == (call.workspace or ""), runs.c.session == call.session
        return (await self._rows.where(*mine, runs.c.parent_run_id.is_(None)))[: -limit - 1 : -1]

    async def transcript(self, conversation_id: str, call: Call) -> str:
        """What was said in a conversation of the caller's, as Markdown. Raises NotFound."""
        conversation = await self.conversations.get(conversation_id, call)
        messages = await self.conversations.messages(conversation.id)
        parts = [
            f"## {each.agent if each.role == 'agent' else 'To ' + str(each.agent)}\n\n{each.text}" for each in messages
        ]
        return "\n\n".join((f"# {conversation.title}", *parts))

    @property
    def _rows(self) -> RunRows:
        return RunRows(self.database)

    # Going back

    async def _held(self, call: Call) -> Run | None:
        """The run that this call has begun before, if it has."""
        if call.state:
            return await self.mine(call.state, call)
        resume = call.extra.get("resumeState")
        return await self._resumed(resume, call) if isinstance(resume, Mapping) else None

    async def _resumed(self, state: Mapping[str, Any], call: Call) -> Run | None:
        """The run of a host's saved state: both ids, or it is none."""
        from outrider.agents.tables import runs

        conversation, message = state.get("conversationId"), state.get("userMessageId")
        if not isinstance(conversation, str) or not isinstance(message, str):
            return None
        await self.conversations.get(conversation, call)
        found = await self._rows.where(runs.c.conversation_id == conversation, runs.c.message_id == message)
        if not found:
            raise NotFound("resumeState: no run answers that message", hint="call again without resumeState")
        return found[-1]

    async def _decided(self, run: Run, call: Call) -> Run:
        """The run, going on if people have decided all that it waits for; their answers are kept in any case."""
        if call.run is None and call.answers:
            await self.questions.settle(run.root_run_id, call.answers, by=call.identity or call.session)
        if run.status != "blocked":
            return run
        await self._ask_if_open(run)
        root = await self.runs.get(run.root_run_id)
        # Whoever waits above must go on too, and will take this run along; but a run in the background has nobody.
        await self.runs.resume(root.id if call.run is None and root.status == "blocked" else run.id)
        return await self.runs.get(run.id)

    async def _ask_if_open(self, run: Run) -> None:
        tree = {run.id, *(each.id for each in await self._rows.below(run.id))}
        still = [each for each in await self.questions.pending(run.root_run_id) if each.run_id in tree]
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

    def _hands_over(self, wish: Wish, call: Call) -> bool:
        return wish.mode == "handoff" or (wish.mode is None and wish.conversation_id in _parents(call))

    async def _begin(self, agent: Agent, wish: Wish, call: Call, above: Run | None) -> Run:
        before = await self._begun_before(call)
        if before is not None:
            return before
        conversation = await self._conversation(agent, wish, call)
        files = await self._files(wish.files, above, call)
        return await self.runs.start(agent, _assignment(wish, files), call, conversation)

    async def _begun_before(self, call: Call) -> Run | None:
        """The run that this very call of a parent began before its process died."""
        from outrider.agents.tables import runs

        if call.run is None:
            return None
        same = runs.c.parent_run_id == call.run.id, runs.c.parent_call_id == call.run.call_id
        return next(iter(await self._rows.where(*same)), None)

    async def _conversation(self, agent: Agent, wish: Wish, call: Call) -> Conversation:
        """The one that the caller goes on with; else a new one below the parent's."""
        if wish.conversation_id and wish.conversation_id not in _parents(call):
            try:
                return await self._continued(await self.conversations.get(wish.conversation_id, call), call)
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

    async def _continued(self, conversation: Conversation, call: Call) -> Conversation:
        """An existing conversation as this caller enters it: never shallower than below itself."""
        if call.run is None:
            return conversation
        self.conversations.check(conversation.agent, call.run.depth + 1, (*call.run.ancestors, call.run.agent))
        return replace(conversation, depth=call.run.depth + 1, ancestors=(*call.run.ancestors, call.run.agent))

    async def _files(self, wanted: Sequence[str], above: Run | None, call: Call) -> list[dict[str, Any]]:
        """Attachments of the parent's conversation and kept files of those ids; unknown ones are left out."""
        held = await self.conversations.attachments(above.conversation_id, wanted) if above and wanted else []
        missing = set(wanted) - {each["id"] for each in held}
        return held + [each for name in wanted if name in missing for each in await self._kept(name, call)]

    async def _kept(self, name: str, call: Call) -> list[dict[str, Any]]:
        try:
            kept = await self.artifacts.get(name, call.workspace)
        except OutriderError:
            return []
        return [{"id": kept.id, "title": kept.name, "content_type": kept.mime_type, "uri": kept.uri}]

    # Handing over

    async def _hand_over(self, agent: Agent, wish: Wish, call: Call, above: Run | None) -> Result:
        """Posts into the parent's conversation and comes back at once: the agent answers there."""
        instructions = str(above.definition.get("instructions", "")) if above else ""
        feed = self._feed(call)
        handover = {"mimeType": self._type("run-agent-handover"), "text": instructions, "uri": ""}
        await feed.tell("Storing query resource", stored(self._query(agent, wish), handover))
        conversation = await self._place(agent, wish, call)
        lead = f"{instructions}\n\n" if instructions else ""
        mention = f":mention[{agent.name}]{{sId={agent.name}}} {lead}{wish.query}"
        files = await self._files(wish.files, above, call)
        posted = await self.conversations.post(conversation.id, "user", mention, agent=agent.name, files=files)
        work = replace(_assignment(wish, files), query=f"{lead}{wish.query}", message_id=posted.id)
        run = await self.runs.start(agent, work, replace(call, run=None), conversation)
        return handed_over(run, self.manner.mime_prefix)

    async def _place(self, agent: Agent, wish: Wish, call: Call) -> Conversation:
        """The conversation that is handed over: the one named, else the parent's."""
        wanted = wish.conversation_id
        if wanted and wanted not in _parents(call):
            return await self._continued(await self.conversations.get(wanted, call), call)
        if call.run is None:
            return await self.conversations.of_host(call, agent.name)
        self.conversations.check(agent.name, call.run.depth, (*call.run.ancestors, call.run.agent))
        conversation = await self.conversations.get(call.run.conversation_id, call)
        return replace(conversation, ancestors=(*call.run.ancestors, call.run.agent))

    # Following and telling

    async def _follow(self, run: Run, call: Call, feed: Feed) -> None:
        """Until the attempt is over. A caller that gives up takes the run with it; one that vanishes does not."""
        try:
            async with feed.following(_ids(run)):
                async for event in self.runs.follow(run.id):
                    await feed.take(event.kind, event.data)
        except anyio.get_cancelled_exc_class():
            if call.unwanted():
                with anyio.CancelScope(shield=True):
                    await self.runs.cancel(run.id)
            raise

    async def _told(self, run: Run, call: Call) -> Result:
        usage = await self.runs.usage(run.id)
        match run.status:
            case "completed" | "partial":
                cited = await adopt(self.citations, call, run.answer, run.citations)
                return answered(run, cited, usage, self.manner.mime_prefix)
            case "blocked":
                await self._ask_if_open(run)
                return at_work(run, usage, asked=False)  # decided meanwhile, by another door
            case "failed" | "cancelled":
                raise broken(run, usage)
            case _:
                return at_work(run, usage, asked=False)

    def _feed(self, call: Call) -> Feed:
        return Feed(call, self.manner.progress, self.manner.per_second)

    def _query(self, agent: Agent, wish: Wish) -> dict[str, Any]:
        return {
            "mimeType": self._type("run-agent-query"),
            "text": wish.query,
            "childAgentId": agent.name,
            "uri": "",
        }

    def _type(self, name: str) -> str:
        return f"{self.manner.mime_prefix}.tool-output.{name}"


def _ids(run: Run) -> dict[str, Any]:
    return {
        "childAgentId": run.agent,
        "conversationId": run.conversation_id,
        "userMessageId": run.message_id,
        "agentMessageId": run.id,
        "uri": address(run),
    }


def _parents(call: Call) -> set[str]:
    """The ids by which a caller may name its own conversation."""
    return {call.run.conversation_id} if call.run else {call.session}


def _same_agent(run: Run, name: str) -> None:
    if run.agent != name:
        raise InvalidInput(
            f"this call goes back to a run of agent {run.agent!r}, not of {name!r}",
            hint=f"call agent_run with runId {run.id}, or repeat the call without state to begin a new run",
        )


def _assignment(wish: Wish, files: Sequence[dict[str, Any]]) -> Assignment:
    return Assignment(wish.query, [_toolset(each) for each in wish.toolsets], files, wish.budget)


def _toolset(name: str) -> str:
    """The toolset behind a host's id for it."""
    for prefix in VIEWS:
        name = name.removeprefix(prefix)
    return name
