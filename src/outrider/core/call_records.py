"""Record each tool call in an append-only table.

Only `Toolbox.call` writes records.
"""

import json
import logging
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import AnswerNeeded, OutriderError
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.tracing import current_call, start_span

log = logging.getLogger(__name__)
MAX_WAITING_RECORDS = 10_000  # when the database is unavailable for long, the oldest records are dropped
# Made once, because `json.dumps` with options makes an encoder for each call.
JSON_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
JSON_DECODER = json.JSONDecoder(parse_constant=str)  # NaN and Infinity, which are not JSON, become text


@dataclass(frozen=True)
class CallRecord:
    """A finished tool call.

    Attributes:
        outcome: `ok`, `error` (the result reports a failure), `asks`, `cancelled`, `bug` or an error's code.
        seconds: Wall time.
        size: Characters that the model got to read.
        credential: What an authenticated caller signed in with (never the secret itself).
        address: Network address of an authenticated caller.
        provider: The provider that answered, for tools that choose one of several.
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
    def from_call(  # noqa: PLR0913 - one row of a table
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
        provider: object = None,
    ) -> "CallRecord":
        """Return the record of a call that has just ended."""
        if tool.private:
            arguments = {name: "[private]" if tool.is_private(name) else value for name, value in arguments.items()}
        caller = {name: getattr(call, name) for name in ("assistant", "thread", "identity", "workspace")}
        if call.grant is not None:
            caller |= {"credential": call.grant.credential, "address": call.grant.address}
        caller["provider"] = str(provider)[:100] if provider else None
        return cls(
            id=key,
            at=time.time(),
            session=to_storable_text(call.session, 200),
            toolset=tool.toolset,
            tool=tool.name,
            arguments=_shorten_arguments(arguments),
            outcome=to_storable_text(outcome, 64),
            message=to_storable_text(message, 1_000),
            seconds=seconds,
            size=size,
            **{name: text and to_storable_text(text, 200) for name, text in caller.items()},
        )


@dataclass
class RecordedCall:
    """A call in progress: its arguments once they are read, and its result at the end."""

    arguments: dict[str, Any] = field(default_factory=dict)
    result: Result | None = None


class CallRecorder:
    """Collects records in memory and writes them to the database in batches.

    A database that cannot be written (full disk, read-only home) never makes a tool fail: the
    records wait in memory and the log reports it once.

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

    @contextmanager
    def record_call(self, tool: Tool, call: Call) -> Generator[RecordedCall]:
        """Record the body as a call: its span, its log lines, its metrics, and a record with its outcome."""
        from outrider.core.metrics import TOOL_RESULT_CHARS, TOOL_SECONDS  # loads OpenTelemetry's metrics

        recorded, outcome, message = RecordedCall(), "cancelled", ""
        key, started = str(uuid.uuid4()), time.monotonic()
        token = current_call.set((key, call.session))
        try:
            with start_span(f"tool {tool.name}", {"gen_ai.tool.name": tool.name, "outrider.toolset": tool.toolset}):
                yield recorded
            outcome = "error" if recorded.result is not None and recorded.result.is_error else "ok"
        except BaseException as error:
            message = str(error)
            if isinstance(error, OutriderError):
                outcome = error.code
            elif isinstance(error, Exception):
                outcome = "asks" if isinstance(error, AnswerNeeded) else "bug"
            raise
        finally:
            current_call.reset(token)
            seconds, result = time.monotonic() - started, recorded.result
            size, provider = (len(result.text), result.data.get("provider")) if result else (0, None)
            attributes = {"toolset": tool.toolset, "tool": tool.name, "outcome": outcome}
            TOOL_SECONDS.record(seconds, attributes)
            TOOL_RESULT_CHARS.record(size, attributes)
            call_facts: dict[str, Any] = {"key": key, "seconds": seconds, "size": size, "provider": provider}
            self.record(CallRecord.from_call(tool, call, recorded.arguments, outcome, message, **call_facts))

    def record(self, event: CallRecord) -> None:
        """Queue a record without waiting for the database."""
        self._waiting.append(event)
        self._record_arrived.set()

    async def write_forever(self) -> None:
        """Write queued records until cancelled; run it as a background task."""
        batch_delay_s = 0.2
        while True:
            await self._record_arrived.wait()
            await anyio.sleep(batch_delay_s)
            self._record_arrived = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Write all queued records now."""
        async with self._flush_lock:
            batch = list(self._waiting)
            if not batch:
                return
            from outrider.core.tables import events

            try:
                async with self._database.write() as connection:
                    # A flush cancelled during its commit leaves its records queued: they are then written twice.
                    insert = self._database.build_insert(events).on_conflict_do_nothing(index_elements=["id"])
                    await connection.execute(insert, [dict(vars(record)) for record in batch])
            except OutriderError as error:
                if not self._warned:
                    log.warning("call records wait in memory: %s", error)
                self._warned = True
                return
            self._warned = False
            written = {record.id for record in batch}
            self._waiting = deque(
                (record for record in self._waiting if record.id not in written), maxlen=MAX_WAITING_RECORDS
            )

    async def list_recent(self, limit: int = 50, *, session: str | None = None) -> list[CallRecord]:
        """Return the newest records first, at most `limit`, of one session or of all."""
        from sqlalchemy import select

        from outrider.core.tables import events

        await self.flush()
        columns = [events.c[field.name] for field in fields(CallRecord)]
        query = select(*columns).order_by(events.c.at.desc()).limit(limit)
        if session is not None:
            query = query.where(events.c.session == to_storable_text(session, 200))
        async with self._database.read() as connection:
            rows = await connection.execute(query)
            return [CallRecord(*row) for row in rows]

    async def delete_expired(self, keep_seconds: float, audited_seconds: float = 0.0) -> int:
        """Delete records older than `keep_seconds`, and return their number. Raises Unavailable.

        Records of authenticated callers stay for `audited_seconds` at least.
        """
        from sqlalchemy import delete

        from outrider.core.tables import events

        async with self._database.write() as connection:
            now = time.time()
            audit_ended = events.c.credential.is_(None) | (events.c.at < now - audited_seconds)
            expired = delete(events).where(events.c.at < now - keep_seconds, audit_ended)
            return (await connection.execute(expired)).rowcount


def _shorten_arguments(arguments: dict[str, Any], max_chars: int = 2_000) -> dict[str, Any]:
    """Return storable arguments, or the beginning of their JSON if they are long."""
    try:
        text = JSON_ENCODER.encode(arguments)
    except (TypeError, ValueError, RecursionError):  # a Python caller's own objects
        return {"cut": f"{len(arguments)} arguments that are not JSON"}
    text = to_storable_text(text).replace("\\u0000", "\\ufffd")
    return JSON_DECODER.decode(text) if len(text) <= max_chars else {"cut": text[:max_chars]}


@dataclass(frozen=True)
class InflightCall:
    """A call in progress, or one that has just ended.

    Attributes:
        arguments: For display: shortened, without private ones.
        run_id: The agent's run that makes it; empty for calls of hosts and people.
        ended_at: Seconds since the epoch; None while it is in progress.
    """

    id: str
    tool: str
    title: str
    toolset: str
    session: str
    run_id: str
    began_at: float
    arguments: dict[str, str] = field(default_factory=dict)
    ended_at: float | None = None

    @property
    def browser_session(self) -> str:
        """The browser session in the arguments, or an empty string."""
        return self.arguments.get("sessionId", "")


class InflightCalls:
    """The calls in progress, oldest first, and the last ended call of each browser session."""

    def __init__(self) -> None:
        self._running: dict[str, InflightCall] = {}
        self._ended: OrderedDict[str, InflightCall] = OrderedDict()

    @property
    def calls(self) -> list[InflightCall]:
        """The calls in progress."""
        return list(self._running.values())

    def find_last_ended(self, session: str) -> InflightCall | None:
        """Return the call on a browser session that ended last, if any."""
        return self._ended.get(session)

    @contextmanager
    def track_call(self, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Generator[None]:
        """List the call as in progress during the body."""
        max_remembered, max_chars = 500, 200
        public_arguments: dict[str, str] = {}
        for name, value in arguments.items():
            text = "[private]" if tool.private and tool.is_private(name) else str(value)[: max_chars + 1]
            public_arguments[name] = text if len(text) <= max_chars else f"{text[:max_chars]}…"
        inflight = InflightCall(
            uuid.uuid4().hex,
            tool.name,
            tool.title or tool.name,
            tool.toolset,
            call.session,
            call.run.id if call.run else "",
            time.time(),
            public_arguments,
        )
        self._running[inflight.id] = inflight
        try:
            yield
        finally:
            del self._running[inflight.id]
            if session := public_arguments.get("sessionId"):
                self._ended[session] = replace(inflight, ended_at=time.time())
                self._ended.move_to_end(session)
                while len(self._ended) > max_remembered:
                    self._ended.popitem(last=False)
