"""Health records of all providers, shared by all processes through the database."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import select

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.search.health import ProviderHealth
from outrider.search.tables import health

log = logging.getLogger(__name__)


class HealthLedger:
    """The health of every access, in memory and, while the database works, in the database.

    A database that fails never fails a search: the ledger continues in memory and logs that once.
    """

    def __init__(self, database: Database | None, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._records: dict[str, ProviderHealth] = {}
        self._suspended_until = 0.0

    def get(self, access: str) -> ProviderHealth:
        """Return the record of an access, a blank one at first."""
        return self._records.get(access, ProviderHealth())

    async def load(self) -> Mapping[str, ProviderHealth]:
        """Adopt what other processes have learned, and return all records by access."""
        if self._database is not None and self._clock() >= self._suspended_until:
            try:
                async with self._database.read() as connection:
                    rows = (await connection.execute(select(health))).mappings().all()
            except OutriderError as error:
                self._suspend_database(error)
            else:
                for row in rows:
                    stored = _parse_row(row)
                    if stored.updated_at >= self.get(row["access"]).updated_at:
                        self._records[row["access"]] = stored
        return dict(self._records)

    async def update(self, access: str, change: Callable[[ProviderHealth], ProviderHealth]) -> None:
        """Apply a change to the newest record, within one transaction."""
        changed: ProviderHealth | None = None
        if (database := self._database) is not None and self._clock() >= self._suspended_until:
            try:
                own = self.get(access)
                async with database.write() as connection:
                    query = select(health).where(health.c.access == access).with_for_update()
                    row = (await connection.execute(query)).mappings().first()
                    stored = _parse_row(row) if row is not None else own
                    updated = change(stored if stored.updated_at >= own.updated_at else own)
                    values = asdict(updated) | {"access": access, "kinds": dict(updated.kinds)}
                    await connection.execute(database.build_upsert(health, values, key="access"))
                changed = updated
            except OutriderError as error:
                self._suspend_database(error)
        self._records[access] = changed if changed is not None else change(self.get(access))

    def _suspend_database(self, error: OutriderError) -> None:
        retry_delay_s = 60.0
        if not self._suspended_until:
            log.warning("the health of search providers is kept in memory only: %s", error)
        self._suspended_until = self._clock() + retry_delay_s


def _parse_row(row: Mapping[str, object]) -> ProviderHealth:
    columns: dict[str, Any] = {name: value for name, value in row.items() if name != "access"}
    return ProviderHealth(**columns)
