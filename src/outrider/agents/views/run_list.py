"""List trees of runs and evaluations without a run, the newest first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, or_, select, union_all

from outrider.agents.evaluations import Evaluation
from outrider.agents.evaluations.tables import evaluations
from outrider.agents.limits import RunUsage
from outrider.agents.live_usage import load_live_usage, merge_usage
from outrider.agents.run_status import ACTIVE_STATUSES
from outrider.agents.tables import questions, runs
from outrider.agents.views.run_summary import RunSummary, build_summary_query, parse_summary_row
from outrider.core.database.database import to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, parse_cursor

RunListKind = Literal["", "agent", "evaluation"]


@dataclass(frozen=True)
class RunFilter:
    """Selects trees of runs; empty attributes do not filter.

    Attributes:
        agent: Only trees with a run of this agent.
        status: Only trees with a run in this status; `open` means any that has not ended.
        text: Only trees with this text in a task, an answer or an id, ignoring case.
        person: Only trees with this text in identity, session or workspace, ignoring case.
        since: Only trees created after this time, in seconds since the epoch.
        kind: Only runs of agents, or only evaluations.
    """

    agent: str = ""
    status: str = ""
    text: str = ""
    person: str = ""
    since: float = 0.0
    kind: RunListKind = ""


@dataclass(frozen=True)
class RunTree:
    """An outermost run and all runs below it, or an evaluation without a run.

    Attributes:
        root: The outermost run; None for an evaluation without a run.
        evaluation: The evaluation that the root belongs to, if any.
        runs: The number of runs.
        used: The usage of all runs together.
        open: The number of undecided questions.
        failed: The number of failed runs below the root.
    """

    id: str
    created_at: float
    root: RunSummary | None = None
    evaluation: Evaluation | None = None
    runs: int = 1
    used: RunUsage = field(default_factory=RunUsage)
    open: int = 0
    failed: int = 0


def load_run_batch(connection: "Connection", run_filter: RunFilter, after: str, limit: int) -> Batch[RunTree]:
    """Load a page of the list with a constant number of queries."""
    entries = list(connection.execute(_build_list_query(run_filter, after).limit(limit + 1)).mappings())
    ids = [row["id"] for row in entries[:limit]]
    live = load_live_usage(connection, runs.c.root_run_id.in_(ids))
    roots = {
        row["id"]: parse_summary_row(merge_usage(row, live))
        for row in connection.execute(build_summary_query().where(runs.c.id.in_(ids))).mappings()
    }
    evaluations_by_id = load_evaluations_by_run(connection, list(roots))
    evaluations_by_id |= {
        evaluation.id: evaluation
        for evaluation in _load_evaluations(connection, evaluations.c.id, [each for each in ids if each not in roots])
    }
    totals = _sum_trees(connection, list(roots), live)
    is_open = questions.c.root_run_id.in_(list(roots)), questions.c.decision.is_(None)
    count_query = select(questions.c.root_run_id, func.count()).where(*is_open).group_by(questions.c.root_run_id)
    open_counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(count_query)}

    def build_tree(row: Mapping[str, Any]) -> RunTree:
        run_count, used, failed = totals.get(row["id"], (1, RunUsage(), 0))
        root, evaluation = roots.get(row["id"]), evaluations_by_id.get(row["id"])
        return RunTree(row["id"], row["at"], root, evaluation, run_count, used, open_counts.get(row["id"], 0), failed)

    return build_batch(entries, limit, build_tree, lambda row: format_cursor(row["at"], row["id"]))


def _build_list_query(run_filter: RunFilter, after: str) -> "Select[Any, Any]":
    """Select ids and times of listed runs and evaluations, in order.

    They are outermost runs, and evaluations without a run.
    """
    outermost = select(runs.c.id, runs.c.created_at.label("at")).where(*_iter_run_conditions(run_filter))
    without_run = select(evaluations.c.id, evaluations.c.created_at.label("at"))
    without_run = without_run.where(*_iter_evaluation_conditions(run_filter))
    entries = union_all(outermost, without_run).subquery()
    query = select(entries.c.id, entries.c.at).order_by(entries.c.at.desc(), entries.c.id.desc())
    if not after:
        return query
    at, key = parse_cursor(after)
    return query.where(or_(entries.c.at < at, and_(entries.c.at == at, entries.c.id < key)))


def _iter_run_conditions(run_filter: RunFilter) -> "Iterable[ColumnElement[bool]]":
    """Yield the conditions for an outermost run; those on members hold for one run anywhere in its tree."""
    yield runs.c.parent_run_id.is_(None)
    if run_filter.since:
        yield runs.c.created_at >= run_filter.since
    if run_filter.kind:
        evaluates = runs.c.id.in_(select(evaluations.c.run_id).where(evaluations.c.run_id.is_not(None)))
        yield evaluates if run_filter.kind == "evaluation" else ~evaluates
    member = runs.alias("member")
    conditions: list[ColumnElement[bool]] = []
    if run_filter.agent:
        conditions.append(member.c.agent == run_filter.agent)
    if run_filter.status:
        is_any_open = run_filter.status == "open"
        conditions.append(member.c.status.in_((*ACTIVE_STATUSES, "blocked") if is_any_open else (run_filter.status,)))
    if run_filter.text:
        conditions.append(_match_text(run_filter.text, member.c.query, member.c.answer, member.c.id))
    if run_filter.person:
        conditions.append(_match_text(run_filter.person, member.c.identity, member.c.session, member.c.workspace))
    if conditions:
        yield runs.c.id.in_(select(member.c.root_run_id).where(*conditions))


def _iter_evaluation_conditions(run_filter: RunFilter) -> "Iterable[ColumnElement[bool]]":
    yield evaluations.c.run_id.is_(None)
    if run_filter.since:
        yield evaluations.c.created_at >= run_filter.since
    if run_filter.agent or run_filter.kind == "agent":
        yield false()
    if run_filter.status:
        evaluation_statuses = {"open": "running", "completed": "success"}
        yield evaluations.c.status == evaluation_statuses.get(run_filter.status, run_filter.status)
    if run_filter.text:
        yield _match_text(run_filter.text, evaluations.c.task, evaluations.c.url, evaluations.c.id)
    if run_filter.person:
        yield _match_text(run_filter.person, evaluations.c.identity, evaluations.c.session, evaluations.c.workspace)


def _match_text(text: str, *columns: Any) -> "ColumnElement[bool]":
    pattern = to_storable_text(text, 200)
    return or_(*(column.icontains(pattern, autoescape=True) for column in columns))


def load_evaluations_by_run(connection: "Connection", run_ids: Sequence[str]) -> dict[str, Evaluation]:
    """Return the evaluations that these runs belong to, by run id."""
    found = _load_evaluations(connection, evaluations.c.run_id, run_ids)
    return {evaluation.run_id or "": evaluation for evaluation in found}


def _load_evaluations(connection: "Connection", column: "ColumnElement[Any]", ids: Sequence[str]) -> list[Evaluation]:
    if not ids:
        return []
    query = select(evaluations).where(column.in_(ids))
    return [Evaluation(**row) for row in connection.execute(query).mappings()]


def _sum_trees(
    connection: "Connection", root_ids: Sequence[str], live: Mapping[str, RunUsage]
) -> dict[str, tuple[int, RunUsage, int]]:
    """Sum each tree's runs, usage, and failures below the root."""
    query = select(runs.c.root_run_id, runs.c.id, runs.c.usage, runs.c.status).where(runs.c.root_run_id.in_(root_ids))
    totals: dict[str, tuple[int, RunUsage, int]] = {}
    for root, run, usage, status in connection.execute(query):
        run_count, used, failed = totals.get(root, (0, RunUsage(), 0))
        run_used = live.get(run) or RunUsage.from_dict(usage)
        totals[root] = run_count + 1, used + run_used, failed + (status == "failed" and run != root)
    return totals
