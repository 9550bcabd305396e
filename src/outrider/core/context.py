"""One call in progress: who makes it, in which conversation, and how to tell them how far it is."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Protocol


class Progress(Protocol):
    """Tells the caller how far the call is: done and total in any unit, a label, JSON-able data."""

    def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> Awaitable[None]: ...


async def _silent(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
    """The progress of a caller that did not ask for any."""


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
        answer: The person's answer, when the call resumes after a question.
        state: What the paused call left behind, when it resumes.
    """

    session: str = "default"
    assistant: str | None = None
    thread: str | None = None
    workspace: str | None = None
    identity: str | None = None
    message: str | None = None
    citations: tuple[int, int] | None = None
    progress: Progress = _silent
    answer: bool | None = None
    state: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
