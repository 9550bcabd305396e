"""One run as its page shows it: what is read for it, in a number of queries that does not grow with the run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from outrider.agents.evaluations import Evaluation, Record
from outrider.agents.oversight.answering import Answering
from outrider.agents.oversight.brief import Brief
from outrider.agents.oversight.inbox import Asked, Inbox
from outrider.agents.oversight.overview import Branch, Overview
from outrider.agents.oversight.step_list import Extent, StepList
from outrider.agents.retry import can_retry
from outrider.agents.run import Run
from outrider.core.errors import NotFound
from outrider.core.keyset import Batch
from outrider.dashboard.house import House
from outrider.dashboard.runs.steps import ROWS, ShownStep, shown_steps
from outrider.plans.listing import KeptPlan

TREE = 200  # runs of a tree that a page draws


@dataclass(frozen=True)
class Leaf:
    """A run in the drawing of a tree: how deep it lies, and what it and all below it have used."""

    branch: Branch
    depth: int


@dataclass(frozen=True)
class Whole:
    """Everything about a run but its steps.

    Attributes:
        branch: The run in its tree.
        leaves: The tree in the order in which it is drawn.
        hidden: How many runs of it are not drawn.
        others: Of the same conversation, the newest first.
        asked: All questions of the tree.
        plan: The plan of the session that the run works in.
    """

    run: Run
    branch: Branch
    leaves: Sequence[Leaf]
    hidden: int
    extent: Extent
    others: Sequence[Brief]
    asked: Sequence[Asked]
    evaluation: "Evaluation | None"
    plan: "KeptPlan | None"

    @property
    def open(self) -> list[Asked]:
        """Questions of the run and those below it that wait."""
        mine = {each.run.id for each in _walk(self.branch)}
        return (
            []
            if self.run.ended
            else [one for one in self.asked if not one.question.decision and one.question.run_id in mine]
        )

    @property
    def can_go_on(self) -> bool:
        """Whether it is blocked though nothing is open any more."""
        return self.run.status == "blocked" and not any(each.question.decision is None for each in self.asked)

    @property
    def can_retry(self) -> bool:
        """Whether it can be begun again where it failed."""
        return can_retry(self.run)

    @property
    def can_cancel(self) -> bool:
        """Whether there is something to end."""
        return any(not each.run.ended for each in _walk(self.branch))


async def whole(house: House, run_id: str) -> Whole:
    """The run. Raises NotFound."""
    run = await house.runs.get(run_id)
    overview = Overview(house.database)
    tree = await overview.tree(run.root_run_id)
    branch = tree.find(run.id) if tree else None
    if tree is None or branch is None:
        raise NotFound(f"no run {run_id[:60]!r}", hint="it may have been forgotten; choose another")
    leaves = [Leaf(each, depth) for each, depth in _drawn(tree, 0)]
    return Whole(
        run,
        branch,
        leaves[:TREE],
        max(0, len(leaves) - TREE),
        await StepList(house.database).extent(run.id),
        await overview.others(run.conversation_id, run.id),
        await Inbox(house.database).of_tree(run.root_run_id),
        await overview.evaluation_of(run.id),
        await _plan(house, run),
    )


async def steps_of(house: House, about: Whole, after: str, limit: int = ROWS) -> tuple[list[ShownStep], Batch]:
    """A part of the steps, and the part itself, which knows where the next begins."""
    part = await StepList(house.database).part(about.run.id, after=after, limit=limit)
    children = {each.run.parent_call_id or "": each for each in about.branch.below}
    seen: Sequence[Record] = ()
    if about.evaluation is not None and part.items:
        since = min(each.started_at for each in part.items)
        seen = await house.evaluations.records(about.evaluation.id, ("agent", "screenshot"), since=since, limit=2_000)
    return shown_steps(part.items, children, seen), part


def answering(house: House) -> Answering:
    """Takes a person's answers."""
    return Answering(house.database, house.runs, house.questions)


async def _plan(house: House, run: Run) -> "KeptPlan | None":
    try:
        return await house.plans.of_scope(run.call("").scope)
    except NotFound:
        return None


def _drawn(branch: Branch, depth: int) -> Iterator[tuple[Branch, int]]:
    yield branch, depth
    for each in branch.below:
        yield from _drawn(each, depth + 1)


def _walk(branch: Branch) -> Iterator[Branch]:
    return (each for each, _ in _drawn(branch, 0))
