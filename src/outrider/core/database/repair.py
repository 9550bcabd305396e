"""Replace a damaged SQLite file by one with its readable rows.

The damaged file is kept.
"""

import mmap
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from outrider.core.database.salvage import (
    SavedTable,
    create_empty_database,
    open_damaged,
    read_saved_revision,
    restore_header,
    salvage_foreign_tables,
    salvage_tables,
)
from outrider.core.database.sqlite_locks import hold_exclusively
from outrider.core.errors import Refused, Unavailable

LEAF_PAGE_TYPE = 0x0D
DEFINED_TYPES = frozenset({"table", "index"})


@dataclass(frozen=True)
class DatabaseRepair:
    """The outcome of a repair.

    Attributes:
        kept: The damaged file under its new name, beside the new one; None if there was nothing to repair.
        tables: The saved rows by table; tables that were empty and undamaged are left out.
    """

    kept: Path | None
    tables: Sequence[SavedTable] = ()

    @property
    def is_whole(self) -> bool:
        """Whether no row was lost."""
        return all(table.is_whole for table in self.tables)


def repair_database(path: Path, *, is_work_file: bool = False) -> DatabaseRepair:
    """Repair the file, which no other process may have open.

    Args:
        path: The file.
        is_work_file: Whether it is the file of the durable engine, whose tables belong to a library.

    Raises:
        Refused: Another process has it open, or it cannot be read as a database of Outrider at all.
        Unavailable: The disk has too little space for the copies.
    """
    with hold_exclusively(path) as damaged, tempfile.TemporaryDirectory(prefix=".repair-", dir=path.parent) as folder:
        _check_free_space(path)
        copy, new = Path(folder) / "damaged.db", Path(folder) / "new.db"
        with copy.open("wb") as target:
            shutil.copyfileobj(damaged, target)
        if _get_wal(path).exists():
            shutil.copyfile(_get_wal(path), _get_wal(copy))
        if not find_damage(copy):
            return DatabaseRepair(None)
        tables = _salvage_work_rows(copy, new) if is_work_file else _salvage_rows(copy, new)
        if not any(table.saved for table in tables):
            backup = _build_kept_path(path)
            raise Refused(
                f"nothing in {path} can be read as a database of Outrider, so it is left unchanged",
                hint=f"restore a backup, or start with an empty one: mv {path} {backup}",
                code="not_repairable",
            )
        backup = _replace_damaged_file(path, new)
    return DatabaseRepair(backup, [table for table in tables if table.saved or not table.is_whole])


def _check_free_space(path: Path) -> None:
    needed = 2 * sum(part.stat().st_size for part in (path, _get_wal(path)) if part.exists())
    if (free := shutil.disk_usage(path.parent).free) < needed:
        raise Unavailable(
            f"a repair needs {needed / 1e6:.0f} MB on the disk of {path.parent}, which has {free / 1e6:.0f} MB free",
            code="database",
            hint="free space there, then repeat the command; nothing was changed",
        )


def find_damage(path: Path) -> str:
    """Return SQLite's message about the first damage; empty if the file is sound."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            [finding] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        is_busy = "locked" in str(error)  # a process that is using it has no problem with it
        return "" if is_busy else str(error)
    return "" if finding == "ok" else finding


def _salvage_rows(copy: Path, new: Path) -> list[SavedTable]:
    tables = _salvage_once(copy, new)
    if any(table.saved for table in tables):
        return tables
    new.unlink()
    create_empty_database(new, None)
    restore_header(copy, new)
    new.unlink()
    tables = _salvage_once(copy, new)
    if any(table.saved for table in tables):
        return tables
    new.unlink()
    restore_first_page(copy)
    return _salvage_once(copy, new)


def _salvage_work_rows(copy: Path, new: Path) -> list[SavedTable]:
    with closing(open_damaged(copy)) as source:
        tables = list(salvage_foreign_tables(source, new))
    if any(table.saved for table in tables):
        return tables
    # Its header equals that of a new file with pages of the usual size.
    new.unlink(missing_ok=True)
    create_empty_database(new, None)
    restore_header(copy, new)
    new.unlink()
    restore_first_page(copy)
    with closing(open_damaged(copy)) as source:
        return list(salvage_foreign_tables(source, new))


def _salvage_once(copy: Path, new: Path) -> list[SavedTable]:
    with closing(open_damaged(copy)) as source:
        create_empty_database(new, read_saved_revision(source))
        return list(salvage_tables(source, new))


def _replace_damaged_file(path: Path, new: Path) -> Path:
    """Replace the damaged file; return the path where it is kept."""
    backup = _build_kept_path(path)
    shutil.copymode(path, new)
    # Move the log first, because SQLite would replay it into the new file.
    for suffix in ("-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(backup.with_name(backup.name + suffix))
    with new.open("rb") as file:
        os.fsync(file.fileno())
    path.rename(backup)
    new.rename(path)
    return backup


def _build_kept_path(path: Path) -> Path:
    """Return an unused name with the time in it."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{path.name}.damaged-{stamp}{suffix}" for suffix in ("", *(f"-{number}" for number in range(2, 1_000))))
    return next(candidate for name in names if not (candidate := path.with_name(name)).exists())


def _get_wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


class Definition(NamedTuple):
    """A row of SQLite's schema table."""

    type: str
    name: str
    table: str
    root_page: int
    sql: str | None


def restore_first_page(damaged: Path) -> None:
    """Write a first page with all definitions found in the file.

    The file's header must be intact.
    """
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
    """Return a number of SQLite's variable length and the offset after it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9
