"""Apply a person's answers and resume the runs that waited for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from outrider.agents.approvals import Questions
from outrider.agents.evaluations.tables import evaluations
from outrider.agents.runs import RunService
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured
from outrider.core.questions import Question, QuestionAnswer


@dataclass(frozen=True)
class DecidedQuestion:
    """A question after an answer to it, and whether this answer decided it."""

    question: Question
    won: bool


@dataclass(frozen=True)
class AnswerReport:
    """The effect of answers that were given together.

    Attributes:
        decisions: The answered questions.
        resumed: The ids of runs that were resumed.
        blocked_reason: Why a run that could be resumed was not: it needs its client or another process.
    """

    decisions: Sequence[DecidedQuestion] = ()
    resumed: Sequence[str] = ()
    blocked_reason: str = ""


@dataclass(frozen=True)
class _BlockedTree:
    """The blocked runs of a tree.

    Attributes:
        waits_for: The runs that each blocked run waits for.
        asking: The runs with undecided questions of their own.
    """

    waits_for: Mapping[str, set[str]] = field(default_factory=dict)
    asking: frozenset[str] = frozenset()

    def list_ready(self) -> list[str]:
        """Return the outermost blocked runs that no longer wait for an answer."""
        awaited = {child for children in self.waits_for.values() for child in children}
        return [run for run in self.waits_for if run not in awaited and not self._has_open_question(run, set())]

    def _has_open_question(self, run: str, visited: set[str]) -> bool:
        """Return whether a run or one that it waits for has an undecided question."""
        if run in visited:
            return False
        visited.add(run)
        children = self.waits_for.get(run, ())
        return run in self.asking or any(self._has_open_question(child, visited) for child in children)


class AnswerService:
    """Applies the answers that people give outside the call that asked."""

    def __init__(self, database: Database, runs: RunService, questions: Questions) -> None:
        self._database = database
        self._runs = runs
        self._questions = questions

    async def answer(self, answers: Mapping[str, QuestionAnswer], *, by: str) -> AnswerReport:
        """Decide questions; earlier decisions remain.

        Args:
            answers: The answers by question id.
            by: The name of the person, for the history.

        Raises:
            NotFound: A question does not exist.
            InvalidInput: An answer does not fit the kind of its question. Answers before it are kept in both cases.
        """
        decisions = [
            DecidedQuestion(*await self._questions.decide_if_open(question_id, answer, by=by))
            for question_id, answer in answers.items()
        ]
        resumed: list[str] = []
        blocked_reason = ""
        for root_run_id in dict.fromkeys(decided.question.root_run_id for decided in decisions):
            try:
                resumed += await self.resume_unblocked(root_run_id)
            except NotConfigured as error:
                blocked_reason = f"{error.message}; {error.hint}"
        return AnswerReport(decisions, resumed, blocked_reason)

    async def resume_unblocked(self, root_run_id: str) -> list[str]:
        """Resume the runs of a tree that no longer wait for an answer; return their ids. Raises NotConfigured."""
        blocked = select(runs.c.id).where(runs.c.root_run_id == root_run_id, runs.c.status == "blocked")
        calls = select(steps.c.run_id, steps.c.state).where(steps.c.run_id.in_(blocked), steps.c.outcome == "asks")
        async with self._database.read() as connection:
            waits_for: dict[str, set[str]] = {run: set() for run in (await connection.execute(blocked)).scalars()}
            paused_calls = [(run, state) for run, state in await connection.execute(calls) if state]
            evaluation_ids = [state for _, state in paused_calls if len(state) <= 40]  # the width of the column
            query = select(evaluations.c.id, evaluations.c.run_id).where(evaluations.c.id.in_(evaluation_ids))
            evaluation_runs = {row[0]: row[1] for row in await connection.execute(query)} if paused_calls else {}
        for run, state in paused_calls:
            # The state of a call that waits for a run is the id of that run, or of its evaluation.
            child = evaluation_runs.get(state, state)
            if child in waits_for:
                waits_for[run].add(child)
        asking = frozenset(question.run_id for question in await self._questions.list_pending(root_run_id))
        ready = _BlockedTree(waits_for, asking).list_ready()
        for run_id in ready:
            await self._runs.resume(run_id)
        return ready
