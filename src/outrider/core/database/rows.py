"""Rows in the form that every database takes and two databases can be compared by."""

import hashlib
import json
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Connection, Table, select, tuple_

from outrider.core.errors import Unavailable

if TYPE_CHECKING:
    from outrider.core.db import Database

Row = dict[str, Any]  # by column; where JSON may stand and nothing does, the column is left out
Key = tuple[Any, ...]
ABSENT = "absent "


def key_of(table: "Table", row: Mapping[str, Any]) -> Key:
    """The values of the row's primary key."""
    return tuple(row[column.name] for column in table.primary_key)


def cleaned(table: "Table", row: Mapping[str, Any]) -> Row:
    """The row without what Postgres refuses: NUL characters and lone surrogates, NaN in JSON.

    Raises:
        Unavailable: A text is longer than its column, which SQLite does not mind.
    """
    clean = {name: _clean(value) for name, value in row.items()}
    for column in table.columns:
        value, limit = clean.get(column.name), getattr(column.type, "length", None)
        if isinstance(value, str) and limit and len(value) > limit:
            raise Unavailable(
                f"{table.name}.{column.name} of {key_of(table, row)} has {len(value)} characters, {limit} at most fit",
                code="database",
                hint="shorten it in the source",
            )
    return clean


def digest(row: Mapping[str, Any]) -> int:
    """A number of 128 bits that two rows share only if they say the same."""
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), default=_plain)
    return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=16).digest())


async def batches(database: "Database", table: "Table", size: int, after: Key | None) -> AsyncGenerator[list[Row]]:
    """The table's rows in the order of its primary key, some at a time, from behind the key `after`."""
    while True:
        last = after

        def read(connection: "Connection", last: Key | None = last) -> list[Row]:
            return _read(connection, table, size, last)

        rows = await database.short(read, write=False)
        if not rows:
            return
        after = key_of(table, rows[-1])
        yield rows


async def of_keys(database: "Database", table: "Table", keys: Sequence[Key]) -> dict[Key, Row]:
    """Those of the rows that are there, by key."""
    columns = list(table.primary_key)
    query = _select(table).where(
        tuple_(*columns).in_(keys) if len(columns) > 1 else columns[0].in_([k[0] for k in keys])
    )

    def read(connection: "Connection") -> list[Row]:
        return [_row(row) for row in connection.execute(query).mappings()]

    return {key_of(table, row): row for row in await database.short(read, write=False)}


def _read(connection: "Connection", table: "Table", size: int, after: Key | None) -> list[Row]:
    columns = list(table.primary_key)
    query = _select(table).order_by(*columns).limit(size)
    if after is not None:
        query = query.where(tuple_(*columns) > tuple_(*after) if len(columns) > 1 else columns[0] > after[0])
    return [_row(row) for row in connection.execute(query).mappings()]


def _select(table: "Table") -> Any:
    """All columns; of those that may hold JSON or nothing also whether it is nothing, which reads like JSON's null."""
    json = [column for column in table.columns if column.nullable and isinstance(column.type, JSON)]
    return select(table, *(column.is_(None).label(f"{ABSENT}{column.name}") for column in json))


def _row(found: Mapping[Any, Any]) -> Row:
    absent = {name.removeprefix(ABSENT) for name, value in found.items() if name.startswith(ABSENT) and value}
    return {name: value for name, value in found.items() if name not in absent and not name.startswith(ABSENT)}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if _odd(value) else value
    if isinstance(value, dict):
        return {_clean(name): _clean(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _odd(text: str) -> bool:
    return (
        "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else "\0" in text
    )


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | memoryview) else str(value)
