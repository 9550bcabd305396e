"""Store flows as rows of a database that several machines share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound
from outrider.flows.flow import Flow
from outrider.flows.flow_file import build_conflict_error
from outrider.flows.flow_files import SavedFlow
from outrider.flows.flow_runs import build_owner_key

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from sqlalchemy import Connection

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class FlowRows:
    """Reads and writes one row for each version.

    It is used from a worker thread of the database's event loop.
    """

    database: Database

    def read(self, call: Call, name: str) -> str:
        """Return a flow as YAML. Raises NotFound, Unavailable."""
        return self.list_versions(call, name, limit=1)[0].text

    def write(self, call: Call, flow: Flow, text: str, before: str) -> SavedFlow:
        """Write the next version. Raises Refused if the newest one is not `before`, Unavailable."""
        from outrider.flows.tables import flow_versions as table

        max_versions = 100
        owner, storable = build_owner_key(call), to_storable_text(text)
        row = {"owner": owner, "flow": flow.name, "version": flow.version, "text": storable}
        row["saved_at"] = self.database.now()
        is_own = (table.c.owner == owner) & (table.c.flow == flow.name)
        newest = table.select().where(is_own).order_by(table.c.version.desc()).limit(1)
        insert = self.database.build_insert(table).values(row).on_conflict_do_nothing().returning(table.c.version)

        def write_row(connection: "Connection") -> bool:
            current = connection.execute(newest).mappings().first()
            if (current["text"] if current else "") != before:
                return False
            connection.execute(table.delete().where(is_own, table.c.version <= flow.version - max_versions))
            # Two processes that replace the same version insert the same key, so one of them waits and is refused.
            return connection.execute(insert).first() is not None

        if not self._run(write_row, write=True):
            raise build_conflict_error(flow.name)
        return SavedFlow(flow.version, storable, row["saved_at"])

    def remove(self, call: Call, name: str) -> None:
        """Delete a flow with its older versions. Raises Unavailable."""
        from outrider.flows.tables import flow_versions as table

        is_own = (table.c.owner == build_owner_key(call)) & (table.c.flow == name)
        self._run(lambda connection: connection.execute(table.delete().where(is_own)).rowcount, write=True)

    def list_names(self, call: Call) -> list[str]:
        """List the names of a caller's flows. Raises Unavailable."""
        from sqlalchemy import select

        from outrider.flows.tables import flow_versions as table

        query = select(table.c.flow).where(table.c.owner == build_owner_key(call)).distinct().order_by(table.c.flow)
        return self._run(lambda connection: list(connection.execute(query).scalars()))

    def list_versions(self, call: Call, name: str, limit: int | None = None) -> list[SavedFlow]:
        """List the versions of a flow, newest first. Raises NotFound, Unavailable."""
        from outrider.flows.tables import flow_versions as table

        query = table.select().where(table.c.owner == build_owner_key(call), table.c.flow == name)
        query = query.order_by(table.c.version.desc()).limit(limit)
        rows = self._run(lambda connection: connection.execute(query).mappings().all())
        if not rows:
            raise NotFound(f"name: no flow {name!r}", code="unknown_flow")
        return [SavedFlow(row["version"], row["text"], row["saved_at"]) for row in rows]

    def _run(self, work: "Callable[[Connection], ResultT]", *, write: bool = False) -> ResultT:
        return anyio.from_thread.run(partial(self.database.run_transaction, work, write=write))
