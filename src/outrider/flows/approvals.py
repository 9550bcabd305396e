"""Remember which flows a person has approved, each as the files were at that moment."""

from typing import TYPE_CHECKING

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.flows.program import FlowProgram

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from sqlalchemy import Table


class FlowApprovals:
    """Approvals of flows: a flow whose file, or that of a flow it runs, has changed is another one.

    Args:
        database: Holds them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _table(self) -> "Table":
        from outrider.flows.tables import flow_approvals

        return flow_approvals

    async def is_approved(self, call: Call, program: FlowProgram) -> bool:
        """Return whether the caller has approved these very files. Raises Unavailable."""
        approvals = self._table
        own = (approvals.c.owner == call.owner_folder) & (approvals.c.digest == program.digest)
        async with self._database.read() as connection:
            return (await connection.execute(approvals.select().where(own))).first() is not None

    async def approve(self, call: Call, program: FlowProgram) -> None:
        """Approve a flow as it is; an earlier version of its name is not approved any more. Raises Unavailable."""
        approvals, flow = self._table, program.flow
        row = {
            "owner": call.owner_folder,
            "digest": program.digest,
            "flow": flow.name,
            "version": flow.version,
            "origins": list(flow.origins),
            "approved_at": self._database.now(),
        }
        await self.withdraw(call, flow.name)
        async with self._database.write() as connection:
            await connection.execute(self._database.build_insert(approvals).values(row).on_conflict_do_nothing())

    async def withdraw(self, call: Call, flow: str) -> bool:
        """Withdraw the approval of a flow; return whether there was one. Raises Unavailable."""
        approvals = self._table
        own = (approvals.c.owner == call.owner_folder) & (approvals.c.flow == flow)
        async with self._database.write() as connection:
            return (await connection.execute(approvals.delete().where(own))).rowcount > 0
