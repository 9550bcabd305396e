"""Copying one database into another: a laptop's into Postgres, or back.

Table by table and batch by batch in the order of primary keys. Each batch and the note of how far it went are one
transaction, so a copy that broke off goes on where it was. At the end every row of the source is looked up in the
target and compared.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Connection, Float, Integer, MetaData, String, Table, func, select, text

from outrider.core.database import address
from outrider.core.database.rows import (
    RowKey,
    RowValues,
    clean_row,
    get_row_key,
    hash_row,
    iter_batches,
    read_rows_by_key,
)
from outrider.core.database.schema import PROCESS_TABLES, list_tables
from outrider.core.errors import Refused
from outrider.core.tables import json_type

if TYPE_CHECKING:
    from outrider.core.db import Database

CREATE_PROGRESS_SQL = """
    CREATE TABLE IF NOT EXISTS copy_progress (
        source varchar(500) NOT NULL, name varchar(64) NOT NULL, last {json}, done integer NOT NULL,
        started_at double precision NOT NULL, PRIMARY KEY (source, name)
    )
"""
FileCopier = Callable[[Sequence[RowValues]], Awaitable[list[RowValues]]]


@dataclass
class TableCopy:
    """What became of one table.

    Attributes:
        rows: In the source.
        copied: Written in this run.
        left_out: That could not be copied: an artifact's row whose file is gone.
        missing: Of the source that are not in the target afterwards, `left_out` not counted.
        different: That the target holds otherwise than the source.
        checksum: Of the source's rows, whatever their order; the target's is the same where nothing is amiss.
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
        """Whether the target says the same."""
        return not (self.missing or self.different)


@dataclass
class DatabaseCopy:
    """One copy.

    Attributes:
        source: Is only read.
        target: Is migrated and filled.
        copy_files: Copies the files of these rows of `artifacts`, and returns the rows whose files are there now.
        excluded_tables: Names of tables to leave out.
    """

    source: "Database"
    target: "Database"
    copy_files: FileCopier | None = None
    excluded_tables: frozenset[str] = PROCESS_TABLES

    @property
    def tables(self) -> "list[Table]":
        """What is copied."""
        without = self.excluded_tables | ({"pages"} if self.target.dialect == "sqlite" else frozenset())
        return [table for table in list_tables() if table.name not in without]

    async def count_source_rows(self) -> dict[str, int]:
        """By table how many rows the source has."""
        return await count_table_rows(self.source, self.tables)

    async def prepare_target(self, *, into_existing: bool) -> bool:
        """Whether an earlier copy from the same source is gone on with.

        Raises:
            Refused: The target holds something else already.
        """
        begun = await self._load_progress()
        if begun or into_existing:
            return bool(begun)
        held = {name: rows for name, rows in (await count_table_rows(self.target, self.tables)).items() if rows}
        if held:
            raise Refused(
                f"the target is not empty: {', '.join(f'{name} has {rows} rows' for name, rows in held.items())}",
                hint="choose an empty database, or add to what is there with --into-existing",
                code="not_empty",
            )
        return False

    async def copy_tables(self) -> AsyncGenerator[TableCopy]:
        """Copies; yields each table once it is done."""
        noted = await self._load_progress()
        for table in self.tables:
            after, done = noted.get(table.name, (None, False))
            copied = TableCopy(table.name)
            if not done:
                await self._copy_table(table, after, copied)
            yield copied

    async def verify_tables(self) -> AsyncGenerator[TableCopy]:
        """Looks every row of the source up in the target; yields each table's figures."""
        for table in self.tables:
            compared = TableCopy(table.name)
            async for rows in iter_batches(self.source, table, _get_batch_size(table), None):
                await self._compare_rows(table, rows, compared)
            yield compared

    async def clear_progress(self) -> None:
        """Forgets how far the copy went; the next one begins anew."""
        async with self.target.write() as connection:
            given = {"source": self._source_name}
            await connection.execute(text("DELETE FROM copy_progress WHERE source = :source"), given)

    async def _copy_table(self, table: "Table", after: RowKey | None, copied: TableCopy) -> None:
        async for rows in iter_batches(self.source, table, _get_batch_size(table), after):
            kept = await self._copy_row_files(table, [clean_row(table, row) for row in rows])
            copied.rows += len(rows)
            copied.left_out += len(rows) - len(kept)
            last = list(get_row_key(table, rows[-1]))
            copied.copied += await self.target.run_transaction(
                self._build_writer(table, kept, last, done=False), write=True
            )
        await self.target.run_transaction(self._build_writer(table, [], None, done=True), write=True)

    def _build_writer(
        self, table: "Table", rows: Sequence[RowValues], last: list[Any] | None, *, done: bool
    ) -> "Callable[[Connection], int]":
        """Inserts the rows and notes the place; both or neither."""
        insert = self.target.build_insert(table).on_conflict_do_nothing()

        def write_rows(connection: "Connection") -> int:
            for alike in _alike(rows):
                connection.execute(insert, alike)
            connection.execute(*self._build_progress_upsert(table.name, last, done=done))
            return len(rows)

        return write_rows

    def _build_progress_upsert(self, name: str, last: list[Any] | None, *, done: bool) -> tuple[Any, dict[str, Any]]:
        progress = _build_progress_table()
        row = {"source": self._source_name, "name": name, "last": last, "done": int(done), "started_at": time.time()}
        insert = self.target.build_insert(progress)
        changed = {"done": insert.excluded.done, "last": insert.excluded.last}
        return insert.on_conflict_do_update(index_elements=["source", "name"], set_=changed), row

    async def _copy_row_files(self, table: "Table", rows: Sequence[RowValues]) -> list[RowValues]:
        if table.name != "artifacts" or self.copy_files is None:
            return list(rows)
        return await self.copy_files(rows)

    async def _compare_rows(self, table: "Table", rows: Sequence[RowValues], compared: TableCopy) -> None:
        theirs = await read_rows_by_key(self.target, table, [get_row_key(table, row) for row in rows])
        missing = []
        for row in (clean_row(table, row) for row in rows):
            mine, other = hash_row(row), theirs.get(get_row_key(table, row))
            compared.rows += 1
            compared.checksum = (compared.checksum + mine) % (1 << 128)
            if other is None:
                missing.append(row)
            else:
                compared.different += hash_row(other) != mine
        wanted = await self._copy_row_files(table, missing)
        compared.missing += len(wanted)
        compared.left_out += len(missing) - len(wanted)

    async def _load_progress(self) -> dict[str, tuple[RowKey | None, bool]]:
        """By table how far an earlier copy from this source came: the last key, and whether that was all."""
        progress = _build_progress_table()
        json = "jsonb" if self.target.is_shared else "json"
        async with self.target.write() as connection:
            await connection.execute(text(CREATE_PROGRESS_SQL.format(json=json)))
            rows = await connection.execute(select(progress).where(progress.c.source == self._source_name))
            return {row.name: (tuple(row.last) if row.last else None, bool(row.done)) for row in rows}

    @property
    def _source_name(self) -> str:
        return address.redact_url(self.source.url)[:500]


async def count_table_rows(database: "Database", tables: "Sequence[Table]") -> dict[str, int]:
    """By table how many rows there are."""

    def run_queries(connection: "Connection") -> dict[str, int]:
        queries: Mapping[str, Any] = {table.name: select(func.count()).select_from(table) for table in tables}
        return {name: connection.execute(query).scalar_one() for name, query in queries.items()}

    return await database.run_transaction(run_queries, write=False)


def _alike(rows: Sequence[RowValues]) -> list[list[RowValues]]:
    """The rows by the columns that they have: one statement is for one set of them."""
    kinds: dict[frozenset[str], list[RowValues]] = {}
    for row in rows:
        kinds.setdefault(frozenset(row), []).append(row)
    return list(kinds.values())


def _get_batch_size(table: "Table") -> int:
    heavy_rows = 100
    heavy_tables = frozenset(
        {"pages", "content_chunks", "content_vectors", "contents", "runs"}
    )  # rows of many kilobytes
    default_rows = 500  # rows
    return heavy_rows if table.name in heavy_tables else default_rows


def _build_progress_table() -> "Table":

    return Table(
        "copy_progress",
        MetaData(),
        Column("source", String(500), primary_key=True),
        Column("name", String(64), primary_key=True),
        Column("last", json_type),
        Column("done", Integer),
        Column("started_at", Float),
    )
