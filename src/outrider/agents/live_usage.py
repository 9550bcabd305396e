"""Sum the usage of runs that have not ended from their steps.

The row of a run gets its usage when an attempt ends; until then only its steps know it.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from outrider.agents.limits import RunUsage
from outrider.agents.run_status import ACTIVE_STATUSES
from outrider.agents.tables import run_steps, runs
from outrider.agents.tables import run_steps as steps
from outrider.core.database.database import Database


def load_live_usage(connection: Connection, *conditions: ColumnElement[bool]) -> dict[str, RunUsage]:
    """Return the usage of matching active runs by run id.

    Only runs that have taken a step are included.
    """
    query = select(steps.c.run_id, steps.c.usage).join_from(steps, runs, steps.c.run_id == runs.c.id)
    query = query.where(steps.c.kind == "model", runs.c.status.in_(ACTIVE_STATUSES), *conditions)
    live: dict[str, RunUsage] = {}
    for run_id, usage in connection.execute(query):
        live[run_id] = live.get(run_id, RunUsage()) + RunUsage.from_dict(usage)
    return live


def load_step_changes(connection: Connection, since: float) -> list[dict[str, Any]]:
    """Return `id`, `root_run_id`, `status` and `updated_at` of active runs that a model has answered since a time."""
    query = select(runs.c.id, runs.c.root_run_id, runs.c.status, func.max(steps.c.ended_at).label("updated_at"))
    query = query.join_from(runs, steps, steps.c.run_id == runs.c.id).group_by(
        runs.c.id, runs.c.root_run_id, runs.c.status
    )
    is_answered = steps.c.kind == "model", steps.c.ended_at > since, runs.c.status.in_(ACTIVE_STATUSES)
    return [dict(row) for row in connection.execute(query.where(*is_answered)).mappings()]


def merge_usage(row: Mapping[str, Any], live: Mapping[str, RunUsage]) -> dict[str, Any]:
    """Return a run's row with its live usage and cost, if any."""
    usage = live.get(row["id"])
    return dict(row) if usage is None else {**row, "usage": usage.to_dict(), "cost": usage.cost}


async def sum_cost(database: Database, workspace: str, identity: str | None, since: float) -> float:
    """Return the US dollars that models have cost since a time.

    Args:
        database: The database with the runs.
        workspace: The workspace; empty for callers without one.
        identity: Only this person's runs; None for everyone in the workspace.
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
    """Count active outermost runs of a workspace, or of one person.

    Queued runs are active too.
    """
    active = runs.c.status.in_(ACTIVE_STATUSES), runs.c.parent_run_id.is_(None)
    query = select(func.count()).select_from(runs).where(*active, *_build_owner_filter(workspace, identity))
    return connection.execute(query).scalar_one()


def _build_owner_filter(workspace: str, identity: str | None) -> list[ColumnElement[bool]]:
    in_workspace = runs.c.workspace == workspace
    return [in_workspace] if identity is None else [in_workspace, runs.c.identity == identity]
