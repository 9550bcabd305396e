"""Read rows in a form that every database accepts and that can be compared."""

import hashlib
import json
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Connection, Table, select, tuple_

from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

RowValues = dict[str, Any]  # by column; a nullable JSON column that is NULL is left out
RowKey = tuple[Any, ...]
ABSENT_PREFIX = "absent "  # of the extra columns that tell SQL's NULL from JSON's null


def get_row_key(table: Table, row: Mapping[str, Any]) -> RowKey:
    """Return the values of the row's primary key."""
    return tuple(row[column.name] for column in table.primary_key)


def clean_row(table: Table, row: Mapping[str, Any]) -> RowValues:
    """Return the row without what Postgres refuses: NUL characters, lone surrogates, NaN in JSON.

    Raises:
        Unavailable: A text is longer than its column, which SQLite allows.
    """
    clean = {name: _clean_value(value) for name, value in row.items()}
    for column in table.columns:
        value, limit = clean.get(column.name), getattr(column.type, "length", None)
        if isinstance(value, str) and limit and len(value) > limit:
            raise Unavailable(
                f"{table.name}.{column.name} of {get_row_key(table, row)} has {len(value)} characters "
                f"(maximum {limit})",
                code="database",
                hint="shorten it in the source",
            )
    return clean


def hash_row(row: Mapping[str, Any]) -> int:
    """Return a 128-bit hash of the row's values."""

    def encode_value(value: Any) -> str:
        return value.hex() if isinstance(value, bytes | memoryview) else str(value)

    text = json.dumps(row, sort_keys=True, separators=(",", ":"), default=encode_value)
    return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=16).digest())


async def iter_batches(
    database: Database, table: Table, size: int, after: RowKey | None
) -> AsyncGenerator[list[RowValues]]:
    """Yield the table's rows after the key `after` in batches, in the order of the primary key."""
    columns = list(table.primary_key)
    while True:
        query = _build_select(table).order_by(*columns).limit(size)
        if after is not None:
            query = query.where(tuple_(*columns) > tuple_(*after) if len(columns) > 1 else columns[0] > after[0])
        rows = await _select_rows(database, query)
        if not rows:
            return
        after = get_row_key(table, rows[-1])
        yield rows


async def read_rows_by_key(database: Database, table: Table, keys: Sequence[RowKey]) -> dict[RowKey, RowValues]:
    """Return those of the rows that exist, by key."""
    columns = list(table.primary_key)
    query = _build_select(table).where(
        tuple_(*columns).in_(keys) if len(columns) > 1 else columns[0].in_([key[0] for key in keys])
    )
    return {get_row_key(table, row): row for row in await _select_rows(database, query)}


async def _select_rows(database: Database, query: Any) -> list[RowValues]:
    def execute_query(connection: Connection) -> list[RowValues]:
        rows = []
        for row in connection.execute(query).mappings():
            marks = {name for name in row if name.startswith(ABSENT_PREFIX)}
            absent = {name.removeprefix(ABSENT_PREFIX) for name in marks if row[name]}
            rows.append({name: value for name, value in row.items() if name not in absent and name not in marks})
        return rows

    return await database.run_transaction(execute_query, write=False)


def _build_select(table: Table) -> Any:
    """Select all columns, and for nullable JSON also whether it is NULL, which otherwise reads like JSON's null."""
    json_columns = [column for column in table.columns if column.nullable and isinstance(column.type, JSON)]
    return select(table, *(column.is_(None).label(f"{ABSENT_PREFIX}{column.name}") for column in json_columns))


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean_value(name): _clean_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
