"""Where plans are kept: one row a session, changed in one transaction, and an archive that only grows."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.plans.plan import Observation, PastGoal, SessionPlan

if TYPE_CHECKING:
    from outrider.core.keyset import Batch
    from outrider.plans.listing import PlanFilter, StoredPlan


class PlanStore:
    """The plans of all sessions. A session sees only its own; calls of one session never lose each other's change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, call: Call) -> SessionPlan:
        """The plan of the call's session; an empty one if there is none. Raises Unavailable."""
        from sqlalchemy import select

        from outrider.plans.tables import plans

        async with self._database.read() as connection:
            query = select(plans.c.state).where(plans.c.scope == call.scope)
            state = (await connection.execute(query)).scalar()
        return SessionPlan.from_dict(state) if state else SessionPlan()

    async def change(self, call: Call, step: Callable[[SessionPlan], SessionPlan]) -> SessionPlan:
        """Puts the plan that `step` makes of the present one in its place, and archives what is new in it.

        Args:
            call: Whose plan.
            step: From plan to plan; what it raises leaves everything as it was.

        Returns:
            The new plan.
        """
        from sqlalchemy import select

        from outrider.plans.tables import plans

        key = call.scope
        async with self._database.write() as connection:
            await connection.execute(self._build_insert(call, key))
            query = select(plans.c.state).where(plans.c.scope == key).with_for_update()
            state = (await connection.execute(query)).scalar_one()
            old = SessionPlan.from_dict(state) if state else SessionPlan()
            new = step(old)
            values = {"state": _to_storable(new.to_dict()), "updated_at": time.time()}
            await connection.execute(plans.update().where(plans.c.scope == key).values(values))
            await self._archive_changes(connection, key, old, new)
        return new

    async def forget(self, call: Call) -> None:
        """Removes the session's plan with its archive."""
        from outrider.plans.tables import plan_records, plans

        async with self._database.write() as connection:
            for table in (plans, plan_records):
                await connection.execute(table.delete().where(table.c.scope == call.scope))

    async def list_past_goals(self, call: Call, limit: int = 100) -> list[PastGoal]:
        """The session's goals that were left, newest first."""
        return await self.list_scope_goals(call.scope, limit)

    async def list_observations(self, call: Call, limit: int = 100) -> list[Observation]:
        """The session's observations, newest first."""
        return await self.list_scope_observations(call.scope, limit)

    async def list_plans(
        self,
        which: "PlanFilter" = "all",
        *,
        text: str = "",
        workspace: str | None = None,
        after: str = "",
        limit: int = 50,
    ) -> "Batch[StoredPlan]":
        """The plans of all sessions, for the person who runs the house: the last changed first.

        Args:
            which: Those with something left to do (`open`), with nothing left (`done`), or all.
            text: Only with this in session, goal or todos, whatever its case.
            workspace: Only of this one; None means all.
            after: Where the part begins, from the part before.
            limit: How many at most; there may be fewer though more follow.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        from outrider.plans.listing import load_plan_batch

        async with self._database.read() as connection:
            wish: Any = {"text": text, "workspace": workspace, "after": after, "limit": limit}
            return await connection.run_sync(load_plan_batch, which, **wish)

    async def load_scope(self, scope: str) -> "StoredPlan":
        """The plan of a scope (`Call.scope`), whosever it is. Raises NotFound."""
        from outrider.plans.listing import load_plan

        async with self._database.read() as connection:
            return await connection.run_sync(load_plan, to_storable_text(scope, 64))

    async def list_scope_goals(self, scope: str, limit: int = 100) -> list[PastGoal]:
        """As `past_goals`, of a scope."""
        rows = await self._load_records(scope, "goal", limit)
        return [PastGoal(row["number"], row["text"], row["outcome"], row["at"]) for row in rows]

    async def list_scope_observations(self, scope: str, limit: int = 100) -> list[Observation]:
        """As `observations`, of a scope."""
        rows = await self._load_records(scope, "observation", limit)
        return [Observation(row["number"], row["text"], row["at"]) for row in rows]

    async def _load_records(self, scope: str, kind: str, limit: int) -> list[Any]:
        from sqlalchemy import select

        from outrider.plans.tables import plan_records as records

        query = select(records).where(records.c.scope == scope, records.c.kind == kind)
        async with self._database.read() as connection:
            found = await connection.execute(query.order_by(records.c.number.desc()).limit(limit))
            return list(found.mappings())

    def _build_insert(self, call: Call, key: str) -> Any:
        """Makes sure that there is a row to lock."""
        from outrider.plans.tables import plans

        row = {
            "scope": key,
            "workspace": to_storable_text(call.workspace, 200) if call.workspace else None,
            "session": to_storable_text(call.session, 200),
            "state": {},
            "updated_at": time.time(),
        }
        return self._database.build_insert(plans).values(row).on_conflict_do_nothing(index_elements=["scope"])

    async def _archive_changes(self, connection: Any, key: str, old: SessionPlan, new: SessionPlan) -> None:
        from outrider.plans.tables import plan_records

        rows = [
            {"kind": "goal", "number": each.number, "text": each.text, "outcome": each.outcome, "at": each.at}
            for each in new.past_goals
            if each.number > old.left
        ] + [
            {"kind": "observation", "number": each.number, "text": each.text, "outcome": "", "at": each.at}
            for each in new.observations
            if each.number > old.observed
        ]
        if rows:
            await connection.execute(plan_records.insert(), [_to_storable(row) | {"scope": key} for row in rows])


def _to_storable(value: Any) -> Any:
    """JSON-able data whose texts every database takes."""
    if isinstance(value, str):
        return to_storable_text(value)
    if isinstance(value, dict):
        return {name: _to_storable(each) for name, each in value.items()}
    return [_to_storable(each) for each in value] if isinstance(value, list | tuple) else value
