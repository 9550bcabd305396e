"""Register the processes that share a database, with heartbeats and addresses."""

import time
import uuid
from typing import Any

from sqlalchemy import Connection, delete, select

from outrider.core.database.database import Database
from outrider.core.tables import replicas

HEARTBEAT_INTERVAL_S = 2.0
HEARTBEAT_TIMEOUT_S = 6.0  # a process without a heartbeat for this time is dead


class ReplicaRegistry:
    """This process's entry in the list of processes.

    Args:
        database: The shared database.

    Attributes:
        id: This process's id.
        address: Where others reach it; empty while they cannot.
    """

    def __init__(self, database: Database) -> None:
        self.id = f"p_{uuid.uuid4().hex[:16]}"
        self.address = ""
        self._database = database
        self._started_at = time.time()

    async def send_heartbeat(self) -> None:
        """Report that this process is alive, and delete long dead ones. Raises Unavailable."""
        forget_after_s = 3_600.0
        now = self._database.now()
        row = {"id": self.id, "address": self.address, "started_at": self._started_at, "seen_at": now}
        upsert = self._database.build_upsert(replicas, row, key="id")
        delete_dead = delete(replicas).where(replicas.c.seen_at < now - forget_after_s)

        def write_rows(connection: Connection) -> None:
            connection.execute(upsert)
            connection.execute(delete_dead)

        await self._database.run_transaction(write_rows, write=True)

    async def unregister_self(self) -> None:
        """Report that this process ends. Raises Unavailable."""
        await self._database.run_transaction(
            lambda connection: connection.execute(delete(replicas).where(replicas.c.id == self.id)), write=True
        )

    async def find_address(self, replica: str) -> str | None:
        """Return the address of a live process, empty if it has none; None if it is dead. Raises Unavailable."""
        query = select(replicas.c.address, replicas.c.seen_at).where(replicas.c.id == replica)
        row: Any = await self._database.run_transaction(
            lambda connection: connection.execute(query).first(), write=False
        )
        return row.address if row and row.seen_at > self._database.now() - HEARTBEAT_TIMEOUT_S else None
