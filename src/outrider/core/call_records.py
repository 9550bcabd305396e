"""What happened: one append-only record a tool call, written by `Toolbox.call` and by nobody else."""

import json
import logging
import time
from collections import deque
from dataclasses import dataclass, fields, replace
from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError
from outrider.core.inflight import InflightCalls
from outrider.core.tool import Tool

log = logging.getLogger(__name__)
MAX_ARGUMENT_CHARS = 2_000  # characters of the arguments' JSON that a record keeps
MAX_MESSAGE_CHARS = 1_000
MAX_WAITING_RECORDS = 10_000  # records that wait for a database which does not take them; then the oldest go
# Made once: the functions of `json` make one for every call that wants anything special.
JSON_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
JSON_DECODER = json.JSONDecoder(parse_constant=str)  # NaN and Infinity, which JSON does not know, become words


@dataclass(frozen=True)
class CallRecord:
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
    def from_call(
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
    ) -> "CallRecord":
        """The record of a call that has just ended."""
        placeholder = "[not kept]"
        return cls(
            id=key,
            at=time.time(),
            session=to_storable_text(call.session, 200),
            assistant=_to_storable_or_none(call.assistant),
            thread=_to_storable_or_none(call.thread),
            identity=_to_storable_or_none(call.identity),
            toolset=tool.toolset,
            tool=tool.name,
            arguments=_shorten_arguments(
                {name: placeholder if name in tool.private else arguments[name] for name in arguments}
            ),
            outcome=to_storable_text(outcome, 64),
            message=to_storable_text(message, MAX_MESSAGE_CHARS),
            seconds=seconds,
            size=size,
            workspace=_to_storable_or_none(call.workspace),
            credential=_to_storable_or_none(call.grant.credential if call.grant else None),
            address=_to_storable_or_none(call.grant.address if call.grant else None),
        )

    def with_provider(self, provider: object) -> "CallRecord":
        """The same record, with who answered; `None` and empty names leave it as it is."""
        return replace(self, provider=to_storable_text(str(provider), 100)) if provider else self


class CallRecorder:
    """Takes records at once and writes them to the database a moment later, many together.

    A database that cannot be written (full disk, read-only home) never makes a tool fail: the
    records wait in memory and the log says so once.

    Attributes:
        inflight: The calls that have not ended yet.
    """

    def __init__(self, database: Database) -> None:
        self.inflight = InflightCalls()
        self._database = database
        self._waiting: deque[CallRecord] = deque(maxlen=MAX_WAITING_RECORDS)
        self._record_arrived = anyio.Event()
        self._flush_lock = anyio.Lock()
        self._warned = False

    def record(self, event: CallRecord) -> None:
        """Takes a record without waiting for the database."""
        self._waiting.append(event)
        self._record_arrived.set()

    async def write_forever(self) -> None:
        """Writes what arrives until cancelled; run it as a task beside the tools."""
        batch_delay_s = 0.2  # seconds in which records gather before they are written together
        while True:
            await self._record_arrived.wait()
            await anyio.sleep(batch_delay_s)
            self._record_arrived = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Writes everything that waits."""
        async with self._flush_lock:
            batch = list(self._waiting)
            if not batch:
                return
            try:
                await self._insert_records(batch)
            except OutriderError as error:
                self._complain(error)
                return
            self._warned = False
            written = {event.id for event in batch}
            self._waiting = deque(
                (each for each in self._waiting if each.id not in written), maxlen=MAX_WAITING_RECORDS
            )

    async def list_recent(self, limit: int = 50, *, session: str | None = None) -> list[CallRecord]:
        """The newest records first, at most `limit`, of one session or of all."""
        from sqlalchemy import select

        from outrider.core.tables import events

        await self.flush()
        query = select(*(events.c[each.name] for each in fields(CallRecord))).order_by(events.c.at.desc()).limit(limit)
        if session is not None:
            query = query.where(events.c.session == to_storable_text(session, 200))
        async with self._database.read() as connection:
            rows = await connection.execute(query)
            return [CallRecord(*row) for row in rows]

    async def delete_expired(self, keep_seconds: float, audited_seconds: float = 0.0) -> int:
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

    async def _insert_records(self, batch: list[CallRecord]) -> None:
        from outrider.core.tables import events

        async with self._database.write() as connection:
            # A flush that was cancelled while it committed leaves its records waiting: they come twice.
            insert = self._database.build_insert(events).on_conflict_do_nothing(index_elements=["id"])
            await connection.execute(insert, [dict(vars(event)) for event in batch])

    def _complain(self, error: OutriderError) -> None:
        if not self._warned:
            log.warning("call records wait in memory: %s", error)
        self._warned = True


def _to_storable_or_none(text: str | None) -> str | None:
    return None if text is None else to_storable_text(text, 200)


def _shorten_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments if they are short, else the beginning of their JSON; never what a database would not take."""
    try:
        text = JSON_ENCODER.encode(arguments)
    except (TypeError, ValueError, RecursionError):  # no JSON: a Python caller's own objects
        return {"cut": f"{len(arguments)} arguments that are no JSON"}
    text = to_storable_text(text).replace("\\u0000", "\\ufffd")
    return JSON_DECODER.decode(text) if len(text) <= MAX_ARGUMENT_CHARS else {"cut": text[:MAX_ARGUMENT_CHARS]}
