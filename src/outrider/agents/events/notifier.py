"""Notify other processes of run events through Postgres.

A notification contains the events themselves if they fit into it; otherwise it only names the run, and the receiver
reads the table. Notifications can get lost, so followers also poll the table from time to time. SQLite has no
notifications (see postgresql.org/docs/current/sql-notify.html).
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from outrider.agents.events.event import RunEvent
from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.core.gc_control import freeze_imports

log = logging.getLogger(__name__)
NOTIFY_CHANNEL = "outrider_runs"
RUN_WAITING = "waiting"  # payload that means: a run waits for a free worker


def notify_runs(connection: "Connection", payloads: Iterable[str]) -> None:
    """Send payloads, each a run id or `RUN_WAITING`, when the transaction commits."""
    if connection.dialect.name != "postgresql":
        return
    query = text("SELECT pg_notify(:channel, payload) FROM unnest(CAST(:payloads AS text[])) AS payload")
    connection.execute(query, {"channel": NOTIFY_CHANNEL, "payloads": list(payloads)})


def notify_events(connection: "Connection", events: Sequence[RunEvent]) -> None:
    """Send events to other processes, in order for each run, when the transaction commits."""
    max_payload_bytes = 7_900  # Postgres accepts less than 8,000
    events_by_run: dict[str, list[RunEvent]] = {}
    for event in events:
        events_by_run.setdefault(event.run_id, []).append(event)
    payloads: list[str] = []
    for run_id, run_events in events_by_run.items():
        fields = [run_id, [[event.seq, event.at, event.kind, event.data] for event in run_events]]
        payload = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        payloads.append(payload if len(payload.encode()) <= max_payload_bytes else run_id)
    notify_runs(connection, payloads)


class RunNotifier:
    """Receives the notifications of other processes.

    Args:
        database: A Postgres database; with any other nothing is received.
        on_news: Called with the id of a run and its new events; without events if they did not fit.

    Attributes:
        is_connected: Whether notifications arrive at the moment.
    """

    def __init__(self, database: Database, on_news: Callable[[str, Sequence[RunEvent]], None]) -> None:
        self._database = database
        self._on_news = on_news
        self._task: asyncio.Task[None] | None = None
        self.is_connected = False

    def start(self) -> None:
        """Start listening once, if the database supports it."""
        if self._database.is_shared and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._listen_forever())

    async def close(self) -> None:
        """Stop listening."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen_forever(self) -> None:
        from psycopg import Error

        reconnect_delay_s = 1.0

        while True:
            try:
                await self._listen_until_disconnected()
            except (Error, SQLAlchemyError, OSError, OutriderError) as error:
                log.info("notifications of runs are not available, polling instead: %s", error)
            await asyncio.sleep(reconnect_delay_s)

    async def _listen_until_disconnected(self) -> None:
        keepalive_interval_s = 30.0  # time without notifications after which the connection is tested
        connection = await self._database.connect_autocommit()
        try:
            await connection.execute(text(f"LISTEN {NOTIFY_CHANNEL}"))
            self.is_connected = True
            freeze_imports("news of runs")
            driver: Any = (await connection.get_raw_connection()).driver_connection
            while True:
                async for notification in driver.notifies(timeout=keepalive_interval_s):
                    # The payload is the id of the run alone, or with its events.
                    run_id, events = (
                        json.loads(notification.payload)
                        if notification.payload.startswith("[")
                        else (notification.payload, [])
                    )
                    self._on_news(run_id, [RunEvent(run_id, *fields) for fields in events])
                await connection.execute(text("SELECT 1"))
        finally:
            self.is_connected = False
            await connection.invalidate()
            await connection.close()
