"""Copy one database into another, for instance a laptop's into Postgres.

Tables are copied one by one, in batches ordered by primary key. Each batch and its progress are stored in one
transaction, so an interrupted copy resumes where it stopped. At the end every row of the source is compared with the
target's.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Float, Integer, MetaData, String, Table, func, select, text

from outrider.core.database import address
from outrider.core.database.database import Database
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

CREATE_PROGRESS_SQL = """
    CREATE TABLE IF NOT EXISTS copy_progress (
        source varchar(500) NOT NULL, name varchar(64) NOT NULL, last {json}, done integer NOT NULL,
        started_at double precision NOT NULL, PRIMARY KEY (source, name)
    )
"""
FileCopier = Callable[[Sequence[RowValues]], Awaitable[list[RowValues]]]


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
