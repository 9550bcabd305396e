"""What quotas are counted by: the use that other domains write down, asked of their tables."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from outrider.agents.run import WORKING
from outrider.agents.tables import run_steps as steps
from outrider.agents.tables import runs
from outrider.content.tables import content_stores, contents
from outrider.core.db import Database
from outrider.core.tables import artifacts
from outrider.identity.quotas import Owner

TOLD = ("completed", "partial", "failed")  # runs whose rows say what they have cost; of others their steps do


@dataclass(frozen=True)
class Usage:
    """The identity domain's view of runs, artifacts and content stores."""

    database: Database

    async def spent(self, owner: Owner, since: float) -> float:
        """US dollars of runs that ended since then, and of the requests that the others have made to models since."""
        told, mine = runs.c.status.in_(TOLD), _whose(runs, owner)
        whole = select(func.coalesce(func.sum(runs.c.cost), 0.0)).where(told, runs.c.updated_at >= since, *mine)
        so_far = select(func.coalesce(func.sum(steps.c.usage["cost"].as_float()), 0.0)).join_from(
            steps, runs, steps.c.run_id == runs.c.id
        )
        so_far = so_far.where(steps.c.kind == "model", steps.c.ended_at >= since, ~told, *mine)

        def summed(connection: "Connection") -> float:
            return float(connection.execute(whole).scalar_one()) + float(connection.execute(so_far).scalar_one())

        return await self.database.short(summed, write=False)

    def working(self, connection: "Connection", owner: Owner) -> int:
        """Runs at work that no other run began."""
        mine = (runs.c.status.in_(WORKING), runs.c.parent_run_id.is_(None), *_whose(runs, owner))
        return connection.execute(select(func.count()).select_from(runs).where(*mine)).scalar_one()

    async def stored(self, owner: Owner) -> int:
        """Bytes of artifacts and of contents in stores."""
        kept = select(func.coalesce(func.sum(artifacts.c.size), 0)).where(*_whose(artifacts, owner))
        mine = select(content_stores.c.id).where(*_whose(content_stores, owner))
        texts = select(func.coalesce(func.sum(contents.c.size), 0)).where(contents.c.store_id.in_(mine))

        def summed(connection: "Connection") -> int:
            return int(connection.execute(kept).scalar_one()) + int(connection.execute(texts).scalar_one())

        return await self.database.short(summed, write=False)


def _whose(table: Any, owner: Owner) -> list[Any]:
    """The conditions under which a row is the owner's."""
    nobodys = [table.c.workspace.is_(None)] if not owner.workspace else []
    where = or_(table.c.workspace == owner.workspace, *nobodys)
    return [where] if owner.person is None else [where, table.c.identity == owner.person]
