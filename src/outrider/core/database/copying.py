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
from outrider.core.database.rows import Key, Row, batches, cleaned, digest, key_of, of_keys
from outrider.core.database.schema import LIVING, every_table
from outrider.core.errors import Refused
from outrider.core.tables import json_type

if TYPE_CHECKING:
    from outrider.core.db import Database

BATCH = 500  # rows
HEAVY = frozenset({"pages", "content_chunks", "content_vectors", "contents", "runs"})  # rows of many kilobytes
SOME = 100
MADE = """
    CREATE TABLE IF NOT EXISTS copy_progress (
        source varchar(500) NOT NULL, name varchar(64) NOT NULL, last {json}, done integer NOT NULL,
        started_at double precision NOT NULL, PRIMARY KEY (source, name)
    )
"""
Files = Callable[[Sequence[Row]], Awaitable[list[Row]]]


@dataclass
class Copied:
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
    def whole(self) -> bool:
        """Whether the target says the same."""
        return not (self.missing or self.different)


@dataclass
class Copy:
    """One copy.

    Attributes:
        source: Is only read.
        target: Is migrated and filled.
        files: Copies the files of these rows of `artifacts`, and returns the rows whose files are there now.
        without: Names of tables to leave out.
    """

    source: "Database"
    target: "Database"
    files: Files | None = None
    without: frozenset[str] = LIVING

    @property
    def tables(self) -> "list[Table]":
        """What is copied."""
        without = self.without | ({"pages"} if self.target.dialect == "sqlite" else frozenset())
        return [table for table in every_table() if table.name not in without]

    async def plan(self) -> dict[str, int]:
        """By table how many rows the source has."""
        return await counts(self.source, self.tables)

    async def prepare(self, *, into_existing: bool) -> bool:
        """Whether an earlier copy from the same source is gone on with.

        Raises:
            Refused: The target holds something else already.
        """
        begun = await self._noted()
        if begun or into_existing:
            return bool(begun)
        held = {name: rows for name, rows in (await counts(self.target, self.tables)).items() if rows}
        if held:
            raise Refused(
                f"the target is not empty: {', '.join(f'{name} has {rows} rows' for name, rows in held.items())}",
                hint="choose an empty database, or add to what is there with --into-existing",
                code="not_empty",
            )
        return False

    async def run(self) -> AsyncGenerator[Copied]:
        """Copies; yields each table once it is done."""
        noted = await self._noted()
        for table in self.tables:
            after, done = noted.get(table.name, (None, False))
            copied = Copied(table.name)
            if not done:
                await self._copy(table, after, copied)
            yield copied

    async def verify(self) -> AsyncGenerator[Copied]:
        """Looks every row of the source up in the target; yields each table's figures."""
        for table in self.tables:
            compared = Copied(table.name)
            async for rows in batches(self.source, table, _size(table), None):
                await self._compare(table, rows, compared)
            yield compared

    async def finish(self) -> None:
        """Forgets how far the copy went; the next one begins anew."""
        async with self.target.write() as connection:
            given = {"source": self._name}
            await connection.execute(text("DELETE FROM copy_progress WHERE source = :source"), given)

    async def _copy(self, table: "Table", after: Key | None, copied: Copied) -> None:
        async for rows in batches(self.source, table, _size(table), after):
            kept = await self._with_files(table, [cleaned(table, row) for row in rows])
            copied.rows += len(rows)
            copied.left_out += len(rows) - len(kept)
            last = list(key_of(table, rows[-1]))
            copied.copied += await self.target.short(self._writing(table, kept, last, done=False), write=True)
        await self.target.short(self._writing(table, [], None, done=True), write=True)

    def _writing(
        self, table: "Table", rows: Sequence[Row], last: list[Any] | None, *, done: bool
    ) -> "Callable[[Connection], int]":
        """Inserts the rows and notes the place; both or neither."""
        insert = self.target.insert(table).on_conflict_do_nothing()

        def write(connection: "Connection") -> int:
            for alike in _alike(rows):
                connection.execute(insert, alike)
            connection.execute(*self._note(table.name, last, done=done))
            return len(rows)

        return write

    def _note(self, name: str, last: list[Any] | None, *, done: bool) -> tuple[Any, dict[str, Any]]:
        progress = _progress()
        row = {"source": self._name, "name": name, "last": last, "done": int(done), "started_at": time.time()}
        insert = self.target.insert(progress)
        changed = {"done": insert.excluded.done, "last": insert.excluded.last}
        return insert.on_conflict_do_update(index_elements=["source", "name"], set_=changed), row

    async def _with_files(self, table: "Table", rows: Sequence[Row]) -> list[Row]:
        if table.name != "artifacts" or self.files is None:
            return list(rows)
        return await self.files(rows)

    async def _compare(self, table: "Table", rows: Sequence[Row], compared: Copied) -> None:
        theirs = await of_keys(self.target, table, [key_of(table, row) for row in rows])
        missing = []
        for row in (cleaned(table, row) for row in rows):
            mine, other = digest(row), theirs.get(key_of(table, row))
            compared.rows += 1
            compared.checksum = (compared.checksum + mine) % (1 << 128)
            if other is None:
                missing.append(row)
            else:
                compared.different += digest(other) != mine
        wanted = await self._with_files(table, missing)
        compared.missing += len(wanted)
        compared.left_out += len(missing) - len(wanted)

    async def _noted(self) -> dict[str, tuple[Key | None, bool]]:
        """By table how far an earlier copy from this source came: the last key, and whether that was all."""
        progress = _progress()
        json = "jsonb" if self.target.shared else "json"
        async with self.target.write() as connection:
            await connection.execute(text(MADE.format(json=json)))
            rows = await connection.execute(select(progress).where(progress.c.source == self._name))
            return {row.name: (tuple(row.last) if row.last else None, bool(row.done)) for row in rows}

    @property
    def _name(self) -> str:
        return address.shown(self.source.url)[:500]


async def counts(database: "Database", tables: "Sequence[Table]") -> dict[str, int]:
    """By table how many rows there are."""

    def count(connection: "Connection") -> dict[str, int]:
        queries: Mapping[str, Any] = {table.name: select(func.count()).select_from(table) for table in tables}
        return {name: connection.execute(query).scalar_one() for name, query in queries.items()}

    return await database.short(count, write=False)


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows by the columns that they have: one statement is for one set of them."""
    kinds: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        kinds.setdefault(frozenset(row), []).append(row)
    return list(kinds.values())


def _size(table: "Table") -> int:
    return SOME if table.name in HEAVY else BATCH


def _progress() -> "Table":

    return Table(
        "copy_progress",
        MetaData(),
        Column("source", String(500), primary_key=True),
        Column("name", String(64), primary_key=True),
        Column("last", json_type),
        Column("done", Integer),
        Column("started_at", Float),
    )
