"""Questions as the page shows them: the effect of a call, and its arguments."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outrider.agents.tool_executor import EXFILTRATION_WARNING
from outrider.agents.views.inbox import InboxQuestion
from outrider.core.questions import Decision, Question
from outrider.core.tool import Effect, Tool
from outrider.dashboard.runs.sanitize import ArgumentView, build_argument_views, sanitize_url

MAX_ARGUMENT_BYTES, MIN_ARGUMENT_BYTES = 6_000, 1_500  # for one question
MAX_SHOWN_QUESTIONS = 40  # questions on a page
EFFECT_DESCRIPTIONS: dict[Effect, str] = {
    "read": "It only reads.",
    "write": "It saves or changes something here.",
    "act": "It may do something that cannot be undone.",
}
DECISION_LABELS: dict[Decision, str] = {
    "approved": "allowed once",
    "always_approved": "allowed from now on",
    "rejected": "rejected",
    "answered": "answered",
}


@dataclass(frozen=True)
class QuestionView:
    """A question on the page.

    Attributes:
        does: What the call would do.
        warnings: What to check before allowing it.
        sign_in: The address of a sign-in page; empty unless it is a web address.
    """

    question: Question
    does: str
    warnings: Sequence[str]
    arguments: Sequence[ArgumentView]
    sign_in: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether the arguments are longer than shown."""
        return any(each.value.is_cut for each in self.arguments)


@dataclass(frozen=True)
class QuestionGroup:
    """Questions that the runs of one task wait for."""

    root: str
    agent: str
    query: str
    person: str
    shown: Sequence[QuestionView]

    @property
    def approvals(self) -> int:
        """How many can be allowed or rejected together."""
        return sum(each.question.kind == "approval" for each in self.shown)

    @property
    def stamp(self) -> str:
        """A value that changes with the set of questions."""
        return hashlib.blake2s("".join(each.question.id for each in self.shown).encode(), digest_size=8).hexdigest()


def group_questions(questions: Sequence[InboxQuestion], tools: Mapping[str, Tool]) -> list[QuestionGroup]:
    """Group questions by task, the longest waiting first."""
    max_page_bytes = 90_000  # bytes of HTML for all arguments together
    shown_questions = questions[:MAX_SHOWN_QUESTIONS]
    argument_bytes = max(MIN_ARGUMENT_BYTES, min(MAX_ARGUMENT_BYTES, max_page_bytes // max(1, len(shown_questions))))
    together: dict[str, list[InboxQuestion]] = {}
    for each in shown_questions:
        together.setdefault(each.question.root_run_id, []).append(each)
    return [
        QuestionGroup(
            root,
            first.root_agent,
            first.root_query,
            first.identity or f"session {first.session[:60]}",
            [build_question_view(each.question, tools, argument_bytes) for each in members],
        )
        for root, members in together.items()
        for first in members[:1]
    ]


def build_question_view(question: Question, tools: Mapping[str, Tool], limit: int = MAX_ARGUMENT_BYTES) -> QuestionView:
    """Build the view of a question from its tool, if that is served here."""
    effect = ""
    if (tool := tools.get(question.tool)) is not None:
        first = tool.description.partition(". ")[0].strip().rstrip(".")
        beyond = " It reaches beyond this machine." if tool.open_world else ""
        effect = f"{first}. {EFFECT_DESCRIPTIONS[tool.effect]}{beyond}"
    return QuestionView(
        question,
        effect,
        ["This would send private data that the agent has read to others. Check where it goes and what is sent."]
        if question.message.endswith(EXFILTRATION_WARNING)
        else [],
        build_argument_views(question.arguments, limit),
        sanitize_url(question.details.get("url")),
    )


def describe_decision(question: Question) -> str:
    """Describe the decision and who made it."""
    by = f" by {question.decided_by}" if question.decided_by else ""
    why = f" ({question.reason[:200]})" if question.reason else ""
    return (
        f"{question.title} of {question.agent} was {DECISION_LABELS.get(question.decision or 'answered', '')}{by}{why}"
    )
