"""Store one plan per session.

The archive of goals and observations is append-only.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.plans.plan import Observation, PastGoal, SessionPlan

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from outrider.core.keyset import Batch
    from outrider.plans.listing import PlanFilter, StoredPlan


class PlanStore:
    """The plans of all sessions.

    A session sees only its own plan, and concurrent calls of a session never overwrite each other's changes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, call: Call) -> SessionPlan:
        """Return the plan of the call's session, or an empty one. Raises Unavailable."""
        from sqlalchemy import select

        from outrider.plans.tables import plans

        async with self._database.read() as connection:
            query = select(plans.c.state).where(plans.c.scope == call.scope)
            state = (await connection.execute(query)).scalar()
        return SessionPlan.from_dict(state) if state else SessionPlan()

    async def change(self, call: Call, step: Callable[[SessionPlan], SessionPlan]) -> SessionPlan:
        """Replace the session's plan with the result of `step`.

        Its new goals and observations are archived.

        Args:
            call: A call of the session.
            step: Returns the changed plan; if it raises an error, nothing changes.

        Returns:
            The new plan.
        """
        from sqlalchemy import select

        from outrider.plans.tables import plans

        scope = call.scope
        empty_row = {
            "scope": scope,
            "workspace": to_storable_text(call.workspace, 200) if call.workspace else None,
            "session": to_storable_text(call.session, 200),
            "state": {},
            "updated_at": time.time(),
        }
        # There must be a row that can be locked.
        ensure_row = (
            self._database.build_insert(plans).values(empty_row).on_conflict_do_nothing(index_elements=["scope"])
        )
        async with self._database.write() as connection:
            await connection.execute(ensure_row)
            query = select(plans.c.state).where(plans.c.scope == scope).with_for_update()
            state = (await connection.execute(query)).scalar_one()
            old = SessionPlan.from_dict(state) if state else SessionPlan()
            new = step(old)
            values = {"state": _to_storable(new.to_dict()), "updated_at": time.time()}
            await connection.execute(plans.update().where(plans.c.scope == scope).values(values))
            await self._archive_changes(connection, scope, old, new)
        return new

    async def forget(self, call: Call) -> None:
        """Delete the session's plan with its archive."""
        from outrider.plans.tables import plan_records, plans

        async with self._database.write() as connection:
            for table in (plans, plan_records):
                await connection.execute(table.delete().where(table.c.scope == call.scope))

    async def list_past_goals(self, call: Call, limit: int = 100) -> list[PastGoal]:
        """Return the session's past goals, newest first."""
        return await self.list_scope_goals(call.scope, limit)

    async def list_observations(self, call: Call, limit: int = 100) -> list[Observation]:
        """Return the session's observations, newest first."""
        return await self.list_scope_observations(call.scope, limit)

    async def list_plans(
        self,
        plan_filter: "PlanFilter" = "all",
        *,
        text: str = "",
        workspace: str | None = None,
        after: str = "",
        limit: int = 50,
    ) -> "Batch[StoredPlan]":
        """Return one batch of all sessions' plans for the operator, the last changed first.

        Args:
            plan_filter: Plans with open todos or an active goal (`open`), others (`done`), or all.
            text: Only with this in session, goal or todos, in any case.
            workspace: Only of this workspace; None means all.
            after: Cursor of the batch before; empty for the first.
            limit: Maximum number; a batch may hold fewer although more follow.

        Raises:
            InvalidInput: `after` is not a cursor.
        """
        from outrider.plans.listing import load_plan_batch

        async with self._database.read() as connection:
            options: Any = {"text": text, "workspace": workspace, "after": after, "limit": limit}
            return await connection.run_sync(load_plan_batch, plan_filter, **options)

    async def load_scope(self, scope: str) -> "StoredPlan":
        """Return the plan of a scope (`Call.scope`), of any session. Raises NotFound."""
        from outrider.plans.listing import load_plan

        async with self._database.read() as connection:
            return await connection.run_sync(load_plan, to_storable_text(scope, 64))

    async def list_scope_goals(self, scope: str, limit: int = 100) -> list[PastGoal]:
        """Return the past goals of a scope, newest first."""
        rows = await self._load_records(scope, "goal", limit)
        return [PastGoal(row["number"], row["text"], row["outcome"], row["at"]) for row in rows]

    async def list_scope_observations(self, scope: str, limit: int = 100) -> list[Observation]:
        """Return the observations of a scope, newest first."""
        rows = await self._load_records(scope, "observation", limit)
        return [Observation(row["number"], row["text"], row["at"]) for row in rows]

    async def _load_records(self, scope: str, kind: str, limit: int) -> list[Any]:
        from sqlalchemy import select

        from outrider.plans.tables import plan_records as records

        query = select(records).where(records.c.scope == scope, records.c.kind == kind)
        async with self._database.read() as connection:
            result = await connection.execute(query.order_by(records.c.number.desc()).limit(limit))
            return list(result.mappings())

    async def _archive_changes(self, connection: Any, scope: str, old: SessionPlan, new: SessionPlan) -> None:
        from outrider.plans.tables import plan_records

        rows = [
            {"kind": "goal", "number": goal.number, "text": goal.text, "outcome": goal.outcome, "at": goal.at}
            for goal in new.past_goals
            if goal.number > old.left
        ] + [
            {"kind": "observation", "number": seen.number, "text": seen.text, "outcome": "", "at": seen.at}
            for seen in new.observations
            if seen.number > old.observed
        ]
        if rows:
            await connection.execute(plan_records.insert(), [_to_storable(row) | {"scope": scope} for row in rows])


def _to_storable(value: Any) -> Any:
    """Return JSON-able data whose texts every database accepts."""
    if isinstance(value, str):
        return to_storable_text(value)
    if isinstance(value, dict):
        return {name: _to_storable(item) for name, item in value.items()}
    return [_to_storable(item) for item in value] if isinstance(value, list | tuple) else value
