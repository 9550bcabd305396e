"""Conversations of people, hosts and agents with agents."""

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
    from sqlalchemy import Connection

Visibility = Literal["listed", "unlisted"]
MessageRole = Literal["user", "agent"]


class ParentRun(Protocol):
    """The run that starts a conversation with another agent (`RunContext` implements it)."""

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
    """A conversation.

    Attributes:
        agent: The agent that answers, unless a message names another one.
        visibility: `unlisted` conversations belong to another agent's work and are not shown to people.
        depth: 0 if a person or a host talks to the agent directly, else the parent's depth plus one.
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
        """Return whether the caller shares the workspace, and the session or the person."""
        same_person = call.identity is not None and call.identity == self.identity
        return _workspace_key(call) == self.workspace and (
            to_storable_text(call.session, 200) == self.session or same_person
        )


@dataclass(frozen=True)
class ConversationMessage:
    """A message in a conversation.

    Attributes:
        agent: The author of an agent's message; the agent that should answer a user's message.
        citations: Citations by reference, for the `:cite[...]` blocks of the text.
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
        """Start a conversation with an agent.

        Args:
            call: The caller; the conversation belongs to its workspace, session and identity.
            agent: The agent's name.
            title: The title for people.
            parent: The run that starts it, unless a person or a host does.
            visibility: Whether it is shown among a person's conversations.
            depth: Its depth, used without a parent.

        Raises:
            Refused: It is nested deeper than 4 (`agent_depth`), or the agent would call itself (`agent_cycle`).
        """
        ancestors = (*parent.ancestors, parent.agent) if parent else ()
        depth = parent.depth + 1 if parent else depth
        self.check_nesting(agent, depth, ancestors)
        conversation = _build_conversation(
            call, agent, title=title, visibility=visibility, depth=depth, ancestors=ancestors
        )
        if parent:
            conversation = replace(conversation, parent_id=parent.conversation_id)
        await self._insert_row(conversation)
        return conversation

    async def ensure_host_conversation(self, call: Call, agent: str) -> Conversation:
        """Return the conversation that represents a session of the host; create it if necessary."""
        key = f"{_workspace_key(call)}\x1f{call.session}".encode("utf-8", "replace")
        conversation_id = f"cnv_{hashlib.blake2s(key, digest_size=16).hexdigest()}"
        conversation = _build_conversation(
            call, agent, title=f"session {call.session}", visibility="listed", depth=0, ancestors=()
        )
        await self._insert_row(replace(conversation, id=conversation_id))
        return await self.get(conversation_id, call)

    def check_nesting(self, agent: str, depth: int, ancestors: Sequence[str]) -> None:
        """Check that an agent may be called below others.

        Raises Refused if it would be nested too deep (`agent_depth`) or call itself (`agent_cycle`).
        """
        max_depth = 4  # contract of `run_agent`
        if agent in ancestors:
            chain = " > ".join((*ancestors, agent))
            raise Refused(
                f"agent {agent!r} is already in this chain of calls: {chain}",
                code="agent_cycle",
                hint="answer from what you know, or ask another agent",
            )
        if depth > max_depth:
            raise Refused(
                f"agents may call agents {max_depth} levels deep, and this would be level {depth}",
                code="agent_depth",
                hint="do the work yourself instead of delegating it",
            )

    async def _insert_row(self, conversation: Conversation) -> None:
        """Save a conversation, unless one of the same id exists."""
        from outrider.agents.tables import conversations

        row = vars(conversation) | {"ancestors": list(conversation.ancestors)}
        async with self._database.write() as connection:
            await connection.execute(self._database.build_insert(conversations).values(row).on_conflict_do_nothing())

    async def get(self, conversation_id: str, call: Call | None = None) -> Conversation:
        """Return the conversation. Raises NotFound if it is missing or hidden from the caller."""
        from sqlalchemy import select

        from outrider.agents.tables import conversations

        query = select(conversations).where(conversations.c.id == to_storable_text(conversation_id, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is not None:
            fields: dict[str, Any] = dict(row) | {"ancestors": tuple(row["ancestors"])}
            conversation = Conversation(**fields)
            if call is None or conversation.is_visible_to(call):
                return conversation
        raise NotFound(
            f"conversation {conversation_id[:200]!r} does not exist",
            hint="use a conversationId from an agent's result, or leave it out to start a new conversation",
        )

    async def delete_if_empty(self, conversation_id: str) -> None:
        """Delete a conversation without messages, because another process has started its run in another one."""
        from sqlalchemy import delete, exists

        from outrider.agents.tables import conversations, messages

        has_messages = exists().where(messages.c.conversation_id == conversation_id)
        query = delete(conversations).where(conversations.c.id == conversation_id, ~has_messages)
        async with self._database.write() as connection:
            await connection.execute(query)

    async def post_message(
        self, conversation_id: str, role: MessageRole, text: str, **fields: Any
    ) -> ConversationMessage:
        """Add a message to an existing conversation; `fields` are the keywords of `build_message`."""
        message = build_message(conversation_id, role, text, **fields)
        await self._database.run_transaction(lambda connection: insert_message(connection, message), write=True)
        return message

    async def list_messages(self, conversation_id: str) -> list[ConversationMessage]:
        """Return all messages, the oldest first."""
        from sqlalchemy import select

        from outrider.agents.tables import messages

        query = select(messages).where(messages.c.conversation_id == conversation_id)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(messages.c.created_at, messages.c.id))
            return [ConversationMessage(**row) for row in rows.mappings()]

    async def find_attachments(self, conversation_id: str, file_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the conversation's files with these ids, in that order; unknown ids are left out."""
        messages = await self.list_messages(conversation_id)
        files = {str(file.get("id")): file for message in messages for file in message.files}
        return [files[file_id] for file_id in dict.fromkeys(file_ids) if file_id in files]


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
    """Return a new message without saving it."""
    return ConversationMessage(
        id=f"msg_{uuid.uuid4().hex}",
        conversation_id=conversation_id,
        role=role,
        agent=agent,
        text=to_storable_text(text),
        thoughts=to_storable_text(thoughts),
        citations={reference: dict(citation) for reference, citation in (citations or {}).items()},
        # The files' contents are stored with the run that reads them.
        files=[{name: value for name, value in file.items() if name != "content"} for file in files],
        run_id=run_id,
        status=status,
        created_at=time.time(),
    )


def insert_message(connection: "Connection", message: ConversationMessage) -> None:
    """Add a message within the caller's transaction."""
    from outrider.agents.tables import conversations, messages

    connection.execute(messages.insert(), [vars(message)])
    update = conversations.update().where(conversations.c.id == message.conversation_id)
    connection.execute(update.values(updated_at=message.created_at))


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


def _workspace_key(call: Call) -> str:
    return to_storable_text(call.workspace or "", 200)
