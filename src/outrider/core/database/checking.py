"""Whether a database is what it should be, and what can safely be put right."""

import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table, delete, select

from outrider.core.database.migration import head_revision, revision
from outrider.core.database.references import Reference, orphans, remove, usable
from outrider.core.database.schema import differences, every_table
from outrider.core.storage.storage import Storage
from outrider.core.tables import artifacts

if TYPE_CHECKING:
    from outrider.core.db import Database

SETTLED = 3_600.0  # seconds after which a file without a row belongs to no call that is under way
AT_ONCE = 500
OURS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.part)?")  # what we name files; others are not ours
Repair = Callable[[], Awaitable[str]]


@dataclass(frozen=True)
class Problem:
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


async def check(database: "Database") -> AsyncGenerator[Problem]:
    """Looks at revision, tables and columns, at SQLite's pages, and at rows whose parents are gone.

    Args:
        database: One that does not migrate by itself. Raises Unavailable where it cannot be read.
    """
    found = await database.short(revision, write=False)
    if found != head_revision():
        message = f"the database is of revision {found or 'none'}, not {head_revision()}"
        yield Problem("revision", message, "outrider db migrate")
        return
    schema = await database.short(differences, write=False)
    for name in schema.missing:
        yield Problem("missing", f"{name} is missing", "restore a backup: a migration was undone by hand")
    for name in schema.extra:
        yield Problem("extra", f"{name} is nothing that Outrider knows", "drop it if it is nobody else's")
    if schema.missing:
        return
    if database.dialect == "sqlite":
        for message in await database.short(_damage, write=False):
            yield Problem("damaged", f"SQLite: {message}", "restore a backup, or `outrider db copy` what can be read")
    async for problem in _orphans(database):
        yield problem


async def check_files(database: "Database", storage: "Storage") -> AsyncGenerator[Problem]:
    """Looks for artifacts without a file and files without a row. Raises Unavailable."""
    there = {item.name: item.at async for item in storage.items()}
    known = await database.short(_known, write=False)
    lost = sorted(known - there.keys())
    old = {name for name, at in there.items() if OURS.fullmatch(name) and time.time() - at > SETTLED}
    stray = sorted(old - known)
    if lost:
        message = f"{len(lost)} artifacts have no file in {storage.place}"
        yield Problem("file_lost", message, "restore them from a backup", lambda: _forgotten(database, lost))
    if stray:
        message = f"{len(stray)} files in {storage.place} belong to no artifact"
        yield Problem("file_stray", message, repair=lambda: _removed(storage, stray))


async def _orphans(database: "Database") -> AsyncGenerator[Problem]:
    tables = {table.name: table for table in every_table()}
    for reference in usable(tables):

        def count(connection: "Connection", reference: Reference = reference) -> int:
            return orphans(connection, tables, reference)

        number = await database.short(count, write=False)
        if not number:
            continue
        message = f"{number} rows of {reference.table} refer to {reference.parent} that are gone"
        repair = _removal(database, tables, reference) if reference.derived else None
        yield Problem("orphans", message, "" if repair else "restore a backup if they were not removed by hand", repair)


def _removal(database: "Database", tables: "dict[str, Table]", reference: Reference) -> Repair:
    async def repair() -> str:
        gone = await database.short(lambda connection: remove(connection, tables, reference), write=True)
        return f"removed {gone} rows of {reference.table}"

    return repair


def _damage(connection: "Connection") -> list[str]:
    found = connection.exec_driver_sql("PRAGMA quick_check(5)").scalars().all()
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return [*(each for each in found if each != "ok"), *(f"a row of {row[0]} refers to nothing" for row in broken[:5])]


def _known(connection: "Connection") -> set[str]:

    return set(connection.execute(select(artifacts.c.id)).scalars())


async def _forgotten(database: "Database", names: Sequence[str]) -> str:

    def forget(connection: "Connection") -> None:
        for start in range(0, len(names), AT_ONCE):
            connection.execute(delete(artifacts).where(artifacts.c.id.in_(names[start : start + AT_ONCE])))

    await database.short(forget, write=True)
    return f"forgot {len(names)} artifacts"


async def _removed(storage: "Storage", names: Sequence[str]) -> str:
    await storage.remove(names)
    return f"removed {len(names)} files"
