"""The processes that share a database: each says again and again that it is there, and where it can be reached."""

import time
import uuid
from typing import Any

from sqlalchemy import Connection, delete, select

from outrider.core.database.database import Database
from outrider.core.tables import replicas

HEARTBEAT_INTERVAL_S = 2.0  # seconds between two signs of life
HEARTBEAT_TIMEOUT_S = 6.0  # seconds without one after which a process is taken to be dead


class ReplicaRegistry:
    """This process among the others.

    Args:
        database: What they share.

    Attributes:
        id: This process's name.
        address: Where others reach it; empty while they cannot.
    """

    def __init__(self, database: Database) -> None:
        self.id = f"p_{uuid.uuid4().hex[:16]}"
        self.address = ""
        self._database = database
        self._started_at = time.time()

    async def send_heartbeat(self) -> None:
        """Says that this process is there. Raises Unavailable."""
        forget_after_s = 3_600.0  # seconds after which nobody needs to know that there was one
        now = self._database.now()
        row = {"id": self.id, "address": self.address, "started_at": self._started_at, "seen_at": now}
        statement = self._database.build_upsert(replicas, row, key="id")
        gone = delete(replicas).where(replicas.c.seen_at < now - forget_after_s)

        def write_row(connection: "Connection") -> None:
            connection.execute(statement)
            connection.execute(gone)

        await self._database.run_transaction(write_row, write=True)

    async def unregister_self(self) -> None:
        """Says that this process is gone. Raises Unavailable."""
        await self._database.run_transaction(
            lambda connection: connection.execute(delete(replicas).where(replicas.c.id == self.id)), write=True
        )

    async def find_address(self, replica: str) -> str | None:
        """The address of a process that lives, empty if it has none; None if it is dead. Raises Unavailable."""
        query = select(replicas.c.address, replicas.c.seen_at).where(replicas.c.id == replica)

        def select_row(connection: "Connection") -> Any:
            return connection.execute(query).first()

        row = await self._database.run_transaction(select_row, write=False)
        return row.address if row and row.seen_at > self._database.now() - HEARTBEAT_TIMEOUT_S else None
