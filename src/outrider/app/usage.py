"""Measure what quotas limit: cost, active runs and stored bytes."""

from dataclasses import dataclass

from sqlalchemy import Connection

from outrider.agents.live_usage import count_active_runs, sum_cost
from outrider.content.overview import sum_content_bytes
from outrider.core.artifact_totals import sum_artifact_bytes
from outrider.core.database.database import Database
from outrider.identity.quotas import QuotaOwner


@dataclass(frozen=True)
class QuotaUsage:
    """The usage of other packages, as `identity.quotas` needs it."""

    database: Database

    async def sum_cost(self, owner: QuotaOwner, since: float) -> float:
        """Return the US dollars that an owner's runs have cost since a time (seconds since the epoch)."""
        return await sum_cost(self.database, owner.workspace, owner.person, since)

    def count_active_runs(self, connection: Connection, owner: QuotaOwner) -> int:
        """Count an owner's active runs that were not started by another run."""
        return count_active_runs(connection, owner.workspace, owner.person)

    async def sum_stored_bytes(self, owner: QuotaOwner) -> int:
        """Return the bytes of an owner's artifacts and of the contents in their stores."""

        def sum_bytes(connection: Connection) -> int:
            workspace, person = owner.workspace, owner.person
            artifact_bytes = sum_artifact_bytes(connection, workspace, person)
            return artifact_bytes + sum_content_bytes(connection, workspace, person)

        return await self.database.run_transaction(sum_bytes, write=False)
