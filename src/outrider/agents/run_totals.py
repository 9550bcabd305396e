"""Sum the cost and count the active runs of a workspace or person."""

from sqlalchemy import ColumnElement, Connection, func, select

from outrider.agents.run_status import ACTIVE_STATUSES
from outrider.agents.tables import run_steps, runs
from outrider.core.database.database import Database


async def sum_cost(database: Database, workspace: str, identity: str | None, since: float) -> float:
    """Return the US dollars that models have cost since a time.

    Args:
        database: The database with the runs.
        workspace: The workspace; empty for callers without one.
        identity: Only this person's runs; None for everybody in the workspace.
        since: Seconds since the epoch.
    """
    # The row of such a run holds its full cost; for all other runs only their steps know it.
    settled = runs.c.status.in_(("completed", "partial", "failed"))
    owned = _build_owner_filter(workspace, identity)
    settled_cost = select(func.coalesce(func.sum(runs.c.cost), 0.0)).where(settled, runs.c.updated_at >= since, *owned)
    unsettled_cost = (
        select(func.coalesce(func.sum(run_steps.c.usage["cost"].as_float()), 0.0))
        .join_from(run_steps, runs, run_steps.c.run_id == runs.c.id)
        .where(run_steps.c.kind == "model", run_steps.c.ended_at >= since, ~settled, *owned)
    )

    def sum_costs(connection: Connection) -> float:
        return sum(float(connection.execute(query).scalar_one()) for query in (settled_cost, unsettled_cost))

    return await database.run_transaction(sum_costs, write=False)


def count_active_runs(connection: Connection, workspace: str, identity: str | None) -> int:
    """Count the queued and running outermost runs of a workspace, or of one person in it."""
    active = runs.c.status.in_(ACTIVE_STATUSES), runs.c.parent_run_id.is_(None)
    query = select(func.count()).select_from(runs).where(*active, *_build_owner_filter(workspace, identity))
    return connection.execute(query).scalar_one()


def _build_owner_filter(workspace: str, identity: str | None) -> list[ColumnElement[bool]]:
    in_workspace = runs.c.workspace == workspace
    return [in_workspace] if identity is None else [in_workspace, runs.c.identity == identity]
