"""Conversations: where people, hosts and agents write to agents, and where the agents answer."""

import hashlib
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound, Refused

if TYPE_CHECKING:
    from sqlalchemy import Connection, RowMapping

Visibility = Literal["listed", "unlisted"]
MessageRole = Literal["user", "agent"]


class ParentRun(Protocol):
    """The run that begins a conversation with another agent (a `RunContext` is one)."""

    @property
    def agent(self) -> str: ...
    @property
    def conversation_id(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def ancestors(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Conversation:
    """One conversation.

    Attributes:
        agent: The agent that answers in it, unless a message is for another.
        visibility: `unlisted` ones are parts of another's work and not shown among a person's conversations.
        depth: 0 where a person or a host speaks with the agent itself, else one more than the parent's.
        ancestors: The agents above, outermost first.
    """

    id: str
    workspace: str
    session: str
    assistant: str | None
    identity: str | None
    agent: str
    title: str
    visibility: Visibility
    depth: int
    ancestors: tuple[str, ...]
    parent_id: str | None
    created_at: float
    updated_at: float

    def is_visible_to(self, call: Call) -> bool:
        """Whether the caller takes part: the same workspace, and the same session or the same person."""
        same_person = call.identity is not None and call.identity == self.identity
        return _workspace_key(call) == self.workspace and (
            to_storable_text(call.session, 200) == self.session or same_person
        )


@dataclass(frozen=True)
class ConversationMessage:
    """What somebody wrote.

    Attributes:
        agent: Of a user's message the agent that is to answer, of an agent's its author.
        citations: Reference to citation, for the `:cite[...]` blocks of the text.
        files: Attachments, each with `id`, `title` and `content_type`.
        run_id: The run that wrote it.
    """

    id: str
    conversation_id: str
    role: MessageRole
    agent: str | None
    text: str
    thoughts: str
    citations: dict[str, dict[str, Any]]
    files: list[dict[str, Any]]
    run_id: str | None
    status: str
    created_at: float


class Conversations:
    """All conversations in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        call: Call,
        agent: str,
        *,
        title: str,
        parent: ParentRun | None = None,
        visibility: Visibility = "unlisted",
        depth: int = 0,
    ) -> Conversation:
        """Begins a conversation with `agent`.

        Args:
            call: For whom; the conversation belongs to its workspace, session and identity.
            agent: The agent's name.
            title: What it is about.
            parent: The run that begins it; None for a person or a host.
            visibility: Whether it is shown among a person's conversations.
            depth: Its depth where there is no parent to tell.

        Raises:
            Refused: It would lie deeper than 4 (`agent_depth`), or the agent would call itself (`agent_cycle`).
        """
        ancestors = (*parent.ancestors, parent.agent) if parent else ()
        depth = parent.depth + 1 if parent else depth
        self.check_nesting(agent, depth, ancestors)
        made = _build_conversation(call, agent, title=title, visibility=visibility, depth=depth, ancestors=ancestors)
        if parent:
            made = replace(made, parent_id=parent.conversation_id)
        await self._insert_row(made)
        return made

    async def ensure_host_conversation(self, call: Call, agent: str) -> Conversation:
        """The conversation that stands for the host's own, one for each of its sessions; begun if there is none."""
        name = hashlib.blake2s(f"{_workspace_key(call)}\x1f{call.session}".encode("utf-8", "replace"), digest_size=16)
        made = _build_conversation(
            call, agent, title=f"session {call.session}", visibility="listed", depth=0, ancestors=()
        )
        await self._insert_row(made := replace(made, id=f"cnv_{name.hexdigest()}"))
        return await self.get(made.id, call)

    def check_nesting(self, agent: str, depth: int, ancestors: Sequence[str]) -> None:
        """Raises Refused where an agent would lie too deep (`agent_depth`) or call itself (`agent_cycle`)."""
        _check(agent, depth, ancestors)

    async def _insert_row(self, made: Conversation) -> None:
        from outrider.agents.tables import conversations

        row = vars(made) | {"ancestors": list(made.ancestors)}
        async with self._database.write() as connection:
            await connection.execute(self._database.build_insert(conversations).values(row).on_conflict_do_nothing())

    async def get(self, conversation_id: str, call: Call | None = None) -> Conversation:
        """The conversation. Raises NotFound, also where `call` takes no part in it."""
        from sqlalchemy import select

        from outrider.agents.tables import conversations

        query = select(conversations).where(conversations.c.id == to_storable_text(conversation_id, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        found = _conversation(row) if row else None
        if found is None or (call is not None and not found.is_visible_to(call)):
            raise NotFound(
                f"no conversation {conversation_id[:200]!r}",
                hint="use a conversationId that an agent's result gave you, or leave it out to begin a new one",
            )
        return found

    async def post_message(
        self, conversation_id: str, role: MessageRole, text: str, **more: Any
    ) -> ConversationMessage:
        """Adds a message, as `message_of` makes it; the conversation must exist."""
        made = build_message(conversation_id, role, text, **more)
        await self._database.run_transaction(lambda connection: insert_message(connection, made), write=True)
        return made

    async def list_messages(self, conversation_id: str) -> list[ConversationMessage]:
        """All messages, the oldest first."""
        from sqlalchemy import select

        from outrider.agents.tables import messages

        query = select(messages).where(messages.c.conversation_id == conversation_id)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(messages.c.created_at, messages.c.id))
            return [ConversationMessage(**row) for row in rows.mappings()]

    async def find_attachments(self, conversation_id: str, wanted: Sequence[str]) -> list[dict[str, Any]]:
        """The files of those ids among the conversation's messages, in the order asked for; strangers are left out."""
        held = {
            str(each.get("id")): each for message in await self.list_messages(conversation_id) for each in message.files
        }
        return [held[name] for name in dict.fromkeys(wanted) if name in held]


def build_message(  # noqa: PLR0913
    conversation_id: str,
    role: MessageRole,
    text: str,
    *,
    agent: str | None = None,
    files: Sequence[Mapping[str, Any]] = (),
    thoughts: str = "",
    citations: Mapping[str, Mapping[str, Any]] | None = None,
    run_id: str | None = None,
    status: str = "completed",
) -> ConversationMessage:
    """A new message, written nowhere yet."""
    return ConversationMessage(
        id=f"msg_{uuid.uuid4().hex}",
        conversation_id=conversation_id,
        role=role,
        agent=agent,
        text=to_storable_text(text),
        thoughts=to_storable_text(thoughts),
        citations={reference: dict(each) for reference, each in (citations or {}).items()},
        files=[dict(each) for each in files],
        run_id=run_id,
        status=status,
        created_at=time.time(),
    )


def insert_message(connection: "Connection", message: ConversationMessage) -> None:
    """Adds a message in a transaction of the caller's."""
    from outrider.agents.tables import conversations, messages

    connection.execute(messages.insert(), [vars(message)])
    touched = conversations.update().where(conversations.c.id == message.conversation_id)
    connection.execute(touched.values(updated_at=message.created_at))


def _build_conversation(
    call: Call, agent: str, *, title: str, visibility: Visibility, depth: int, ancestors: tuple[str, ...]
) -> Conversation:
    now = time.time()
    return Conversation(
        id=f"cnv_{uuid.uuid4().hex}",
        workspace=_workspace_key(call),
        session=to_storable_text(call.session, 200),
        assistant=call.assistant,
        identity=call.identity,
        agent=agent,
        title=to_storable_text(title, 500),
        visibility=visibility,
        depth=depth,
        ancestors=ancestors,
        parent_id=None,
        created_at=now,
        updated_at=now,
    )


def _check(agent: str, depth: int, ancestors: Sequence[str]) -> None:
    max_depth = 4  # an agent called by an agent called by …: the contract of `run_agent`
    if agent in ancestors:
        chain = " > ".join((*ancestors, agent))
        raise Refused(
            f"agent {agent!r} is already at work above: {chain}",
            code="agent_cycle",
            hint="answer from what you know, or ask another agent",
        )
    if depth > max_depth:
        raise Refused(
            f"agents may call agents {max_depth} levels deep, and this would be level {depth}",
            code="agent_depth",
            hint="do the work yourself instead of handing it on",
        )


def _conversation(row: "RowMapping") -> Conversation:
    facts: dict[str, Any] = dict(row) | {"ancestors": tuple(row["ancestors"])}
    return Conversation(**facts)


def _workspace_key(call: Call) -> str:
    return to_storable_text(call.workspace or "", 200)
