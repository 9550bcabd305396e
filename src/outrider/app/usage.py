"""Measure what quotas limit: cost, active runs and stored bytes."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from outrider.agents.run_totals import count_active_runs, sum_cost
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
        return await sum_cost(self.database, owner.workspace, owner.person, since)

    def count_active_runs(self, connection: "Connection", owner: QuotaOwner) -> int:
        """Runs at work that no other run began."""
        return count_active_runs(connection, owner.workspace, owner.person)

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
