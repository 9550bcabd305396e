"""Looking back at calls: lists a part at a time, samples to count and measure, and what has just come in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, String, cast, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.call_records import CallRecord
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first

MAX_SAMPLE_CALLS = 10_000  # calls that are counted and measured at most: the newest
MAX_NEW_CALLS = 200  # calls that come in together at most
FAILED_OUTCOME = "failed"  # of Wanted.outcome: everything but `ok`, `asks` and `cancelled`
SUCCESS_OUTCOMES = ("ok", "asks", "cancelled")


@dataclass(frozen=True)
class CallFilter:
    """Which calls; empty fields want all.

    Attributes:
        outcome: One outcome, or `failed` for all that are failures.
        text: Words in tool, message or arguments, in any case.
        since: Seconds since the epoch.
        workspace: One workspace alone, of calls that name none if empty; None for all.
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
    """What errors are grouped by."""

    at: float
    tool: str
    outcome: str
    message: str


@dataclass(frozen=True)
class CallSample:
    """What a sample keeps of a call; sizes are in characters."""

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
    """The calls of all processes that share the database. Everything raises Unavailable when that cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_batch(self, wanted: CallFilter, *, after: str = "", limit: int = 100) -> Batch[CallRecord]:
        """The newest first. Raises InvalidInput for a place `after` that is none."""
        events = _get_events_table()
        query = order_newest_first(_matching(wanted), events.c.at, events.c.id, after).limit(limit + 1)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return build_batch(rows, limit, _to_record, lambda row: format_cursor(row["at"], row["id"]))

    async def get_call(self, key: str) -> CallRecord:
        """One call. Raises NotFound."""
        events = _get_events_table()
        async with self._database.read() as connection:
            query = events.select().where(events.c.id == to_storable_text(key, 36))
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound(f"no call {key[:40]!r}", hint="records are kept for `keep_days`")
        return _to_record(row)

    async def sample_calls(self, wanted: CallFilter) -> list[CallSample]:
        """The newest of them, at most 10,000, newest first."""
        return [CallSample(*row) for row in await self._select_newest(CallSample, wanted)]

    async def list_failures(self, wanted: CallFilter) -> list[FailedCall]:
        """The newest of them that failed, at most 10,000, newest first."""
        return [
            FailedCall(*row)
            for row in await self._select_newest(FailedCall, replace(wanted, outcome=wanted.outcome or FAILED_OUTCOME))
        ]

    async def _select_newest(self, kind: type[CallSample] | type[FailedCall], wanted: CallFilter) -> Sequence[Any]:
        events = _get_events_table()
        columns = [events.c[each.name] for each in fields(kind)]
        query = select(*columns).where(*_build_conditions(wanted)).order_by(events.c.at.desc()).limit(MAX_SAMPLE_CALLS)
        async with self._database.read() as connection:
            return (await connection.execute(query)).all()

    async def list_new_calls(self, cursor: str) -> tuple[list[CallRecord], str]:
        """What was written after the cursor, in that order, at most 200, and the cursor behind it.

        An empty cursor gives nothing, and where the record ends now. Times of calls would not do: another process
        writes its records a moment later, and they must not be missed. Raises InvalidInput for a cursor that is none.
        """
        arrivals = _read_new_sqlite if self._database.dialect == "sqlite" else _read_new_postgres
        async with self._database.read() as connection:
            return await arrivals(connection, cursor)


def _get_events_table() -> Any:
    from outrider.core.tables import events

    return events


def _to_record(row: Mapping[str, Any]) -> CallRecord:
    return CallRecord(**{each.name: row[each.name] for each in fields(CallRecord)})


def _matching(wanted: CallFilter) -> "Select[Any]":
    return _get_events_table().select().where(*_build_conditions(wanted))


def _build_conditions(wanted: CallFilter) -> "list[ColumnElement[bool]]":
    events = _get_events_table()
    names = ("tool", "toolset", "provider", "session")
    found = [events.c[name] == to_storable_text(value) for name in names if (value := getattr(wanted, name))]
    if wanted.outcome:
        found.append(
            events.c.outcome.not_in(SUCCESS_OUTCOMES)
            if wanted.outcome == FAILED_OUTCOME
            else events.c.outcome == wanted.outcome
        )
    if wanted.since:
        found.append(events.c.at >= wanted.since)
    if wanted.text:
        found.append(_build_text_condition(wanted.text))
    if wanted.workspace is not None:
        found.append(func.coalesce(events.c.workspace, "") == to_storable_text(wanted.workspace))
    return found


def _build_text_condition(text: str) -> "ColumnElement[bool]":
    """Arguments are searched as their JSON, which escapes what is not ASCII in one database and not in the other."""
    events, text = _get_events_table(), to_storable_text(text, 200)
    arguments = cast(events.c.arguments, String)
    plain = [each.icontains(text, autoescape=True) for each in (events.c.tool, events.c.message, arguments)]
    return or_(*plain, arguments.icontains(json.dumps(text)[1:-1], autoescape=True))


def _parse_number(text: str) -> int:
    """Raises InvalidInput."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InvalidInput("the place in the record cannot be read", hint="begin at its end")
    return int(text)


async def _read_new_sqlite(connection: "AsyncConnection", cursor: str) -> tuple[list[CallRecord], str]:
    """By row number: there is one writer at a time, and the next number is the highest."""
    events, number = _get_events_table(), literal_column("events.rowid", Integer)
    highest: Any = select(func.max(number)).select_from(events)
    last = int((await connection.execute(highest)).scalar() or 0)
    seen = _parse_number(cursor) if cursor else last
    if seen > last:  # all that was there has been swept away, and numbers begin anew
        seen = 0
    query = select(events, number.label("number")).where(number > seen).order_by(number).limit(MAX_NEW_CALLS)
    rows = (await connection.execute(query)).mappings().all()
    return [_to_record(row) for row in rows], str(rows[-1]["number"] if rows else seen)


async def _read_new_postgres(connection: "AsyncConnection", cursor: str) -> tuple[list[CallRecord], str]:
    """By transaction, of those that are older than all that still run: nothing can come of them any more."""
    from sqlalchemy import and_, or_, select, text

    events = _get_events_table()
    horizon = (await connection.execute(text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"))).scalar()
    if not cursor:
        return [], f"{(horizon or 1) - 1}~z"  # behind every id of that transaction
    transaction, _, key = cursor.partition("~")
    seen = _parse_number(transaction)
    later = or_(events.c.written > seen, and_(events.c.written == seen, events.c.id > key))
    query = (
        select(events)
        .where(later, events.c.written < horizon)
        .order_by(events.c.written, events.c.id)
        .limit(MAX_NEW_CALLS)
    )
    rows = (await connection.execute(query)).mappings().all()
    return [_to_record(row) for row in rows], f"{rows[-1]['written']}~{rows[-1]['id']}" if rows else cursor
