"""Query recorded calls: lists, samples for statistics, and newly written records."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import ColumnElement, Integer, String, and_, cast, func, literal_column, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.call_records import CallRecord
from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
from outrider.core.tables import events

MAX_SAMPLE_CALLS = 10_000
MAX_NEW_CALLS = 200
FAILED_OUTCOME = "failed"  # of CallFilter.outcome: everything but SUCCESS_OUTCOMES
SUCCESS_OUTCOMES = ("ok", "asks", "cancelled")


@dataclass(frozen=True)
class CallFilter:
    """Conditions that calls must meet; empty fields match all.

    Attributes:
        outcome: One outcome, or `failed` for all failures.
        text: Words in tool, message or arguments, in any case.
        since: Seconds since the epoch.
        workspace: One workspace, or an empty string for calls that name none; None for all.
    """

    tool: str = ""
    toolset: str = ""
    provider: str = ""
    outcome: str = ""
    session: str = ""
    text: str = ""
    since: float = 0.0
    workspace: str | None = None


@dataclass(frozen=True)
class FailedCall:
    """The fields of a failed call by which errors are grouped."""

    at: float
    tool: str
    outcome: str
    message: str


@dataclass(frozen=True)
class CallSample:
    """The fields of a call for statistics; `size` is in characters."""

    at: float
    toolset: str
    tool: str
    provider: str | None
    outcome: str
    seconds: float
    size: int

    @property
    def failed(self) -> bool:
        return self.outcome not in SUCCESS_OUTCOMES


class CallHistory:
    """The calls of all processes that share the database.

    All methods raise Unavailable when the database cannot be read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_batch(self, filters: CallFilter, *, after: str = "", limit: int = 100) -> Batch[CallRecord]:
        """Return one batch, newest first. Raises InvalidInput if `after` is not a cursor."""
        matching = events.select().where(*_build_conditions(filters))
        query = order_newest_first(matching, events.c.at, events.c.id, after).limit(limit + 1)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return build_batch(rows, limit, _to_record, lambda row: format_cursor(row["at"], row["id"]))

    async def get_call(self, key: str) -> CallRecord:
        """Return the call with that id. Raises NotFound."""
        async with self._database.read() as connection:
            query = events.select().where(events.c.id == to_storable_text(key, 36))
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound(f"no call {key[:40]!r}", hint="records are kept for `keep_days`")
        return _to_record(row)

    async def sample_calls(self, filters: CallFilter) -> list[CallSample]:
        """Return the newest matching calls, newest first, at most 10,000."""
        return [CallSample(*row) for row in await self._select_newest(CallSample, filters)]

    async def list_failures(self, filters: CallFilter) -> list[FailedCall]:
        """Return the newest matching calls that failed, newest first, at most 10,000."""
        failures = replace(filters, outcome=filters.outcome or FAILED_OUTCOME)
        return [FailedCall(*row) for row in await self._select_newest(FailedCall, failures)]

    async def _select_newest(self, kind: type[CallSample] | type[FailedCall], filters: CallFilter) -> Sequence[Any]:
        columns = [events.c[field.name] for field in fields(kind)]
        query = select(*columns).where(*_build_conditions(filters)).order_by(events.c.at.desc()).limit(MAX_SAMPLE_CALLS)
        async with self._database.read() as connection:
            return (await connection.execute(query)).all()

    async def list_new_calls(self, cursor: str) -> tuple[list[CallRecord], str]:
        """Return up to 200 records after the cursor, and the next cursor.

        They are in the order in which they were written.

        An empty cursor returns no records and the current end of the record. The order is not that of the calls'
        times, because another process may write its records later. Raises InvalidInput if it is not a cursor.
        """
        read_new = _read_new_sqlite if self._database.dialect == "sqlite" else _read_new_postgres
        async with self._database.read() as connection:
            return await read_new(connection, cursor)


def _to_record(row: Mapping[str, Any]) -> CallRecord:
    return CallRecord(**{field.name: row[field.name] for field in fields(CallRecord)})


def _build_conditions(filters: CallFilter) -> list[ColumnElement[bool]]:
    names = ("tool", "toolset", "provider", "session")
    conditions = [events.c[name] == to_storable_text(value) for name in names if (value := getattr(filters, name))]
    if filters.outcome == FAILED_OUTCOME:
        conditions.append(events.c.outcome.not_in(SUCCESS_OUTCOMES))
    elif filters.outcome:
        conditions.append(events.c.outcome == filters.outcome)
    if filters.since:
        conditions.append(events.c.at >= filters.since)
    if filters.text:
        words = to_storable_text(filters.text, 200)
        arguments = cast(events.c.arguments, String)
        # Arguments are searched as JSON, in which one database escapes non-ASCII characters and the other does not.
        matches = [column.icontains(words, autoescape=True) for column in (events.c.tool, events.c.message, arguments)]
        conditions.append(or_(*matches, arguments.icontains(json.dumps(words)[1:-1], autoescape=True)))
    if filters.workspace is not None:
        conditions.append(func.coalesce(events.c.workspace, "") == to_storable_text(filters.workspace))
    return conditions


def _parse_number(digits: str) -> int:
    """Return the number. Raises InvalidInput."""
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise InvalidInput("after: is not a cursor into the call records", hint="start without a cursor")
    return int(digits)


async def _read_new_sqlite(connection: AsyncConnection, cursor: str) -> tuple[list[CallRecord], str]:
    """Read by row number, which rises because there is one writer at a time."""
    number = literal_column("events.rowid", Integer)
    highest: Any = select(func.max(number)).select_from(events)
    last = int((await connection.execute(highest)).scalar() or 0)
    last_seen = _parse_number(cursor) if cursor else last
    if last_seen > last:  # all rows have expired, and numbers start again
        last_seen = 0
    query = select(events, number.label("number")).where(number > last_seen).order_by(number).limit(MAX_NEW_CALLS)
    rows = (await connection.execute(query)).mappings().all()
    return [_to_record(row) for row in rows], str(rows[-1]["number"] if rows else last_seen)


async def _read_new_postgres(connection: AsyncConnection, cursor: str) -> tuple[list[CallRecord], str]:
    """Read only transactions that are older than all running ones.

    Those can no longer add rows.
    """
    horizon = (await connection.execute(text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"))).scalar()
    if not cursor:
        return [], f"{(horizon or 1) - 1}~z"  # `z` sorts after every id of that transaction
    transaction, _, key = cursor.partition("~")
    last_seen = _parse_number(transaction)
    later = or_(events.c.written > last_seen, and_(events.c.written == last_seen, events.c.id > key))
    query = (
        select(events)
        .where(later, events.c.written < horizon)
        .order_by(events.c.written, events.c.id)
        .limit(MAX_NEW_CALLS)
    )
    rows = (await connection.execute(query)).mappings().all()
    return [_to_record(row) for row in rows], f"{rows[-1]['written']}~{rows[-1]['id']}" if rows else cursor


@dataclass(frozen=True)
class KnownSession:
    """A session of a person in a workspace; None where the host named none."""

    session: str
    workspace: str | None = None
    identity: str | None = None

    @property
    def scope(self) -> str:
        """The scope of its state (`Call.scope`)."""
        return Call(session=self.session, workspace=self.workspace, identity=self.identity).scope


async def list_known_sessions(database: Database) -> list[KnownSession]:
    """Return the sessions of the newest 20,000 calls, the last used first. Raises Unavailable."""
    columns = (events.c.session, events.c.workspace, events.c.identity)
    newest = select(*columns, events.c.at).order_by(events.c.at.desc()).limit(20_000).subquery()
    names: Any = [newest.c[name] for name in ("session", "workspace", "identity")]
    query = select(*names).group_by(*names).order_by(func.max(newest.c.at).desc())
    async with database.read() as connection:
        return [KnownSession(*row) for row in await connection.execute(query)]
