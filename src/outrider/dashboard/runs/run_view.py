"""Load one run for its page, in a constant number of queries."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from outrider.agents.evaluations import Evaluation, EvaluationRecord
from outrider.agents.retry import can_retry
from outrider.agents.run import Run
from outrider.agents.views.answers import AnswerService
from outrider.agents.views.inbox import Inbox, InboxQuestion
from outrider.agents.views.overview import RunBranch, RunOverview
from outrider.agents.views.run_summary import RunSummary
from outrider.agents.views.step_list import StepCounts, StepList
from outrider.core.errors import NotFound
from outrider.core.keyset import Batch
from outrider.dashboard.runs.steps import STEPS_PER_PART, StepView, build_step_views
from outrider.dashboard.services import DashboardServices
from outrider.plans.listing import StoredPlan


@dataclass(frozen=True)
class TreeLeaf:
    """A run in the tree: its depth, and the usage of it and its children."""

    branch: RunBranch
    depth: int


@dataclass(frozen=True)
class RunView:
    """Everything about a run except its steps.

    Attributes:
        branch: The run in its tree.
        leaves: The tree in drawing order.
        hidden: The number of its runs that are not drawn.
        others: Other runs of the conversation, the newest first.
        questions: All questions of the tree.
        plan: The plan of the session that the run works in.
    """

    run: Run
    branch: RunBranch
    leaves: Sequence[TreeLeaf]
    hidden: int
    extent: StepCounts
    others: Sequence[RunSummary]
    questions: Sequence[InboxQuestion]
    evaluation: "Evaluation | None"
    plan: "StoredPlan | None"

    @property
    def open(self) -> list[InboxQuestion]:
        """Open questions of the run and its children."""
        branch_run_ids = {each.run.id for each in _iter_branches(self.branch)}
        return (
            []
            if self.run.has_ended
            else [one for one in self.questions if not one.question.decision and one.question.run_id in branch_run_ids]
        )

    @property
    def can_go_on(self) -> bool:
        """Whether it is blocked although no question is open."""
        return self.run.status == "blocked" and not any(each.question.decision is None for each in self.questions)

    @property
    def can_retry(self) -> bool:
        """Whether it can be resumed where it failed."""
        return can_retry(self.run)

    @property
    def can_cancel(self) -> bool:
        """Whether there is something to cancel."""
        return any(not each.run.has_ended for each in _iter_branches(self.branch))


async def load_run_view(services: DashboardServices, run_id: str) -> RunView:
    """Load the run. Raises NotFound."""
    max_leaves = 200  # runs of a tree to draw
    run = await services.runs.get(run_id)
    overview = RunOverview(services.database)
    tree = await overview.load_tree(run.root_run_id)
    branch = tree.find_branch(run.id) if tree else None
    if tree is None or branch is None:
        raise NotFound(f"no run {run_id[:60]!r}", hint="it may have been forgotten; choose another")
    plan = None
    with suppress(NotFound):
        plan = await services.plans.load_scope(run.build_call("").scope)
    leaves = [TreeLeaf(each, depth) for each, depth in _iter_with_depth(tree, 0)]
    return RunView(
        run,
        branch,
        leaves[:max_leaves],
        max(0, len(leaves) - max_leaves),
        await StepList(services.database).count_steps(run.id),
        await overview.list_conversation_runs(run.conversation_id, run.id),
        await Inbox(services.database).list_tree_questions(run.root_run_id),
        await overview.find_evaluation(run.id),
        plan,
    )


async def load_step_views(
    services: DashboardServices, view: RunView, after: str, limit: int = STEPS_PER_PART
) -> tuple[list[StepView], Batch]:
    """Load the views of a page of steps, and the page with its cursors."""
    part = await StepList(services.database).load_batch(view.run.id, after=after, limit=limit)
    children = {each.run.parent_call_id or "": each for each in view.branch.children}
    evaluation_records: Sequence[EvaluationRecord] = ()
    if view.evaluation is not None and part.items:
        since = min(each.started_at for each in part.items)
        evaluation_records = await services.evaluations.list_records(
            view.evaluation.id, ("agent", "screenshot"), since=since, limit=2_000
        )
    return build_step_views(part.items, children, evaluation_records), part


def build_answer_service(services: DashboardServices) -> AnswerService:
    """Build the service that takes a person's answers."""
    return AnswerService(services.database, services.runs, services.questions)


def _iter_with_depth(branch: RunBranch, depth: int) -> Iterator[tuple[RunBranch, int]]:
    yield branch, depth
    for each in branch.children:
        yield from _iter_with_depth(each, depth + 1)


def _iter_branches(branch: RunBranch) -> Iterator[RunBranch]:
    return (each for each, _ in _iter_with_depth(branch, 0))
