"""News of runs between processes: on Postgres, whoever writes an event rings, and those who follow hear it at once.

A ring brings the events along where they fit into one, so that nobody has to look for them; else it only says that
it is worth looking. What happened stands in the table of events in any case, and who hears nothing looks there now and
then all the same (postgresql.org/docs/current/sql-notify.html). SQLite has no bell.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from outrider.agents.events.event import RunEvent
from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.core.gc_control import freeze_imports

log = logging.getLogger(__name__)
NOTIFY_CHANNEL = "outrider_runs"
RUN_WAITING = "waiting"  # rung where a run waits for a process with room


def notify_runs(connection: "Connection", payloads: Iterable[str]) -> None:
    """Tells the others of news of these runs, or that runs are `WAITING`, once the transaction is stored."""
    if connection.dialect.name != "postgresql":
        return
    from sqlalchemy import text

    rings = text("SELECT pg_notify(:channel, ring) FROM unnest(CAST(:rings AS text[])) AS ring")
    connection.execute(rings, {"channel": NOTIFY_CHANNEL, "rings": list(payloads)})


def notify_events(connection: "Connection", events: Sequence[RunEvent]) -> None:
    """Tells the others these events, in the order of each run, once the transaction is stored."""
    of_runs: dict[str, list[RunEvent]] = {}
    for event in events:
        of_runs.setdefault(event.run_id, []).append(event)
    notify_runs(connection, [_serialize_events(run_id, news) for run_id, news in of_runs.items()])


def _serialize_events(run_id: str, events: Sequence[RunEvent]) -> str:
    max_payload_bytes = 7_900  # bytes of one ring: Postgres takes less than 8,000
    facts = [run_id, [[each.seq, each.at, each.kind, each.data] for each in events]]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return text if len(text.encode()) <= max_payload_bytes else run_id


def _parse_payload(payload: str) -> tuple[str, list[RunEvent]]:
    """Of which run there is news, and the news if they came along."""
    if not payload.startswith("["):
        return payload, []
    run_id, events = json.loads(payload)
    return run_id, [RunEvent(run_id, *each) for each in events]


class RunNotifier:
    """Hears the others.

    Args:
        database: Where they ring.
        on_news: Is told of which run there is news, and the news if they came along.
    """

    def __init__(self, database: Database, on_news: Callable[[str, Sequence[RunEvent]], None]) -> None:
        self._database = database
        self._on_news = on_news
        self._task: asyncio.Task[None] | None = None
        self.is_connected = False  # for the moment nothing can be missed

    def start(self) -> None:
        """Begins to listen, unless it does already or there is nothing to be heard."""
        if self._database.is_shared and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._listen_forever())

    async def close(self) -> None:
        """Listens no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen_forever(self) -> None:
        reconnect_delay_s = 1.0  # seconds until a lost connection is made again
        from psycopg import Error

        while True:
            try:
                await self._listen_until_disconnected()
            except (Error, SQLAlchemyError, OSError, OutriderError) as error:
                log.info("news of runs are looked for, not heard: %s", error)
            await asyncio.sleep(reconnect_delay_s)

    async def _listen_until_disconnected(self) -> None:
        keepalive_interval_s = 30.0  # seconds without a ring after which the connection is tried
        from sqlalchemy import text

        connection = await self._database.connect_autocommit()
        try:
            await connection.execute(text(f"LISTEN {NOTIFY_CHANNEL}"))
            self.is_connected = True
            freeze_imports("news of runs")
            driver: Any = (await connection.get_raw_connection()).driver_connection
            while True:
                async for news in driver.notifies(timeout=keepalive_interval_s):
                    self._on_news(*_parse_payload(news.payload))
                await connection.execute(text("SELECT 1"))
        finally:
            self.is_connected = False
            await connection.invalidate()
            await connection.close()
