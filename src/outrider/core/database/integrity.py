"""Whether a database is what it should be, and what can safely be put right."""

import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table, delete, select

from outrider.core.database.migration import find_head_revision, read_revision
from outrider.core.database.references import TableReference, count_orphans, delete_orphans, list_usable_references
from outrider.core.database.schema import compare_schema, list_tables
from outrider.core.storage.storage import Storage
from outrider.core.tables import artifacts

if TYPE_CHECKING:
    from outrider.core.db import Database

ARTIFACT_FILE_NAME = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.part)?"
)  # what we name files; others are not ours
Repair = Callable[[], Awaitable[str]]


@dataclass(frozen=True)
class DatabaseProblem:
    """One thing that is wrong.

    Attributes:
        code: For programs.
        message: For people.
        remedy: What to do, if `repair` cannot.
        repair: Puts it right and says what it did; None where that would not be safe.
    """

    code: str
    message: str
    remedy: str = ""
    repair: Repair | None = field(default=None, repr=False, compare=False)


async def check_database(database: "Database") -> AsyncGenerator[DatabaseProblem]:
    """Looks at revision, tables and columns, at SQLite's pages, and at rows whose parents are gone.

    Args:
        database: One that does not migrate by itself. Raises Unavailable where it cannot be read.
    """
    found = await database.run_transaction(read_revision, write=False)
    if found != find_head_revision():
        message = f"the database is of revision {found or 'none'}, not {find_head_revision()}"
        yield DatabaseProblem("revision", message, "outrider db migrate")
        return
    schema = await database.run_transaction(compare_schema, write=False)
    for name in schema.missing:
        yield DatabaseProblem("missing", f"{name} is missing", "restore a backup: a migration was undone by hand")
    for name in schema.extra:
        yield DatabaseProblem("extra", f"{name} is nothing that Outrider knows", "drop it if it is nobody else's")
    if schema.missing:
        return
    if database.dialect == "sqlite":
        for message in await database.run_transaction(_find_damage, write=False):
            yield DatabaseProblem(
                "damaged", f"SQLite: {message}", "restore a backup, or `outrider db copy` what can be read"
            )
    async for problem in _check_orphans(database):
        yield problem


async def check_artifact_files(database: "Database", storage: "Storage") -> AsyncGenerator[DatabaseProblem]:
    """Looks for artifacts without a file and files without a row. Raises Unavailable."""
    min_age_s = 3_600.0  # seconds after which a file without a row belongs to no call that is under way
    there = {item.name: item.at async for item in storage.iter_items()}
    known = await database.run_transaction(_select_artifact_ids, write=False)
    lost = sorted(known - there.keys())
    old = {name for name, at in there.items() if ARTIFACT_FILE_NAME.fullmatch(name) and time.time() - at > min_age_s}
    stray = sorted(old - known)
    if lost:
        message = f"{len(lost)} artifacts have no file in {storage.location}"
        yield DatabaseProblem(
            "file_lost", message, "restore them from a backup", lambda: _delete_artifact_rows(database, lost)
        )
    if stray:
        message = f"{len(stray)} files in {storage.location} belong to no artifact"
        yield DatabaseProblem("file_stray", message, repair=lambda: _remove_files(storage, stray))


async def _check_orphans(database: "Database") -> AsyncGenerator[DatabaseProblem]:
    tables = {table.name: table for table in list_tables()}
    for reference in list_usable_references(tables):

        def count(connection: "Connection", reference: TableReference = reference) -> int:
            return count_orphans(connection, tables, reference)

        number = await database.run_transaction(count, write=False)
        if not number:
            continue
        message = f"{number} rows of {reference.table} refer to {reference.parent} that are gone"
        repair = _build_removal(database, tables, reference) if reference.is_derived else None
        yield DatabaseProblem(
            "orphans", message, "" if repair else "restore a backup if they were not removed by hand", repair
        )


def _build_removal(database: "Database", tables: "dict[str, Table]", reference: TableReference) -> Repair:
    async def remove_rows() -> str:
        gone = await database.run_transaction(
            lambda connection: delete_orphans(connection, tables, reference), write=True
        )
        return f"removed {gone} rows of {reference.table}"

    return remove_rows


def _find_damage(connection: "Connection") -> list[str]:
    found = connection.exec_driver_sql("PRAGMA quick_check(5)").scalars().all()
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return [*(each for each in found if each != "ok"), *(f"a row of {row[0]} refers to nothing" for row in broken[:5])]


def _select_artifact_ids(connection: "Connection") -> set[str]:

    return set(connection.execute(select(artifacts.c.id)).scalars())


async def _delete_artifact_rows(database: "Database", names: Sequence[str]) -> str:

    def delete_rows(connection: "Connection") -> None:
        batch_size = 500
        for start in range(0, len(names), batch_size):
            connection.execute(delete(artifacts).where(artifacts.c.id.in_(names[start : start + batch_size])))

    await database.run_transaction(delete_rows, write=True)
    return f"forgot {len(names)} artifacts"


async def _remove_files(storage: "Storage", names: Sequence[str]) -> str:
    await storage.remove(names)
    return f"removed {len(names)} files"
