"""The context of a tool call: its caller, its conversation, and callbacks to report progress."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer

MessageRole = Literal["user", "assistant"]


class ProgressCallback(Protocol):
    """Reports progress to the caller: done and total in any unit, a label, JSON-able data."""

    def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> Awaitable[None]: ...


class ClientModel(Protocol):
    """The caller's own language model.

    It is called with instructions, messages and a limit on the answer in tokens.

    Returns the answer and the model's name. Raises Unavailable.
    """

    def __call__(
        self, instructions: str, messages: Sequence[tuple[MessageRole, str]], max_tokens: int
    ) -> Awaitable[tuple[str, str]]: ...


async def ignore_progress(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
    """Do nothing, for callers that did not ask for progress."""


async def ignore_heartbeat(message: str) -> None:
    """Do nothing, for callers that did not ask for heartbeats."""


@dataclass(frozen=True)
class RunContext:
    """The agent's run that makes a call.

    Attributes:
        id: The run's id.
        root_id: The outermost run, which a person or a host started.
        conversation_id: The run's conversation.
        agent: The agent's name.
        depth: Nesting of the run's conversation; 0 for one that a person or a host started.
        ancestors: The agents above, outermost first, without the agent itself.
        call_id: Id of the call within the run; the same when it is repeated after a crash or a question.
    """

    id: str
    root_id: str
    conversation_id: str
    agent: str
    depth: int = 0
    ancestors: tuple[str, ...] = ()
    call_id: str = ""

    @property
    def idempotency_key(self) -> str:
        """A key that repetitions of this call share, and no other call."""
        return f"{self.id}:{self.call_id}"


@dataclass(frozen=True)
class Call:
    """The context of a call, supplied by the host.

    It never comes from the model.

    Attributes:
        session: The conversation; state of a tool belongs to it.
        assistant: The acting assistant; None where the host names none.
        thread: A branch of the conversation.
        workspace: The directory or tenant that the call belongs to.
        identity: The person for whom the call is made.
        message: The agent message that is being written; citation references are unique within it.
        citations: (offset, count) of the references that the host reserved for this call.
        progress: Reports progress; does nothing when the caller did not ask.
        heartbeat: Reports to the caller that the call continues, without progress.
        answer: The person's answer, when the call resumes after a question about itself.
        is_answer_lasting: Whether the person has also permanently allowed what the question offered.
        answers: Decisions on questions of child runs, by question id; perhaps not on all of them.
        state: State of the paused call, when it resumes.
        run: The agent's run that makes the call; None for calls of hosts and people.
        client_model: The caller's own language model, if it offers it during the call.
        is_cancelled: Returns whether the caller has cancelled the call; losing its connection does not count.
        idempotency_key: The caller's key for this call; repetitions with it do not start a second run.
        grant: The caller's permissions; None where callers need not sign in. With a grant, workspace and identity
            are authenticated.
        extra: Further fields that the host sent.
    """

    session: str = "default"
    assistant: str | None = None
    thread: str | None = None
    workspace: str | None = None
    identity: str | None = None
    message: str | None = None
    citations: tuple[int, int] | None = None
    progress: ProgressCallback = ignore_progress
    heartbeat: Callable[[str], Awaitable[None]] = ignore_heartbeat
    answer: bool | None = None
    is_answer_lasting: bool = False
    answers: Mapping[str, QuestionAnswer] = field(default_factory=dict)
    state: str | None = None
    run: RunContext | None = None
    is_cancelled: Callable[[], bool] = lambda: False
    client_model: ClientModel | None = None
    idempotency_key: str | None = None
    grant: Grant | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        """The key of the state that the call may see.

        It is made of workspace, person and session, and has 64 hex digits.
        """
        names = (self.workspace or "", self.identity or "", self.session)
        return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()

    @property
    def owner_folder(self) -> str:
        """The folder of this person's data in this workspace, in all sessions: 32 hex digits.

        Empty where callers need not sign in, because then the machine has one user.
        """
        if self.grant is None:
            return ""
        names = (self.workspace or "", self.identity or "")
        return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()[:32]
