"""The list of all runs: whole trees, the newest first, and evaluations of websites that had steps and no agent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, or_, select, union_all

from outrider.agents.evaluations import Evaluation
from outrider.agents.evaluations.tables import evaluations
from outrider.agents.limits import Usage
from outrider.agents.oversight.brief import Brief, brief, briefs
from outrider.agents.run import WORKING
from outrider.agents.tables import questions
from outrider.core.db import storable
from outrider.core.keyset import Batch, batch, mark, read_mark

Kind = Literal["", "agent", "evaluation"]


@dataclass(frozen=True)
class Wanted:
    """Which runs a list shows; what is empty leaves everything in.

    Attributes:
        agent: Only trees in which this agent works.
        status: Only trees in which a run has this status; `open` is any that has not ended.
        text: In a task or an answer, whatever its case.
        person: In identity, session or workspace, whatever its case.
        since: Begun after this, in seconds since the epoch.
        kind: Agents' runs alone, or evaluations alone.
    """

    agent: str = ""
    status: str = ""
    text: str = ""
    person: str = ""
    since: float = 0.0
    kind: Kind = ""


@dataclass(frozen=True)
class Tree:
    """An outermost run and all below it, or an evaluation without a run.

    Attributes:
        root: None for an evaluation without a run.
        evaluation: What the root evaluates, if it does.
        runs: How many there are.
        used: By all together.
        open: Questions of theirs that wait.
        failed: How many of those below have failed.
    """

    id: str
    created_at: float
    root: Brief | None = None
    evaluation: "Evaluation | None" = None
    runs: int = 1
    used: Usage = field(default_factory=Usage)
    open: int = 0
    failed: int = 0


def part_of(connection: "Connection", wanted: Wanted, after: str, limit: int) -> Batch[Tree]:
    """A part of the list in five queries, however many runs there are."""
    from outrider.agents.tables import runs

    places = list(connection.execute(_places(wanted, after).limit(limit + 1)).mappings())
    shown = [row["id"] for row in places[:limit]]
    roots = {row["id"]: brief(row) for row in connection.execute(briefs().where(runs.c.id.in_(shown))).mappings()}
    rest = [each for each in shown if each not in roots]
    evaluated = evaluations_of(connection, list(roots)) | _evaluations(connection, rest)
    sums, waiting = _sums(connection, list(roots)), _waiting(connection, list(roots))

    def made(row: Mapping[str, Any]) -> Tree:
        runs_, used, failed = sums.get(row["id"], (1, Usage(), 0))
        root, evaluation = roots.get(row["id"]), evaluated.get(row["id"])
        return Tree(row["id"], row["at"], root, evaluation, runs_, used, waiting.get(row["id"], 0), failed)

    return batch(places, limit, made, lambda row: mark(row["at"], row["id"]))


def _places(wanted: Wanted, after: str) -> "Select[Any, Any]":
    """Ids and times of what is listed, in order: outermost runs, and evaluations without a run."""
    from outrider.agents.tables import runs

    of_runs = select(runs.c.id, runs.c.created_at.label("at")).where(*_fitting_runs(wanted))
    alone = select(evaluations.c.id, evaluations.c.created_at.label("at")).where(*_fitting_evaluations(wanted))
    both = union_all(of_runs, alone).subquery()
    query = select(both.c.id, both.c.at).order_by(both.c.at.desc(), both.c.id.desc())
    if not after:
        return query
    at, key = read_mark(after)
    return query.where(or_(both.c.at < at, and_(both.c.at == at, both.c.id < key)))


def _fitting_runs(wanted: Wanted) -> "Iterable[ColumnElement[bool]]":
    from outrider.agents.tables import runs

    yield runs.c.parent_run_id.is_(None)
    if wanted.since:
        yield runs.c.created_at >= wanted.since
    if wanted.kind:
        evaluates = runs.c.id.in_(select(evaluations.c.run_id).where(evaluations.c.run_id.is_not(None)))
        yield evaluates if wanted.kind == "evaluation" else ~evaluates
    member = runs.alias("member")
    if conditions := list(_about(wanted, member)):
        yield runs.c.id.in_(select(member.c.root_run_id).where(*conditions))


def _about(wanted: Wanted, member: Any) -> "Iterable[ColumnElement[bool]]":
    """What a run of the tree must be."""
    if wanted.agent:
        yield member.c.agent == wanted.agent
    if wanted.status:
        yield member.c.status.in_((*WORKING, "blocked") if wanted.status == "open" else (wanted.status,))
    if wanted.text:
        yield _contains(wanted.text, member.c.query, member.c.answer, member.c.id)
    if wanted.person:
        yield _contains(wanted.person, member.c.identity, member.c.session, member.c.workspace)


def _fitting_evaluations(wanted: Wanted) -> "Iterable[ColumnElement[bool]]":

    yield evaluations.c.run_id.is_(None)
    if wanted.since:
        yield evaluations.c.created_at >= wanted.since
    if wanted.agent or wanted.kind == "agent":
        yield false()
    if wanted.status:
        named = {"open": "running", "completed": "success"}
        yield evaluations.c.status == named.get(wanted.status, wanted.status)
    if wanted.text:
        yield _contains(wanted.text, evaluations.c.task, evaluations.c.url, evaluations.c.id)
    if wanted.person:
        yield _contains(wanted.person, evaluations.c.identity, evaluations.c.session, evaluations.c.workspace)


def _contains(text: str, *columns: Any) -> "ColumnElement[bool]":
    return or_(*(each.icontains(storable(text, 200), autoescape=True) for each in columns))


def evaluations_of(connection: "Connection", run_ids: Sequence[str]) -> "dict[str, Evaluation]":
    """Evaluations by the run that works for them."""
    found = _evaluations_where(connection, evaluations.c.run_id.in_(run_ids)) if run_ids else []
    return {each.run_id or "": each for each in found}


def _evaluations(connection: "Connection", ids: Sequence[str]) -> "dict[str, Evaluation]":
    found = _evaluations_where(connection, evaluations.c.id.in_(ids)) if ids else []
    return {each.id: each for each in found}


def _evaluations_where(connection: "Connection", condition: "ColumnElement[bool]") -> "list[Evaluation]":

    return [Evaluation(**row) for row in connection.execute(select(evaluations).where(condition)).mappings()]


def _sums(connection: "Connection", root_ids: Sequence[str]) -> dict[str, tuple[int, Usage, int]]:
    """By tree how many runs, what they used, and how many below the root failed."""
    from outrider.agents.tables import runs

    columns = (runs.c.root_run_id, runs.c.id, runs.c.usage, runs.c.status)
    found: dict[str, tuple[int, Usage, int]] = {}
    for root, run, usage, status in connection.execute(select(*columns).where(runs.c.root_run_id.in_(root_ids))):
        many, used, failed = found.get(root, (0, Usage(), 0))
        found[root] = many + 1, used + Usage.of(usage), failed + (status == "failed" and run != root)
    return found


def _waiting(connection: "Connection", root_ids: Sequence[str]) -> dict[str, int]:
    """By tree how many questions wait."""
    mine = questions.c.root_run_id.in_(root_ids), questions.c.decision.is_(None)
    query = select(questions.c.root_run_id, func.count()).where(*mine).group_by(questions.c.root_run_id)
    return {row[0]: row[1] for row in connection.execute(query)}
