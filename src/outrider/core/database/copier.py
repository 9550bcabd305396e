"""Copy one database into another, for instance a laptop's into Postgres.

Tables are copied one by one, in batches ordered by primary key. Each batch and its progress are stored in one
transaction, so an interrupted copy resumes where it stopped. At the end every row of the source is compared with the
target's.
"""

import hashlib
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import JSON, Column, Connection, Float, Integer, MetaData, String, Table, func, select, text, tuple_

from outrider.core.database import address
from outrider.core.database.database import Database
from outrider.core.database.schema import PROCESS_TABLES, list_tables
from outrider.core.errors import Refused, Unavailable
from outrider.core.tables import json_type

CREATE_PROGRESS_SQL = """
    CREATE TABLE IF NOT EXISTS copy_progress (
        source varchar(500) NOT NULL, name varchar(64) NOT NULL, last {json}, done integer NOT NULL,
        started_at double precision NOT NULL, PRIMARY KEY (source, name)
    )
"""
RowValues = dict[str, Any]  # by column; a nullable JSON column that is NULL is left out
FileCopier = Callable[[Sequence[RowValues]], Awaitable[list[RowValues]]]
RowKey = tuple[Any, ...]
ABSENT_PREFIX = "absent "  # of the extra columns that distinguish SQL's NULL from JSON's null


@dataclass
class TableCopy:
    """Row counts of one copied or compared table.

    Attributes:
        rows: Rows in the source.
        copied: Rows written in this run.
        left_out: Rows that could not be copied: artifacts whose file is gone.
        missing: Rows of the source that the target lacks, without `left_out`.
        different: Rows whose values differ in the target.
        checksum: Sum over the source's rows, independent of their order.
    """

    table: str
    rows: int = 0
    copied: int = 0
    left_out: int = 0
    missing: int = 0
    different: int = 0
    checksum: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the target holds the same rows."""
        return not (self.missing or self.different)


@dataclass
class DatabaseCopy:
    """A copy of a database.

    Attributes:
        source: Read only.
        target: Migrated and filled.
        copy_files: Copies the files of given rows of `artifacts`, and returns the rows whose files exist now.
        excluded_tables: Names of tables to leave out.
    """

    source: Database
    target: Database
    copy_files: FileCopier | None = None
    excluded_tables: frozenset[str] = PROCESS_TABLES

    @property
    def tables(self) -> list[Table]:
        """The tables to copy."""
        excluded = self.excluded_tables | ({"pages"} if self.target.dialect == "sqlite" else frozenset())
        return [table for table in list_tables() if table.name not in excluded]

    async def count_source_rows(self) -> dict[str, int]:
        """Return the number of rows in the source by table."""
        return await count_table_rows(self.source, self.tables)

    async def prepare_target(self, *, into_existing: bool) -> bool:
        """Return whether the copy resumes an earlier one from the same source.

        Raises:
            Refused: The target holds other data already.
        """
        progress = await self._load_progress()
        if progress or into_existing:
            return bool(progress)
        occupied = {name: rows for name, rows in (await count_table_rows(self.target, self.tables)).items() if rows}
        if occupied:
            raise Refused(
                f"the target is not empty: {', '.join(f'{name} has {rows} rows' for name, rows in occupied.items())}",
                hint="choose an empty database, or add to the existing rows with --into-existing",
                code="not_empty",
            )
        return False

    async def copy_tables(self) -> AsyncGenerator[TableCopy]:
        """Copy the tables, and yield each one's counts once it is done."""
        progress = await self._load_progress()
        for table in self.tables:
            after, done = progress.get(table.name, (None, False))
            counts = TableCopy(table.name)
            if not done:
                async for rows in iter_batches(self.source, table, _get_batch_size(table), after):
                    copyable = await self._copy_row_files(table, [clean_row(table, row) for row in rows])
                    counts.rows += len(rows)
                    counts.left_out += len(rows) - len(copyable)
                    last_key = list(get_row_key(table, rows[-1]))
                    counts.copied += await self.target.run_transaction(
                        self._build_writer(table, copyable, last_key, done=False), write=True
                    )
                await self.target.run_transaction(self._build_writer(table, [], None, done=True), write=True)
            yield counts

    async def verify_tables(self) -> AsyncGenerator[TableCopy]:
        """Compare every row of the source with the target's, and yield each table's counts."""
        for table in self.tables:
            counts = TableCopy(table.name)
            async for rows in iter_batches(self.source, table, _get_batch_size(table), None):
                target_rows = await read_rows_by_key(self.target, table, [get_row_key(table, row) for row in rows])
                missing = []
                for row in (clean_row(table, row) for row in rows):
                    row_hash, target_row = hash_row(row), target_rows.get(get_row_key(table, row))
                    counts.rows += 1
                    counts.checksum = (counts.checksum + row_hash) % (1 << 128)
                    if target_row is None:
                        missing.append(row)
                    else:
                        counts.different += hash_row(target_row) != row_hash
                copyable = await self._copy_row_files(table, missing)
                counts.missing += len(copyable)
                counts.left_out += len(missing) - len(copyable)
            yield counts

    async def clear_progress(self) -> None:
        """Forget the progress; the next copy starts from the beginning."""
        async with self.target.write() as connection:
            parameters = {"source": self._source_name}
            await connection.execute(text("DELETE FROM copy_progress WHERE source = :source"), parameters)

    def _build_writer(
        self, table: Table, rows: Sequence[RowValues], last_key: list[Any] | None, *, done: bool
    ) -> Callable[[Connection], int]:
        """Return work that inserts the rows and stores the progress, in the caller's one transaction."""
        insert_rows = self.target.build_insert(table).on_conflict_do_nothing()
        insert_progress = self.target.build_insert(_build_progress_table())
        changed = {"done": insert_progress.excluded.done, "last": insert_progress.excluded.last}
        upsert_progress = insert_progress.on_conflict_do_update(index_elements=["source", "name"], set_=changed)
        # One statement takes rows of one set of columns; rows leave out columns whose JSON is absent.
        rows_by_columns: dict[frozenset[str], list[RowValues]] = {}
        for row in rows:
            rows_by_columns.setdefault(frozenset(row), []).append(row)

        def write_rows(connection: Connection) -> int:
            for group in rows_by_columns.values():
                connection.execute(insert_rows, group)
            progress = {"source": self._source_name, "name": table.name, "last": last_key, "done": int(done)}
            connection.execute(upsert_progress, progress | {"started_at": time.time()})
            return len(rows)

        return write_rows

    async def _copy_row_files(self, table: Table, rows: Sequence[RowValues]) -> list[RowValues]:
        if table.name != "artifacts" or self.copy_files is None:
            return list(rows)
        return await self.copy_files(rows)

    async def _load_progress(self) -> dict[str, tuple[RowKey | None, bool]]:
        """Return by table the last key that an earlier copy wrote, and whether it finished the table."""
        progress = _build_progress_table()
        json = "jsonb" if self.target.is_shared else "json"
        async with self.target.write() as connection:
            await connection.execute(text(CREATE_PROGRESS_SQL.format(json=json)))
            rows = await connection.execute(select(progress).where(progress.c.source == self._source_name))
            return {row.name: (tuple(row.last) if row.last else None, bool(row.done)) for row in rows}

    @property
    def _source_name(self) -> str:
        return address.redact_url(self.source.url)[:500]


async def count_table_rows(database: Database, tables: Sequence[Table]) -> dict[str, int]:
    """Return the number of rows by table."""

    def run_queries(connection: Connection) -> dict[str, int]:
        queries: Mapping[str, Any] = {table.name: select(func.count()).select_from(table) for table in tables}
        return {name: connection.execute(query).scalar_one() for name, query in queries.items()}

    return await database.run_transaction(run_queries, write=False)


def _get_batch_size(table: Table) -> int:
    if table.name == "content_originals":  # whole files
        return 4
    tables_of_large_rows = {"pages", "content_chunks", "content_vectors", "contents", "runs"}  # many kilobytes each
    return 100 if table.name in tables_of_large_rows else 500


def _build_progress_table() -> Table:
    return Table(
        "copy_progress",
        MetaData(),
        Column("source", String(500), primary_key=True),
        Column("name", String(64), primary_key=True),
        Column("last", json_type),
        Column("done", Integer),
        Column("started_at", Float),
    )


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
    """Yield the table's rows after the key `after` in batches.

    They are in the order of the primary key.
    """
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
    """Select all columns, and whether nullable JSON is NULL.

    Otherwise NULL would read like JSON's null.
    """
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
