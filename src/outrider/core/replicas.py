"""The processes that share a database: each says again and again that it is there, and where it can be reached."""

import time
import uuid
from typing import Any

from sqlalchemy import Connection, delete, select

from outrider.core.db import Database
from outrider.core.tables import replicas

BEAT = 2.0  # seconds between two signs of life
SILENT = 6.0  # seconds without one after which a process is taken to be dead
FORGOTTEN = 3_600.0  # seconds after which nobody needs to know that there was one


class Replicas:
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
        self._began = time.time()

    async def beat(self) -> None:
        """Says that this process is there. Raises Unavailable."""
        now = self._database.now()
        row = {"id": self.id, "address": self.address, "started_at": self._began, "seen_at": now}
        statement = self._database.upserting(replicas, row, key="id")
        gone = delete(replicas).where(replicas.c.seen_at < now - FORGOTTEN)

        def written(connection: "Connection") -> None:
            connection.execute(statement)
            connection.execute(gone)

        await self._database.short(written, write=True)

    async def leave(self) -> None:
        """Says that this process is gone. Raises Unavailable."""
        await self._database.short(
            lambda connection: connection.execute(delete(replicas).where(replicas.c.id == self.id)), write=True
        )

    async def find(self, replica: str) -> str | None:
        """The address of a process that lives, empty if it has none; None if it is dead. Raises Unavailable."""
        query = select(replicas.c.address, replicas.c.seen_at).where(replicas.c.id == replica)

        def found(connection: "Connection") -> Any:
            return connection.execute(query).first()

        row = await self._database.short(found, write=False)
        return row.address if row and row.seen_at > self._database.now() - SILENT else None
