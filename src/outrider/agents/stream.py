"""What happens in a run, while it happens: written a few times a second, followed from any process."""

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from outrider.agents.run import RESTING, RunRows
from outrider.core.db import Database, storable
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
EventKind = Literal["thinking", "text", "tool_started", "tool_ended", "question", "status", "usage"]
DELTAS = frozenset({"thinking", "text"})
READ_AT_ONCE = 500
SOON = 0.02  # seconds until another process's events are looked for, while they come
LATER = 0.1  # the same after a pause
GLANCE = 1.0  # seconds without events after which the run itself is looked at


@dataclass(frozen=True)
class RunEvent:
    """One event.

    `data` by kind: thinking and text `{text, step}`; tool_started `{call_id, tool, title, arguments, step}`; tool_ended
    `{call_id, tool, outcome, seconds, text, sources}`; question `{id, call_id, tool, message}`; usage what was used;
    status `{status, attempt}`, at the end with `stop_reason`, and `{restarted: step}` where the text of a step is void
    because its request was made again.
    """

    run_id: str
    seq: int
    at: float
    kind: EventKind
    data: dict[str, Any]


class Streams:
    """The events of all runs in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = RunRows(database)
        self._arrivals: dict[str, anyio.Event] = {}

    async def append(self, run_id: str, events: list[tuple[EventKind, dict[str, Any]]]) -> None:
        """Writes events down, and wakes those in this process who follow the run."""
        from sqlalchemy import func, select

        from outrider.agents.tables import run_events as table

        now = time.time()
        last = select(func.coalesce(func.max(table.c.seq), 0)).where(table.c.run_id == run_id)
        async with self._database.write() as connection:
            start = (await connection.execute(last)).scalar_one()
            rows = [
                {"run_id": run_id, "seq": start + number, "at": now, "kind": kind, "data": data}
                for number, (kind, data) in enumerate(events, 1)
            ]
            await connection.execute(table.insert(), rows)
        self._arrivals.pop(run_id, anyio.Event()).set()

    async def read(self, run_id: str, after: int = 0, limit: int = READ_AT_ONCE) -> list[RunEvent]:
        """The events that came after, in order."""
        from sqlalchemy import select

        from outrider.agents.tables import run_events as table

        query = select(table).where(table.c.run_id == run_id, table.c.seq > after).order_by(table.c.seq).limit(limit)
        async with self._database.read() as connection:
            return [RunEvent(**row) for row in (await connection.execute(query)).mappings()]

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """The events after `after` as they come, until the run ends or waits for a person. Raises NotFound."""
        quiet, here = 0.0, False
        await self._rows.get(run_id)
        while True:
            arrival = self._arrivals.setdefault(run_id, anyio.Event())
            events = await self.read(run_id, after)
            for event in events:
                after = event.seq
                yield event
            if len(events) == READ_AT_ONCE:
                continue
            rests = bool(events) and events[-1].kind == "status" and events[-1].data.get("status") in RESTING
            if (rests or quiet >= GLANCE) and await self._is_over(run_id, after):
                return
            quiet = 0.0 if events or quiet >= GLANCE else quiet
            # Who writes here wakes us: no need to look for it, until they have been silent for a while.
            seconds = GLANCE if here else SOON if quiet < GLANCE / 4 else LATER
            with anyio.move_on_after(seconds):
                await arrival.wait()
            quiet, here = quiet + seconds, arrival.is_set()

    async def _is_over(self, run_id: str, after: int) -> bool:
        run = await self._rows.get(run_id)
        return run.resting and not await self.read(run_id, after, 1)


@dataclass
class Pen:
    """Writes one attempt's events; text is gathered for a moment first.

    Attributes:
        gather: Seconds that text is gathered; what comes after a pause is written at once.
    """

    streams: Streams
    run_id: str
    gather: float = 0.05
    _waiting: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    _arrived: anyio.Event = field(default_factory=anyio.Event)
    _writing: anyio.Lock = field(default_factory=anyio.Lock)

    def write(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Takes an event without waiting for the database."""
        last = self._waiting[-1] if self._waiting else None
        if kind in DELTAS and last and last[0] == kind and last[1]["step"] == data["step"]:
            self._waiting[-1] = (kind, data | {"text": last[1]["text"] + storable(data["text"])})
        else:
            self._waiting.append((kind, data | {"text": storable(data["text"])} if "text" in data else data))
        self._arrived.set()

    async def write_forever(self) -> None:
        """Writes what arrives until cancelled; run it as a task beside the attempt."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            try:
                await self.flush()
            except OutriderError as error:
                log.warning("events of run %s wait: %s", self.run_id, error)
            await anyio.sleep(self.gather)

    async def flush(self) -> None:
        """Writes everything that waits; what cannot be written goes on waiting. Raises Unavailable."""
        async with self._writing:
            batch, self._waiting = self._waiting, []
            try:
                if batch:
                    await self.streams.append(self.run_id, batch)
            except BaseException:
                self._waiting = batch + self._waiting
                raise
