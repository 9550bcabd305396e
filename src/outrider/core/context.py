"""One call in progress: who makes it, in which conversation, and how to tell them how far it is."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer

MessageRole = Literal["user", "assistant"]


class ProgressCallback(Protocol):
    """Tells the caller how far the call is: done and total in any unit, a label, JSON-able data."""

    def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> Awaitable[None]: ...


class ClientModel(Protocol):
    """The caller's own language model: instructions, what was said so far, and how many tokens it may answer with.

    Returns what it says, and its name. Raises Unavailable.
    """

    def __call__(
        self, instructions: str, messages: Sequence[tuple[MessageRole, str]], max_tokens: int
    ) -> Awaitable[tuple[str, str]]: ...


async def _ignore_progress(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
    """The progress of a caller that did not ask for any."""


async def _ignore_heartbeat(message: str) -> None:
    """The sign of life for a caller that did not ask for any."""


def _is_never_cancelled() -> bool:
    """Nobody said that the result is no longer wanted."""
    return False


@dataclass(frozen=True)
class RunContext:
    """The agent's run that makes a call.

    Attributes:
        id: The run.
        root_id: The outermost run, which a person or a host started.
        conversation_id: Where the run speaks.
        agent: The agent's name.
        depth: How deep the run's conversation lies; 0 for one that a person or a host began.
        ancestors: The agents above, outermost first, without the agent itself.
        call_id: Which call of the run this is; the same when it is repeated after a crash or a question.
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
        """The same for every repetition of this call, and for no other."""
        return f"{self.id}:{self.call_id}"


@dataclass(frozen=True)
class Call:
    """What travels with a call. The host supplies it, never the model.

    Attributes:
        session: The conversation; state that a tool keeps belongs to it.
        assistant: Which assistant acts; None where the host names none.
        thread: A branch of the conversation.
        workspace: The directory or tenant that the call belongs to.
        identity: The person for whom the call is made.
        message: The agent message that is being written; citation references are unique within it.
        citations: (offset, count) of the references that the host reserved for this call.
        progress: Reports progress; does nothing when the caller did not ask.
        heartbeat: Tells the caller in words that the call goes on, where there is no progress to report.
        answer: The person's answer, when the call resumes after a question about itself.
        answers: What was decided on questions of runs below, by question id; perhaps not on all of them.
        state: What the paused call left behind, when it resumes.
        run: The agent's run that makes the call; None for calls of hosts and people.
        client_model: The caller's own language model, where it lends it for the time of the call.
        is_cancelled: Whether the caller has said that it gives the call up; one that only vanished has not.
        grant: What the caller may do; None where nobody has to show anything. Workspace and identity are proven then.
    """

    session: str = "default"
    assistant: str | None = None
    thread: str | None = None
    workspace: str | None = None
    identity: str | None = None
    message: str | None = None
    citations: tuple[int, int] | None = None
    progress: ProgressCallback = _ignore_progress
    heartbeat: Callable[[str], Awaitable[None]] = _ignore_heartbeat
    answer: bool | None = None
    answers: Mapping[str, QuestionAnswer] = field(default_factory=dict)
    state: str | None = None
    run: RunContext | None = None
    is_cancelled: Callable[[], bool] = _is_never_cancelled
    client_model: ClientModel | None = None
    grant: Grant | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        """Whose state the call may see: of workspace, person and session, so that equal names do not meet. 64 hex."""
        names = (self.workspace or "", self.identity or "", self.session)
        return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()

    @property
    def owner_folder(self) -> str:
        """The folder of what this person has in this workspace, whatever the session. 32 hex.

        Empty where nobody has to show who they are: then the machine is one person's.
        """
        if self.grant is None:
            return ""
        names = (self.workspace or "", self.identity or "")
        return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()[:32]
