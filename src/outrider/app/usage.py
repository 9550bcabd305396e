"""What quotas are counted by: the use that other domains write down, asked of their tables."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from outrider.agents.run import ACTIVE_STATUSES
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs
from outrider.content.tables import content_stores, contents
from outrider.core.database.database import Database
from outrider.core.tables import artifacts
from outrider.identity.quotas import QuotaOwner


@dataclass(frozen=True)
class QuotaUsage:
    """The identity domain's view of runs, artifacts and content stores."""

    database: Database

    async def sum_cost(self, owner: QuotaOwner, since: float) -> float:
        """US dollars of runs that ended since then, and of the requests that the others have made to models since."""
        settled_statuses = (
            "completed",
            "partial",
            "failed",
        )  # runs whose rows say what they have cost; of others their steps do
        told, mine = runs.c.status.in_(settled_statuses), _build_owner_filter(runs, owner)
        whole = select(func.coalesce(func.sum(runs.c.cost), 0.0)).where(told, runs.c.updated_at >= since, *mine)
        so_far = select(func.coalesce(func.sum(steps.c.usage["cost"].as_float()), 0.0)).join_from(
            steps, runs, steps.c.run_id == runs.c.id
        )
        so_far = so_far.where(steps.c.kind == "model", steps.c.ended_at >= since, ~told, *mine)

        def sum_costs(connection: "Connection") -> float:
            return float(connection.execute(whole).scalar_one()) + float(connection.execute(so_far).scalar_one())

        return await self.database.run_transaction(sum_costs, write=False)

    def count_active_runs(self, connection: "Connection", owner: QuotaOwner) -> int:
        """Runs at work that no other run began."""
        mine = (runs.c.status.in_(ACTIVE_STATUSES), runs.c.parent_run_id.is_(None), *_build_owner_filter(runs, owner))
        return connection.execute(select(func.count()).select_from(runs).where(*mine)).scalar_one()

    async def sum_stored_bytes(self, owner: QuotaOwner) -> int:
        """Bytes of artifacts and of contents in stores."""
        kept = select(func.coalesce(func.sum(artifacts.c.size), 0)).where(*_build_owner_filter(artifacts, owner))
        mine = select(content_stores.c.id).where(*_build_owner_filter(content_stores, owner))
        texts = select(func.coalesce(func.sum(contents.c.size), 0)).where(contents.c.store_id.in_(mine))

        def sum_sizes(connection: "Connection") -> int:
            return int(connection.execute(kept).scalar_one()) + int(connection.execute(texts).scalar_one())

        return await self.database.run_transaction(sum_sizes, write=False)


def _build_owner_filter(table: Any, owner: QuotaOwner) -> list[Any]:
    """The conditions under which a row is the owner's."""
    nobodys = [table.c.workspace.is_(None)] if not owner.workspace else []
    where = or_(table.c.workspace == owner.workspace, *nobodys)
    return [where] if owner.person is None else [where, table.c.identity == owner.person]
