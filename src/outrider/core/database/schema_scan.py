"""Rebuild the first page of a SQLite file from the definitions that its other pages still hold.

The first page names the pages of all tables. A schema of more than a few tables is stored in pages of its own, which
hold the definition of each table and the page at which its rows begin (sqlite.org/fileformat.html, 2.6).
"""

import mmap
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

LEAF_PAGE_TYPE = 0x0D
DEFINED_TYPES = frozenset({"table", "index"})


class Definition(NamedTuple):
    """A row of SQLite's schema table."""

    type: str
    name: str
    table: str
    root_page: int
    sql: str | None


def restore_first_page(damaged: Path) -> None:
    """Write a first page with all definitions that are found in the file, whose header must be sound."""
    header_bytes = 100
    with damaged.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        header = content[:header_bytes]
        page_size = int.from_bytes(header[16:18])
        definitions = {each.name: each for each in _iter_definitions(content, page_size)}
        empty_leaf = bytes((LEAF_PAGE_TYPE, 0, 0, 0, 0)) + page_size.to_bytes(2) + b"\0"
        content[:page_size] = (header + empty_leaf).ljust(page_size, b"\0")
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", list(definitions.values()))


def _iter_definitions(content: mmap.mmap, page_size: int) -> Generator[Definition]:
    for start in range(page_size, len(content) - page_size + 1, page_size):
        if content[start] == LEAF_PAGE_TYPE:
            page = content[start : start + page_size]
            cell_count = int.from_bytes(page[3:5])
            for at in range(8, min(8 + 2 * cell_count, page_size - 1), 2):
                try:
                    definition = _parse_cell(page, int.from_bytes(page[at : at + 2]))
                except (IndexError, UnicodeDecodeError):
                    continue
                if definition and 1 < definition.root_page <= len(content) // page_size:
                    yield definition


def _parse_cell(page: bytes, at: int) -> Definition | None:
    """Return the definition in a cell of a leaf page; None if it is a row of another table."""
    schema_columns = 5  # type, name, tbl_name, rootpage, sql
    _, at = _parse_varint(page, at)  # bytes of the row
    _, at = _parse_varint(page, at)  # rowid
    header_start = at
    header_size, at = _parse_varint(page, at)
    types: list[int] = []
    while at < header_start + header_size and len(types) <= schema_columns:
        kind, at = _parse_varint(page, at)
        types.append(kind)
    integer_types, first_text_type = range(1, 5), 13
    if len(types) != schema_columns or types[3] not in integer_types:
        return None
    if any(kind < first_text_type or kind % 2 == 0 for kind in types[:3]):
        return None
    values: list[bytes] = []
    for kind in types:
        size = kind if kind in integer_types else max(0, (kind - 12) // 2)
        values.append(page[at : at + size])
        at += size
    if at > len(page):  # the end of the definition is on another page
        return None
    kind, name, table, sql = (values[index].decode() for index in (0, 1, 2, 4))
    if kind not in DEFINED_TYPES:
        return None
    return Definition(kind, name, table, int.from_bytes(values[3]), sql or None)


def _parse_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of SQLite's variable length and the offset behind it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9
