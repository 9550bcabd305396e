"""The list of all runs: whole trees, the newest first, and evaluations of websites that had steps and no agent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, or_, select, union_all

from outrider.agents.evaluations import Evaluation
from outrider.agents.evaluations.tables import evaluations
from outrider.agents.limits import RunUsage
from outrider.agents.run import ACTIVE_STATUSES
from outrider.agents.tables import questions
from outrider.agents.views.run_summary import RunSummary, build_summary_query, parse_summary_row
from outrider.core.database.database import to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, parse_cursor

RunListKind = Literal["", "agent", "evaluation"]


@dataclass(frozen=True)
class RunFilter:
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
    kind: RunListKind = ""


@dataclass(frozen=True)
class RunTree:
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
    root: RunSummary | None = None
    evaluation: "Evaluation | None" = None
    runs: int = 1
    used: RunUsage = field(default_factory=RunUsage)
    open: int = 0
    failed: int = 0


def load_run_batch(connection: "Connection", wanted: RunFilter, after: str, limit: int) -> Batch[RunTree]:
    """A part of the list in five queries, however many runs there are."""
    from outrider.agents.tables import runs

    places = list(connection.execute(_build_list_query(wanted, after).limit(limit + 1)).mappings())
    shown = [row["id"] for row in places[:limit]]
    roots = {
        row["id"]: parse_summary_row(row)
        for row in connection.execute(build_summary_query().where(runs.c.id.in_(shown))).mappings()
    }
    rest = [each for each in shown if each not in roots]
    evaluated = load_evaluations_by_run(connection, list(roots)) | _evaluations(connection, rest)
    sums, waiting = _sum_trees(connection, list(roots)), _count_open_questions(connection, list(roots))

    def build_tree(row: Mapping[str, Any]) -> RunTree:
        runs_, used, failed = sums.get(row["id"], (1, RunUsage(), 0))
        root, evaluation = roots.get(row["id"]), evaluated.get(row["id"])
        return RunTree(row["id"], row["at"], root, evaluation, runs_, used, waiting.get(row["id"], 0), failed)

    return build_batch(places, limit, build_tree, lambda row: format_cursor(row["at"], row["id"]))


def _build_list_query(wanted: RunFilter, after: str) -> "Select[Any, Any]":
    """Ids and times of what is listed, in order: outermost runs, and evaluations without a run."""
    from outrider.agents.tables import runs

    of_runs = select(runs.c.id, runs.c.created_at.label("at")).where(*_iter_run_conditions(wanted))
    alone = select(evaluations.c.id, evaluations.c.created_at.label("at")).where(*_iter_evaluation_conditions(wanted))
    both = union_all(of_runs, alone).subquery()
    query = select(both.c.id, both.c.at).order_by(both.c.at.desc(), both.c.id.desc())
    if not after:
        return query
    at, key = parse_cursor(after)
    return query.where(or_(both.c.at < at, and_(both.c.at == at, both.c.id < key)))


def _iter_run_conditions(wanted: RunFilter) -> "Iterable[ColumnElement[bool]]":
    from outrider.agents.tables import runs

    yield runs.c.parent_run_id.is_(None)
    if wanted.since:
        yield runs.c.created_at >= wanted.since
    if wanted.kind:
        evaluates = runs.c.id.in_(select(evaluations.c.run_id).where(evaluations.c.run_id.is_not(None)))
        yield evaluates if wanted.kind == "evaluation" else ~evaluates
    member = runs.alias("member")
    if conditions := list(_iter_member_conditions(wanted, member)):
        yield runs.c.id.in_(select(member.c.root_run_id).where(*conditions))


def _iter_member_conditions(wanted: RunFilter, member: Any) -> "Iterable[ColumnElement[bool]]":
    """What a run of the tree must be."""
    if wanted.agent:
        yield member.c.agent == wanted.agent
    if wanted.status:
        yield member.c.status.in_((*ACTIVE_STATUSES, "blocked") if wanted.status == "open" else (wanted.status,))
    if wanted.text:
        yield _match_text(wanted.text, member.c.query, member.c.answer, member.c.id)
    if wanted.person:
        yield _match_text(wanted.person, member.c.identity, member.c.session, member.c.workspace)


def _iter_evaluation_conditions(wanted: RunFilter) -> "Iterable[ColumnElement[bool]]":

    yield evaluations.c.run_id.is_(None)
    if wanted.since:
        yield evaluations.c.created_at >= wanted.since
    if wanted.agent or wanted.kind == "agent":
        yield false()
    if wanted.status:
        named = {"open": "running", "completed": "success"}
        yield evaluations.c.status == named.get(wanted.status, wanted.status)
    if wanted.text:
        yield _match_text(wanted.text, evaluations.c.task, evaluations.c.url, evaluations.c.id)
    if wanted.person:
        yield _match_text(wanted.person, evaluations.c.identity, evaluations.c.session, evaluations.c.workspace)


def _match_text(text: str, *columns: Any) -> "ColumnElement[bool]":
    return or_(*(each.icontains(to_storable_text(text, 200), autoescape=True) for each in columns))


def load_evaluations_by_run(connection: "Connection", run_ids: Sequence[str]) -> "dict[str, Evaluation]":
    """Evaluations by the run that works for them."""
    found = _load_evaluations(connection, evaluations.c.run_id.in_(run_ids)) if run_ids else []
    return {each.run_id or "": each for each in found}


def _evaluations(connection: "Connection", ids: Sequence[str]) -> "dict[str, Evaluation]":
    found = _load_evaluations(connection, evaluations.c.id.in_(ids)) if ids else []
    return {each.id: each for each in found}


def _load_evaluations(connection: "Connection", condition: "ColumnElement[bool]") -> "list[Evaluation]":

    return [Evaluation(**row) for row in connection.execute(select(evaluations).where(condition)).mappings()]


def _sum_trees(connection: "Connection", root_ids: Sequence[str]) -> dict[str, tuple[int, RunUsage, int]]:
    """By tree how many runs, what they used, and how many below the root failed."""
    from outrider.agents.tables import runs

    columns = (runs.c.root_run_id, runs.c.id, runs.c.usage, runs.c.status)
    found: dict[str, tuple[int, RunUsage, int]] = {}
    for root, run, usage, status in connection.execute(select(*columns).where(runs.c.root_run_id.in_(root_ids))):
        many, used, failed = found.get(root, (0, RunUsage(), 0))
        found[root] = many + 1, used + RunUsage.from_dict(usage), failed + (status == "failed" and run != root)
    return found


def _count_open_questions(connection: "Connection", root_ids: Sequence[str]) -> dict[str, int]:
    """By tree how many questions wait."""
    mine = questions.c.root_run_id.in_(root_ids), questions.c.decision.is_(None)
    query = select(questions.c.root_run_id, func.count()).where(*mine).group_by(questions.c.root_run_id)
    return {row[0]: row[1] for row in connection.execute(query)}
