"""List the plans of all sessions.

Plans are stored as JSON, so they are searched here and not by the database.
"""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from outrider.core.errors import NotFound
from outrider.core.keyset import Batch, format_cursor, order_newest_first
from outrider.plans.plan import SessionPlan
from outrider.plans.tables import plans

PlanFilter = Literal["all", "open", "done"]
MAX_SCANNED_ROWS = 500  # for one batch; a search for something rare needs several


@dataclass(frozen=True)
class StoredPlan:
    """A plan with its owner; `updated_at` is in seconds since the epoch."""

    scope: str
    workspace: str | None
    session: str
    plan: SessionPlan
    updated_at: float

    @property
    def is_open(self) -> bool:
        """Whether there is an active goal or an open todo."""
        return self.plan.goal is not None or self.plan.done < len(self.plan.todos)

    def contains_text(self, text: str) -> bool:
        """Return whether session, goal or todos contain the text, in any case."""
        needle = text.casefold()
        todo_texts = (field for todo in self.plan.todos for field in (todo.name, todo.summary))
        return any(needle in field.casefold() for field in (self.session, self.plan.goal or "", *todo_texts))


def load_plan_batch(
    connection: Connection, plan_filter: PlanFilter, *, text: str, workspace: str | None, after: str, limit: int
) -> Batch[StoredPlan]:
    """Load one batch of the list, as `PlanStore.list_plans` describes."""
    query = order_newest_first(select(plans), plans.c.updated_at, plans.c.scope, after).limit(MAX_SCANNED_ROWS + 1)
    if workspace is not None:
        query = query.where(plans.c.workspace == workspace)
    rows = list(connection.execute(query))
    matches: list[StoredPlan] = []
    for row in rows[:MAX_SCANNED_ROWS]:
        stored = _parse_plan(row)
        if plan_filter in ("all", "open" if stored.is_open else "done") and (not text or stored.contains_text(text)):
            matches.append(stored)
        if len(matches) > limit:
            return Batch(matches[:limit], format_cursor(matches[limit - 1].updated_at, matches[limit - 1].scope))
    last = rows[MAX_SCANNED_ROWS - 1] if len(rows) > MAX_SCANNED_ROWS else None
    return Batch(matches, format_cursor(last.updated_at, last.scope) if last else "")


def load_plan(connection: Connection, scope: str) -> StoredPlan:
    """Load the plan of a scope. Raises NotFound."""
    row = connection.execute(select(plans).where(plans.c.scope == scope)).first()
    if row is None:
        raise NotFound("no such plan", hint="it may have been deleted; choose another", code="plan_not_found")
    return _parse_plan(row)


def _parse_plan(row: Any) -> StoredPlan:
    plan = SessionPlan.from_dict(row.state) if row.state else SessionPlan()
    return StoredPlan(row.scope, row.workspace, row.session, plan, row.updated_at)
