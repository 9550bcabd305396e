"""Answers of a person who looks at all questions at once: decided, and the runs that waited for them go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from outrider.agents.approvals import Questions
from outrider.agents.evaluations.tables import evaluations
from outrider.agents.runs import RunService
from outrider.agents.tables import run_steps as steps
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured
from outrider.core.questions import Question, QuestionAnswer


@dataclass(frozen=True)
class DecidedQuestion:
    """What became of an answer: the question as it is decided now, and whether this answer did it."""

    question: Question
    won: bool


@dataclass(frozen=True)
class AnswerReport:
    """What became of answers that were given together.

    Attributes:
        resumed: Runs that go on by it.
        blocked_reason: Why a run that could go on does not; it waits for its client or another process.
    """

    decisions: Sequence[DecidedQuestion] = ()
    resumed: Sequence[str] = ()
    blocked_reason: str = ""


@dataclass(frozen=True)
class _BlockedTree:
    """The blocked runs of a tree.

    Attributes:
        waits_for: By blocked run, for which others its calls wait.
        asking: Runs with questions of their own that nobody has answered.
    """

    waits_for: Mapping[str, set[str]] = field(default_factory=dict)
    asking: frozenset[str] = frozenset()

    def list_ready(self) -> list[str]:
        """The outermost blocked runs, those whose turn it is: nothing that they wait for is open any more."""
        waited = {below for each in self.waits_for.values() for below in each}
        return [run for run in self.waits_for if run not in waited and not self._has_open_question(run, set())]

    def _has_open_question(self, run: str, seen: set[str]) -> bool:
        if run in seen:
            return False
        seen.add(run)
        return run in self.asking or any(self._has_open_question(each, seen) for each in self.waits_for.get(run, ()))


class AnswerService:
    """Takes answers from wherever all runs are seen; the client's own door does the same for its call."""

    def __init__(self, database: Database, runs: RunService, questions: Questions) -> None:
        self._database = database
        self._runs = runs
        self._questions = questions

    async def answer(self, answers: Mapping[str, QuestionAnswer], *, by: str) -> AnswerReport:
        """Decides questions together; what somebody has decided before stays as it is.

        Args:
            answers: By question.
            by: Who answers, for the history and for those who come later.

        Raises:
            NotFound: No such question; InvalidInput: an answer that does not fit its kind. Neither undoes the answers
                before it.
        """
        told = [
            DecidedQuestion(*await self._questions.decide_if_open(question, given, by=by))
            for question, given in answers.items()
        ]
        resumed: list[str] = []
        held = ""
        for root in dict.fromkeys(each.question.root_run_id for each in told):
            try:
                resumed += await self.resume_unblocked(root)
            except NotConfigured as error:
                held = f"{error.message}; {error.hint}"
        return AnswerReport(told, resumed, held)

    async def resume_unblocked(self, root_run_id: str) -> list[str]:
        """Resumes what waits for nobody any more in this tree; which runs. Raises NotConfigured."""
        ready = (await self._load_blocked_tree(root_run_id)).list_ready()
        for run_id in ready:
            await self._runs.resume(run_id)
        return ready

    async def _load_blocked_tree(self, root_run_id: str) -> _BlockedTree:
        from outrider.agents.tables import runs

        blocked = select(runs.c.id).where(runs.c.root_run_id == root_run_id, runs.c.status == "blocked")
        calls = select(steps.c.run_id, steps.c.state).where(steps.c.run_id.in_(blocked), steps.c.outcome == "asks")
        async with self._database.read() as connection:
            waits: dict[str, set[str]] = {run: set() for run in (await connection.execute(blocked)).scalars()}
            paused = [(run, state) for run, state in await connection.execute(calls) if state]
            evaluated = select(evaluations.c.id, evaluations.c.run_id).where(
                evaluations.c.id.in_([state for _, state in paused if len(state) <= 40])
            )
            run_of = {row[0]: row[1] for row in await connection.execute(evaluated)} if paused else {}
        for run, state in paused:
            below = run_of.get(state, state)  # a call that waits for a run keeps its name, or its evaluation's
            if below in waits:
                waits[run].add(below)
        asking = frozenset(each.run_id for each in await self._questions.list_pending(root_run_id))
        return _BlockedTree(waits, asking)
