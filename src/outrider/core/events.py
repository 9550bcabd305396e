"""What happened: one append-only record a tool call, written by `Toolbox.call` and by nobody else."""

import json
import logging
import time
from collections import deque
from dataclasses import dataclass, fields, replace
from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.db import Database, storable
from outrider.core.errors import OutriderError
from outrider.core.tool import Tool
from outrider.core.underway import Underway

log = logging.getLogger(__name__)
ARGUMENT_LIMIT = 2_000  # characters of the arguments' JSON that a record keeps
MESSAGE_LIMIT = 1_000
WAITING_LIMIT = 10_000  # records that wait for a database which does not take them; then the oldest go
PRIVATE = "[not kept]"
PAUSE = 0.2  # seconds in which records gather before they are written together
# Made once: the functions of `json` make one for every call that wants anything special.
WRITER = json.JSONEncoder(ensure_ascii=False, default=str)
READER = json.JSONDecoder(parse_constant=str)  # NaN and Infinity, which JSON does not know, become words


@dataclass(frozen=True)
class Event:
    """One tool call.

    `outcome` is `ok`, `error` (the result itself says it failed), `asks`, `cancelled`, `bug` or an
    error's code; `seconds` is wall time; `size` counts the characters that the model got to read. `credential` and
    `address` are known where callers must show who they are: what they showed, and from where. `provider` is who
    answered, where a tool asks one of several.
    """

    id: str
    at: float
    session: str
    assistant: str | None
    thread: str | None
    identity: str | None
    toolset: str
    tool: str
    arguments: dict[str, Any]
    outcome: str
    message: str
    seconds: float
    size: int
    workspace: str | None = None
    credential: str | None = None
    address: str | None = None
    provider: str | None = None

    @classmethod
    def of(
        cls,
        tool: Tool,
        call: Call,
        arguments: dict[str, Any],
        outcome: str,
        message: str,
        *,
        key: str,
        seconds: float,
        size: int,
    ) -> "Event":
        """The record of a call that has just ended."""
        return cls(
            id=key,
            at=time.time(),
            session=storable(call.session, 200),
            assistant=_optional(call.assistant),
            thread=_optional(call.thread),
            identity=_optional(call.identity),
            toolset=tool.toolset,
            tool=tool.name,
            arguments=_cut({name: PRIVATE if name in tool.private else arguments[name] for name in arguments}),
            outcome=storable(outcome, 64),
            message=storable(message, MESSAGE_LIMIT),
            seconds=seconds,
            size=size,
            workspace=_optional(call.workspace),
            credential=_optional(call.grant.credential if call.grant else None),
            address=_optional(call.grant.address if call.grant else None),
        )

    def answered_by(self, provider: object) -> "Event":
        """The same record, with who answered; `None` and empty names leave it as it is."""
        return replace(self, provider=storable(str(provider), 100)) if provider else self


class Events:
    """Takes records at once and writes them to the database a moment later, many together.

    A database that cannot be written (full disk, read-only home) never makes a tool fail: the
    records wait in memory and the log says so once.

    Attributes:
        underway: The calls that have not ended yet.
    """

    def __init__(self, database: Database) -> None:
        self.underway = Underway()
        self._database = database
        self._waiting: deque[Event] = deque(maxlen=WAITING_LIMIT)
        self._arrived = anyio.Event()
        self._writing = anyio.Lock()
        self._warned = False

    def record(self, event: Event) -> None:
        """Takes a record without waiting for the database."""
        self._waiting.append(event)
        self._arrived.set()

    async def write_forever(self) -> None:
        """Writes what arrives until cancelled; run it as a task beside the tools."""
        while True:
            await self._arrived.wait()
            await anyio.sleep(PAUSE)
            self._arrived = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Writes everything that waits."""
        async with self._writing:
            batch = list(self._waiting)
            if not batch:
                return
            try:
                await self._insert(batch)
            except OutriderError as error:
                self._complain(error)
                return
            self._warned = False
            written = {event.id for event in batch}
            self._waiting = deque((each for each in self._waiting if each.id not in written), maxlen=WAITING_LIMIT)

    async def recent(self, limit: int = 50, *, session: str | None = None) -> list[Event]:
        """The newest records first, at most `limit`, of one session or of all."""
        from sqlalchemy import select

        from outrider.core.tables import events

        await self.flush()
        query = select(*(events.c[each.name] for each in fields(Event))).order_by(events.c.at.desc()).limit(limit)
        if session is not None:
            query = query.where(events.c.session == storable(session, 200))
        async with self._database.read() as connection:
            rows = await connection.execute(query)
            return [Event(*row) for row in rows]

    async def sweep(self, keep_seconds: float, audited_seconds: float = 0.0) -> int:
        """Removes records older than that, those of callers who showed who they are after `audited_seconds` at the
        earliest; returns how many. Raises Unavailable.
        """
        from sqlalchemy import delete

        from outrider.core.tables import events

        async with self._database.write() as connection:
            now = time.time()
            audited = events.c.credential.is_(None) | (events.c.at < now - audited_seconds)
            gone = await connection.execute(delete(events).where(events.c.at < now - keep_seconds, audited))
            return gone.rowcount

    async def _insert(self, batch: list[Event]) -> None:
        from outrider.core.tables import events

        async with self._database.write() as connection:
            # A flush that was cancelled while it committed leaves its records waiting: they come twice.
            insert = self._database.insert(events).on_conflict_do_nothing(index_elements=["id"])
            await connection.execute(insert, [dict(vars(event)) for event in batch])

    def _complain(self, error: OutriderError) -> None:
        if not self._warned:
            log.warning("call records wait in memory: %s", error)
        self._warned = True


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text, 200)


def _cut(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments if they are short, else the beginning of their JSON; never what a database would not take."""
    try:
        text = WRITER.encode(arguments)
    except (TypeError, ValueError, RecursionError):  # no JSON: a Python caller's own objects
        return {"cut": f"{len(arguments)} arguments that are no JSON"}
    text = storable(text).replace("\\u0000", "\\ufffd")
    return READER.decode(text) if len(text) <= ARGUMENT_LIMIT else {"cut": text[:ARGUMENT_LIMIT]}
