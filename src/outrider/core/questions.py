"""Questions that wait for a person, and people's answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

QuestionKind = Literal["approval", "authentication", "question"]
Decision = Literal["approved", "rejected", "always_approved", "answered"]


@dataclass(frozen=True)
class QuestionAnswer:
    """A person's answer: `reason` goes to the agent, `value` answers a `question` as JSON-able data."""

    decision: Decision
    reason: str = ""
    value: Any = None


@dataclass(frozen=True)
class Question:
    """A decision that a run needs from a person.

    Attributes:
        id: Id by which it is answered.
        run_id: The run that waits.
        root_run_id: The outermost run, whose caller is shown the question.
        call_id: The tool call that waits.
        agent: The agent that wants to make the call.
        toolset: The tool's toolset.
        tool: The tool's name; `title` is its name for people.
        arguments: The arguments of the call.
        stake: Why a person is asked (`high`); None for a login.
        message: The text of the question.
        details: For an authentication: `provider`, and where known `scope` and `url`.
        created_at: Seconds since the epoch, as `expires_at` and `decided_at`.
        decision: None while it is open.
        conversation_id: The run's conversation.
        message_id: The message that the run answers.
    """

    id: str
    run_id: str
    root_run_id: str
    call_id: str
    kind: QuestionKind
    agent: str
    toolset: str
    tool: str
    title: str
    message: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    stake: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    created_at: float = 0.0
    expires_at: float | None = None
    decision: Decision | None = None
    reason: str = ""
    answer: Any = None
    decided_by: str | None = None
    decided_at: float | None = None
    conversation_id: str = ""
    message_id: str = ""

    @property
    def recorded_answer(self) -> QuestionAnswer | None:
        """The answer, or None while the question is open."""
        return QuestionAnswer(self.decision, self.reason, self.answer) if self.decision else None
