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

RowValues = dict[str, Any]  # by column; where JSON may stand and nothing does, the column is left out
RowKey = tuple[Any, ...]
ABSENT_PREFIX = "absent "


def get_row_key(table: "Table", row: Mapping[str, Any]) -> RowKey:
    """The values of the row's primary key."""
    return tuple(row[column.name] for column in table.primary_key)


def clean_row(table: "Table", row: Mapping[str, Any]) -> RowValues:
    """The row without what Postgres refuses: NUL characters and lone surrogates, NaN in JSON.

    Raises:
        Unavailable: A text is longer than its column, which SQLite does not mind.
    """
    clean = {name: _clean_value(value) for name, value in row.items()}
    for column in table.columns:
        value, limit = clean.get(column.name), getattr(column.type, "length", None)
        if isinstance(value, str) and limit and len(value) > limit:
            raise Unavailable(
                f"{table.name}.{column.name} of {get_row_key(table, row)} has {len(value)} characters, {limit} at most fit",
                code="database",
                hint="shorten it in the source",
            )
    return clean


def hash_row(row: Mapping[str, Any]) -> int:
    """A number of 128 bits that two rows share only if they say the same."""
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), default=_encode_value)
    return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=16).digest())


async def iter_batches(
    database: "Database", table: "Table", size: int, after: RowKey | None
) -> AsyncGenerator[list[RowValues]]:
    """The table's rows in the order of its primary key, some at a time, from behind the key `after`."""
    while True:
        last = after

        def read_batch(connection: "Connection", last: RowKey | None = last) -> list[RowValues]:
            return _read_batch(connection, table, size, last)

        rows = await database.run_transaction(read_batch, write=False)
        if not rows:
            return
        after = get_row_key(table, rows[-1])
        yield rows


async def read_rows_by_key(database: "Database", table: "Table", keys: Sequence[RowKey]) -> dict[RowKey, RowValues]:
    """Those of the rows that are there, by key."""
    columns = list(table.primary_key)
    query = _build_select(table).where(
        tuple_(*columns).in_(keys) if len(columns) > 1 else columns[0].in_([k[0] for k in keys])
    )

    def select_rows(connection: "Connection") -> list[RowValues]:
        return [_to_row_values(row) for row in connection.execute(query).mappings()]

    return {get_row_key(table, row): row for row in await database.run_transaction(select_rows, write=False)}


def _read_batch(connection: "Connection", table: "Table", size: int, after: RowKey | None) -> list[RowValues]:
    columns = list(table.primary_key)
    query = _build_select(table).order_by(*columns).limit(size)
    if after is not None:
        query = query.where(tuple_(*columns) > tuple_(*after) if len(columns) > 1 else columns[0] > after[0])
    return [_to_row_values(row) for row in connection.execute(query).mappings()]


def _build_select(table: "Table") -> Any:
    """All columns; of those that may hold JSON or nothing also whether it is nothing, which reads like JSON's null."""
    json = [column for column in table.columns if column.nullable and isinstance(column.type, JSON)]
    return select(table, *(column.is_(None).label(f"{ABSENT_PREFIX}{column.name}") for column in json))


def _to_row_values(found: Mapping[Any, Any]) -> RowValues:
    absent = {
        name.removeprefix(ABSENT_PREFIX) for name, value in found.items() if name.startswith(ABSENT_PREFIX) and value
    }
    return {name: value for name, value in found.items() if name not in absent and not name.startswith(ABSENT_PREFIX)}


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if _odd(value) else value
    if isinstance(value, dict):
        return {_clean_value(name): _clean_value(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean_value(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _odd(text: str) -> bool:
    return (
        "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else "\0" in text
    )


def _encode_value(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | memoryview) else str(value)
