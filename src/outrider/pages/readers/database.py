"""Databases of SQLite in one file: their tables with columns, numbers of rows, and the first rows of each.

Read in memory, by a connection that writes nothing, trusts nothing of what the schema calls, and is stopped when it
takes too long.
"""

import sqlite3
import time
from typing import Any

from outrider.pages.document import Document, tidy_text, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error

KIND = "database"
MAGIC = b"SQLite format 3\x00"
TABLES = 100
ROWS = 20  # of each table that are shown
CELL = 200  # characters
SECONDS = 8.0
STEPS = 10_000  # of SQLite's machine between two looks at the clock
NAMES = (
    "SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name LIMIT ?"
)


def read(source: ReaderInput) -> Document:
    """The tables of a database, at most 100 of them and 20 rows of each; views by their names only.

    Raises:
        Unavailable: code `broken_file`.
    """
    if not source.body.startswith(MAGIC):
        raise build_broken_error(source, KIND, "it does not begin as one")
    connection = sqlite3.connect(":memory:")
    end = time.monotonic() + min(SECONDS, source.time_limit_s)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    try:
        connection.deserialize(source.body)
        connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON")
        return _document(DocumentDraft(source, "database"), connection)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise build_broken_error(source, KIND, f"it cannot be opened ({' '.join(str(error).split())[:100]})") from None
    finally:
        connection.close()


def _document(draft: DocumentDraft, connection: sqlite3.Connection) -> Document:
    found = connection.execute(NAMES, (TABLES + 1,)).fetchall()
    known: dict[str, int | None] = {}
    for name, kind, sql in found[:TABLES]:
        if kind == "view" or sql.upper().startswith("CREATE VIRTUAL"):
            draft.add_heading(2, f"{to_single_line(name)} ({'view' if kind == 'view' else 'virtual table'}, not read)")
        else:
            known[to_single_line(name)] = _table(draft, connection, name)
    if len(found) > TABLES:
        draft.add_block("(… there are more tables)")
    return draft.build_document(metadata={"tables": known})


def _table(draft: DocumentDraft, connection: sqlite3.Connection, name: str) -> int | None:
    """Writes a table; returns how many rows it has, None if to count them takes too long or it is damaged."""
    quoted = '"' + name.replace('"', '""') + '"'
    try:
        cursor = connection.execute(f"SELECT * FROM {quoted} LIMIT {ROWS}")  # noqa: S608 - quoted as SQLite does
        rows = [[to_single_line(str(column[0]), CELL) for column in cursor.description], *map(_row, cursor)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        draft.add_heading(2, to_single_line(name))
        draft.add_block(f"(this table cannot be read: {to_single_line(str(error), 100)})")
        return None
    try:
        count = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0]  # noqa: S608
    except sqlite3.Error:
        count = None
    draft.add_heading(2, f"{to_single_line(name)} ({'many' if count is None else count} row{'s' * (count != 1)})")
    draft.add_table(rows)
    if count is None or count >= len(rows):
        draft.add_block(f"(the first {len(rows) - 1} rows)")
    return count


def _row(values: tuple[Any, ...]) -> list[str]:
    return [_shown(value) for value in values]


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    return "" if value is None else tidy_text(str(value)[:CELL].replace("\n", " "))


reader = DocumentReader(
    "database", ("application/x-sqlite3", "application/vnd.sqlite3"), read, isolated=True, needs_whole_body=True
)
