"""Save a damaged SQLite file's readable rows into a new file.

Rows are read in the order of their rowids, without indexes, because those may be damaged too. After a damaged page,
reading continues at the next readable rowid, so only the rows of that page are lost.
"""

import json
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Table

from outrider.core.database.address import build_sqlite_url
from outrider.core.database.engines import build_sync_engine
from outrider.core.database.migration import find_head_revision, migrate_schema
from outrider.core.database.schema import PROCESS_TABLES, list_tables

READ_ERRORS = (sqlite3.Error, OverflowError, MemoryError)
HEADER_BYTES = 100  # of a database file: sqlite.org/fileformat.html#the_database_header
MAX_ROWID = 2**63 - 1
Row = Sequence[Any]


@dataclass(frozen=True)
class SavedTable:
    """Rows of one table that were saved.

    Attributes:
        saved: Rows in the new file.
        lost: Rows that were read but hold damaged or contradictory values, and those that an index still counts;
            None if their number is unknown.
    """

    table: str
    saved: int
    lost: int | None

    @property
    def is_whole(self) -> bool:
        """Whether no row of it was lost."""
        return self.lost == 0


@dataclass(frozen=True)
class _Source:
    """A table in the damaged file and the columns to read from it."""

    name: str
    columns: Sequence[str]
    target: str
    is_sound: Callable[[Row], bool]


def create_empty_database(path: Path, revision: str | None) -> None:
    """Create a file with all tables as of a revision; None for the newest."""
    engine = build_sync_engine(build_sqlite_url(path))
    try:
        with engine.connect().execution_options(outrider_write=True) as connection, connection.begin():
            migrate_schema(connection, revision)
    finally:
        engine.dispose()


def restore_header(damaged: Path, sound: Path) -> None:
    """Replace a damaged header by a sound one, with the file's number of pages."""
    header = bytearray(sound.read_bytes()[:HEADER_BYTES])
    page_size = int.from_bytes(header[16:18])
    header[28:32] = (damaged.stat().st_size // page_size).to_bytes(4)
    header[32:40] = bytes(8)  # no list of free pages
    with damaged.open("r+b") as file:
        file.write(header)


def open_damaged(path: Path) -> sqlite3.Connection:
    """Open a damaged file so that as much as possible is readable."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA writable_schema = ON")  # an unreadable part of the schema is not an error
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def read_saved_revision(source: sqlite3.Connection) -> str | None:
    """Return the revision of a damaged database, or None if it cannot be read."""
    try:
        row = source.execute("SELECT version_num FROM alembic_version").fetchone()
    except READ_ERRORS:
        return None
    known = row is not None and isinstance(row[0], str) and row[0].isdigit() and row[0] <= find_head_revision()
    return row[0] if known else None


def find_readable_tables(source: sqlite3.Connection) -> set[str]:
    """Return the names of Outrider's tables that the damaged file's schema still has."""
    try:
        names = {row[0] for row in source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    except READ_ERRORS:
        names = {table.name for table in list_tables() if _read_columns(source, table.name)}
    return names & {*(table.name for table in list_tables()), "page_words_content"}


def salvage_tables(source: sqlite3.Connection, target: Path) -> Generator[SavedTable]:
    """Copy every readable row into the new file, and yield each table's counts."""
    readable = find_readable_tables(source)
    with closing(sqlite3.connect(target)) as connection:
        for each in _list_sources(source, connection):
            if each.name in readable:
                yield _salvage_table(source, connection, each)
            elif not each.name.startswith("page_words") and each.name not in PROCESS_TABLES:
                yield SavedTable(each.target, 0, None)


def salvage_foreign_tables(source: sqlite3.Connection, target: Path) -> Generator[SavedTable]:
    """Copy every readable row of a library's file, with the file's own schema."""
    try:
        rows = source.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        definitions = [row for row in rows if not row[1].startswith("sqlite_")]
    except READ_ERRORS:
        return
    with closing(sqlite3.connect(target)) as connection:
        for kind in ("table", "index", "trigger", "view"):  # triggers would change the copied rows
            for _, name, sql in [each for each in definitions if each[0] == kind]:
                connection.execute(sql)
                if kind == "table":
                    columns = _read_columns(connection, name)
                    yield _salvage_table(source, connection, _Source(name, columns, name, lambda _: True))


def _list_sources(source: sqlite3.Connection, target: sqlite3.Connection) -> Generator[_Source]:
    for table in list_tables():
        target_columns = set(_read_columns(target, table.name))
        columns = [name for name in _read_columns(source, table.name) if name in target_columns]
        if target_columns and table.name not in PROCESS_TABLES:
            yield _Source(table.name, columns, table.name, _build_row_check(table, columns))
    # The words of cached pages are a full-text index, which keeps its texts in its own table.
    yield _Source("page_words_content", ["id", "c0", "c1", "c2"], "page_words (rowid, key, title, body)", bool)


def _salvage_table(source: sqlite3.Connection, target: sqlite3.Connection, table: _Source) -> SavedTable:
    names = ", ".join(f'"{name}"' for name in table.columns)
    places = ", ".join("?" * len(table.columns))
    into = table.target if table.name != table.target else f'"{table.target}" ({names})'
    insert = f"INSERT OR IGNORE INTO {into} VALUES ({places})"  # noqa: S608 - names of our own tables
    saved = dropped = 0
    select = f'SELECT rowid, {names} FROM "{table.name}" NOT INDEXED WHERE rowid > ? AND rowid < ?'  # noqa: S608
    reader = _TableReader(source, select)
    with target:
        for _, *row in reader.iter_rows():
            try:
                inserted = table.is_sound(row) and target.execute(insert, row).rowcount
            except sqlite3.IntegrityError:
                inserted = 0
            saved += inserted
            dropped += not inserted
    lost: int | None = dropped
    if reader.has_gaps:
        lost = None
        with suppress(*READ_ERRORS):  # the table's smallest index may be intact
            expected = source.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]  # noqa: S608 - as above
            lost = expected - saved if expected >= saved else None
    return SavedTable(table.target.partition(" ")[0], saved, lost)


@dataclass
class _TableReader:
    """Reads a table around its damaged pages.

    Attributes:
        select: The query for rows between two rowids, without its order; the rowid is its first column.
        has_gaps: Whether some part could not be read.
    """

    source: sqlite3.Connection
    select: str
    has_gaps: bool = False

    def iter_rows(self) -> Generator[Row]:
        """Yield all rows that can be read."""
        last = -1
        while True:
            is_complete, last = yield from self._read_run(last, MAX_ROWID, "ASC")
            if is_complete:
                return
            self.has_gaps = True
            following = self._find_readable(last)
            # The search may have skipped readable rows, so read backwards up to the damaged page.
            yield from self._read_run(last, MAX_ROWID if following is None else following + 1, "DESC")
            if following is None:
                return
            last = following

    def _read_run(self, after: int, before: int, order: str) -> Generator[Row, None, tuple[bool, int]]:
        """Yield rows between two rowids until one cannot be read; return whether that was all, and the last rowid."""
        sql = f"{self.select} ORDER BY rowid {order}"
        last = after if order == "ASC" else before
        # The driver reads one row ahead, so an error may hide a readable row: query it alone.
        for limit in ("", " LIMIT 1"):
            bounds = (last, before) if order == "ASC" else (after, last)
            try:
                for row in self.source.execute(sql + limit, bounds):
                    if not bounds[0] < row[0] < bounds[1]:
                        return False, last
                    yield row
                    last = row[0]
            except READ_ERRORS:
                if limit:
                    return False, last
            else:
                if not limit:
                    return True, last
        return False, last

    def _find_readable(self, last: int) -> int | None:
        """Return a rowid after the unreadable part from which reading works; None if there is none."""
        step = 1
        while last + step < MAX_ROWID:
            try:
                self.source.execute(f"{self.select} ORDER BY rowid LIMIT 1", (last + step, MAX_ROWID)).fetchone()
            except READ_ERRORS:
                step = max(step + 1, step * 11 // 10)
            else:
                return last + step
        return None


def _read_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    except READ_ERRORS:
        return []


def _build_row_check(table: Table, columns: Sequence[str]) -> Callable[[Row], bool]:
    """Return a check of a row's values against their columns' types."""
    kinds = [table.columns[name].type if name in table.columns else None for name in columns]

    def is_sound(row: Row) -> bool:
        return all(value is None or _has_type(value, kind) for value, kind in zip(row, kinds, strict=True))

    return is_sound


def _has_type(value: Any, kind: Any) -> bool:
    """Return whether a stored value has the column's type; True if that type is unknown."""
    if kind is None:
        return True
    if isinstance(kind, JSON):
        try:
            json.loads(value)
        except (TypeError, ValueError, RecursionError):
            return False
        return True
    types = {float: (int, float), int: (int,), bool: (int,)}.get(kind.python_type, (kind.python_type,))
    return isinstance(value, types)
