"""News of runs between processes: on Postgres, whoever writes an event rings, and those who follow hear it at once.

A bell only says that it is worth looking: what happened stands in the table of events, and who hears nothing looks
there now and then all the same (postgresql.org/docs/current/sql-notify.html). SQLite has no bell.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from outrider.core.db import Database
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = logging.getLogger(__name__)
CHANNEL = "outrider_runs"
AGAIN = 1.0  # seconds until a lost connection is made again
WAITING = "waiting"  # rung where a run waits for a process with room
ALIVE = 30.0  # seconds without a ring after which the connection is tried


def ring(connection: "Connection", run_ids: Iterable[str]) -> None:
    """Tells the others of news of these runs, once the transaction is stored."""
    if connection.dialect.name != "postgresql":
        return
    from sqlalchemy import text

    for run_id in run_ids:
        connection.execute(text("SELECT pg_notify(:channel, :run)"), {"channel": CHANNEL, "run": run_id})


class Bell:
    """Hears the others.

    Args:
        database: Where they ring.
        heard: Is told of which run there is news.
    """

    def __init__(self, database: Database, heard: Callable[[str], None]) -> None:
        self._database = database
        self._heard = heard
        self._task: asyncio.Task[None] | None = None
        self.hears = False  # for the moment nothing can be missed

    def listen(self) -> None:
        """Begins to listen, unless it does already or there is nothing to be heard."""
        if self._database.shared and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._always())

    async def close(self) -> None:
        """Listens no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _always(self) -> None:
        from psycopg import Error
        from sqlalchemy.exc import SQLAlchemyError

        while True:
            try:
                await self._while_connected()
            except (Error, SQLAlchemyError, OSError, OutriderError) as error:
                log.info("news of runs are looked for, not heard: %s", error)
            await asyncio.sleep(AGAIN)

    async def _while_connected(self) -> None:
        from sqlalchemy import text

        connection = await self._database.keep()
        try:
            await connection.execute(text(f"LISTEN {CHANNEL}"))
            self.hears = True
            driver: Any = (await connection.get_raw_connection()).driver_connection
            while True:
                async for news in driver.notifies(timeout=ALIVE):
                    self._heard(news.payload)
                await connection.execute(text("SELECT 1"))
        finally:
            self.hears = False
            await connection.invalidate()
            await connection.close()
