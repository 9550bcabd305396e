"""Store a person's approvals of flows, each for one file version."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.core.database.database import Database, to_storable_text
from outrider.flows.program import FlowProgram

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from sqlalchemy import Table


@dataclass(frozen=True)
class FlowApproval:
    """An approval, as people see it."""

    digest: str
    version: int
    origins: tuple[str, ...]
    approved_at: float
    approved_by: str


class FlowApprovals:
    """Approvals of flows; each ends when a file of the flow, or of one that it runs, changes.

    Args:
        database: Holds the approvals.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _table(self) -> "Table":
        from outrider.flows.tables import flow_approvals

        return flow_approvals

    async def is_approved(self, owner: str, program: FlowProgram) -> bool:
        """Return whether exactly these files are approved for an owner (`build_owner_key`). Raises Unavailable."""
        approvals = self._table
        own = (approvals.c.owner == owner) & (approvals.c.digest == program.digest)
        async with self._database.read() as connection:
            return (await connection.execute(approvals.select().where(own))).first() is not None

    async def approve(self, owner: str, program: FlowProgram, *, by: str) -> None:
        """Approve the current version of a flow; earlier versions lose their approval. Raises Unavailable.

        Args:
            owner: For whose runs (`build_owner_key`).
            program: The flow.
            by: The person's name, or the interface that they used, such as `terminal`.
        """
        approvals, flow = self._table, program.flow
        row = {
            "owner": owner,
            "digest": program.digest,
            "flow": flow.name,
            "version": flow.version,
            "origins": list(flow.origins),
            "approved_at": self._database.now(),
            "approved_by": to_storable_text(by, 200),
        }
        await self.withdraw(owner, flow.name)
        async with self._database.write() as connection:
            await connection.execute(self._database.build_insert(approvals).values(row).on_conflict_do_nothing())

    async def withdraw(self, owner: str, flow: str) -> bool:
        """Withdraw the approval of a flow; return whether there was one. Raises Unavailable."""
        approvals = self._table
        own = (approvals.c.owner == owner) & (approvals.c.flow == flow)
        async with self._database.write() as connection:
            return (await connection.execute(approvals.delete().where(own))).rowcount > 0

    async def list_approvals(self, owner: str, flow: str) -> list[FlowApproval]:
        """List the approvals of a flow for an owner. Raises Unavailable."""
        approvals = self._table
        own = (approvals.c.owner == owner) & (approvals.c.flow == flow)
        async with self._database.read() as connection:
            rows = (await connection.execute(approvals.select().where(own))).mappings().all()
        names = ("digest", "version", "approved_at", "approved_by")
        return [FlowApproval(**{name: row[name] for name in names}, origins=tuple(row["origins"])) for row in rows]
