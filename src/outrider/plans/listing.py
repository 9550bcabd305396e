"""The plans of all sessions as a list. What a plan says is JSON, so it is looked into here and not by the database."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from outrider.core.errors import NotFound
from outrider.core.keyset import Batch, format_cursor, order_newest_first
from outrider.plans.plan import SessionPlan
from outrider.plans.tables import plans

PlanFilter = Literal["all", "open", "done"]
MAX_SCANNED_ROWS = 500  # rows for one part of the list; who searches for what is rare reads on


@dataclass(frozen=True)
class StoredPlan:
    """A plan and whose it is; `updated_at` in seconds since the epoch."""

    scope: str
    workspace: str | None
    session: str
    plan: SessionPlan
    updated_at: float

    @property
    def is_open(self) -> bool:
        """Whether something is left to do: a goal that is pursued, or a todo."""
        return self.plan.goal is not None or self.plan.done < len(self.plan.todos)

    def contains_text(self, text: str) -> bool:
        """Whether the text stands in session, goal or todos, whatever its case."""
        wanted = text.casefold()
        todos = (said for todo in self.plan.todos for said in (todo.name, todo.summary))
        return any(wanted in said.casefold() for said in (self.session, self.plan.goal or "", *todos))


def load_plan_batch(
    connection: "Connection", which: PlanFilter, *, text: str, workspace: str | None, after: str, limit: int
) -> Batch[StoredPlan]:
    """A part of the list, as `Plans.listed` describes it."""
    query = order_newest_first(select(plans), plans.c.updated_at, plans.c.scope, after).limit(MAX_SCANNED_ROWS + 1)
    if workspace is not None:
        query = query.where(plans.c.workspace == workspace)
    rows = list(connection.execute(query))
    found: list[StoredPlan] = []
    for row in rows[:MAX_SCANNED_ROWS]:
        kept = _parse_plan(row)
        if which in ("all", "open" if kept.is_open else "done") and (not text or kept.contains_text(text)):
            found.append(kept)
        if len(found) > limit:
            return Batch(found[:limit], format_cursor(found[limit - 1].updated_at, found[limit - 1].scope))
    last = rows[MAX_SCANNED_ROWS - 1] if len(rows) > MAX_SCANNED_ROWS else None
    return Batch(found, format_cursor(last.updated_at, last.scope) if last else "")


def load_plan(connection: "Connection", scope: str) -> StoredPlan:
    """The plan of a scope. Raises NotFound."""
    row = connection.execute(select(plans).where(plans.c.scope == scope)).first()
    if row is None:
        raise NotFound(
            "there is no such plan", hint="it may have been forgotten; choose another", code="plan_not_found"
        )
    return _parse_plan(row)


def _parse_plan(row: Any) -> StoredPlan:
    plan = SessionPlan.from_dict(row.state) if row.state else SessionPlan()
    return StoredPlan(row.scope, row.workspace, row.session, plan, row.updated_at)
