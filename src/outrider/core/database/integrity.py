"""Check the database and the artifact files, and offer safe repairs."""

import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, select

from outrider.core.database.database import Database
from outrider.core.database.failures import DatabaseDamaged
from outrider.core.database.migration import find_head_revision, read_revision
from outrider.core.database.schema import compare_schema, list_tables
from outrider.core.storage.storage import Storage
from outrider.core.tables import artifacts

# Names of the files that we write; others in the storage are not ours.
ARTIFACT_FILE_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.part)?")
REPAIR_COMMAND = "outrider db repair"
Repair = Callable[[], Awaitable[str]]


@dataclass(frozen=True)
class TableReference:
    """A column `table.column` that names a row of `parent` by its `key`.

    Attributes:
        is_derived: Whether the row can only be reached through its parent, so it may be removed with it.
        deletions_column: `table.column` with deleted parents whose rows are still to be purged.
    """

    table: str
    column: str
    parent: str
    key: str = "id"
    is_derived: bool = True
    deletions_column: str = ""


TABLE_REFERENCES = (
    TableReference("messages", "conversation_id", "conversations"),
    TableReference("runs", "conversation_id", "conversations", is_derived=False),
    TableReference("run_steps", "run_id", "runs"),
    TableReference("run_turns", "run_id", "runs"),
    TableReference("run_events", "run_id", "runs"),
    TableReference("run_keys", "run_id", "runs"),
    TableReference("questions", "run_id", "runs"),
    TableReference("contents", "store_id", "content_stores", deletions_column="content_leftovers.store_id"),
    TableReference("content_chunks", "content_id", "contents", deletions_column="content_leftovers.content_id"),
    TableReference("content_vectors", "chunk_id", "content_chunks"),
    TableReference("content_originals", "content_id", "contents", deletions_column="content_leftovers.content_id"),
    TableReference("content_removals", "store_id", "content_stores", deletions_column="content_leftovers.store_id"),
    TableReference("evaluation_records", "evaluation_id", "evaluations"),
    TableReference("evaluation_keys", "evaluation_id", "evaluations"),
    TableReference("crawl_pages", "crawl", "crawls"),
    TableReference("playbook_runs", "playbook", "playbooks"),
    TableReference("watch_changes", "watch", "watches"),
    TableReference("watch_notices", "watch", "watches"),
    TableReference("flow_run_steps", "run_id", "flow_runs"),
    TableReference("flow_run_pictures", "run_id", "flow_runs"),
    TableReference("flow_notices", "run_id", "flow_runs"),
    TableReference("identity_members", "workspace", "identity_workspaces", key="name", is_derived=False),
)


def list_usable_references(tables: Mapping[str, Table]) -> list[TableReference]:
    """Return the references whose tables and columns exist."""
    return [
        reference
        for reference in TABLE_REFERENCES
        if reference.table in tables
        and reference.parent in tables
        and reference.column in tables[reference.table].c
        and reference.key in tables[reference.parent].c
    ]


def count_orphans(connection: Connection, tables: Mapping[str, Table], reference: TableReference) -> int:
    """Return the number of rows whose parent is gone."""
    return connection.execute(
        select(func.count()).select_from(tables[reference.table]).where(_build_orphan_filter(tables, reference))
    ).scalar_one()


def delete_orphans(connection: Connection, tables: Mapping[str, Table], reference: TableReference) -> int:
    """Delete the rows whose parent is gone, and return their number."""
    return connection.execute(delete(tables[reference.table]).where(_build_orphan_filter(tables, reference))).rowcount


def _build_orphan_filter(tables: Mapping[str, Table], reference: TableReference) -> Any:
    referring = tables[reference.table].c[reference.column]
    parent_exists = exists().where(tables[reference.parent].c[reference.key] == referring)
    is_orphan = referring.is_not(None) & ~parent_exists.correlate(tables[reference.table])
    if not reference.deletions_column:
        return is_orphan
    table, _, column = reference.deletions_column.partition(".")
    return is_orphan & referring.not_in(select(tables[table].c[column]))


@dataclass(frozen=True)
class DatabaseProblem:
    """One problem that a check found.

    Attributes:
        code: For programs.
        message: For people.
        remedy: What to do if there is no `repair`.
        repair: Fixes the problem and returns what it did; None where that would not be safe.
    """

    code: str
    message: str
    remedy: str = ""
    repair: Repair | None = field(default=None, repr=False, compare=False)


async def check_database(database: Database) -> AsyncGenerator[DatabaseProblem]:
    """Check the revision, tables and columns, SQLite's pages, and rows whose parents are gone.

    Args:
        database: One that does not migrate by itself.

    Raises:
        Unavailable: The database cannot be read.
    """
    try:
        async for problem in _check_readable_database(database):
            yield problem
    except DatabaseDamaged as error:
        yield DatabaseProblem("damaged", error.message, REPAIR_COMMAND)


async def _check_readable_database(database: Database) -> AsyncGenerator[DatabaseProblem]:
    revision = await database.run_transaction(read_revision, write=False)
    damage = await database.run_transaction(_find_damage, write=False)
    for message in damage:
        yield DatabaseProblem("damaged", message, REPAIR_COMMAND)
    if damage:
        return
    if revision != find_head_revision():
        message = f"the database has revision {revision or 'none'}, not {find_head_revision()}"
        yield DatabaseProblem("revision", message, "outrider db migrate")
        return
    missing = False
    async for problem in _check_schema(database):
        missing = missing or problem.code == "missing"
        yield problem
    if missing:
        return
    for message in await database.run_transaction(_find_broken_references, write=False):
        yield DatabaseProblem("reference", message, "restore a backup if rows were not removed manually")
    async for problem in _check_orphans(database):
        yield problem


async def _check_schema(database: Database) -> AsyncGenerator[DatabaseProblem]:
    schema = await database.run_transaction(compare_schema, write=False)
    for name in schema.missing:
        yield DatabaseProblem("missing", f"{name} is missing", "restore a backup: a migration was undone manually")
    for name in schema.extra:
        yield DatabaseProblem("extra", f"{name} is unknown to Outrider", "drop it if no other program uses it")


async def check_artifact_files(database: Database, storage: Storage) -> AsyncGenerator[DatabaseProblem]:
    """Look for artifacts without a file and files without a row. Raises Unavailable."""
    min_age_s = 3_600.0  # a younger file without a row may belong to a call in progress
    files = {item.name: item.at async for item in storage.iter_items()}
    artifact_ids = await database.run_transaction(
        lambda connection: set(connection.execute(select(artifacts.c.id)).scalars()), write=False
    )
    lost = sorted(artifact_ids - files.keys())
    old = {name for name, at in files.items() if ARTIFACT_FILE_NAME.fullmatch(name) and time.time() - at > min_age_s}
    stray = sorted(old - artifact_ids)
    if lost:
        message = f"{len(lost)} artifacts have no file in {storage.location}"
        yield DatabaseProblem(
            "file_lost", message, "restore them from a backup", lambda: _delete_artifact_rows(database, lost)
        )
    if stray:

        async def remove_files() -> str:
            await storage.remove(stray)
            return f"removed {len(stray)} files"

        message = f"{len(stray)} files in {storage.location} belong to no artifact"
        yield DatabaseProblem("file_stray", message, repair=remove_files)


async def _check_orphans(database: Database) -> AsyncGenerator[DatabaseProblem]:
    tables = {table.name: table for table in list_tables()}
    for reference in list_usable_references(tables):

        def count_rows(connection: Connection, reference: TableReference = reference) -> int:
            return count_orphans(connection, tables, reference)

        number = await database.run_transaction(count_rows, write=False)
        if not number:
            continue
        message = f"{number} rows of {reference.table} refer to {reference.parent} that are gone"
        repair = _build_orphan_repair(database, tables, reference) if reference.is_derived else None
        remedy = "" if repair else "restore a backup if they were not removed manually"
        yield DatabaseProblem("orphans", message, remedy, repair)


def _build_orphan_repair(database: Database, tables: dict[str, Table], reference: TableReference) -> Repair:
    async def remove_rows() -> str:
        count = await database.run_transaction(
            lambda connection: delete_orphans(connection, tables, reference), write=True
        )
        return f"removed {count} rows of {reference.table}"

    return remove_rows


def _find_damage(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    findings = "\n".join(connection.exec_driver_sql("PRAGMA integrity_check(5)").scalars()).splitlines()
    return [f"SQLite: {finding}" for finding in findings[:5] if finding != "ok" and not finding.startswith("***")]


def _find_broken_references(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return [f"a row of {row[0]} refers to a row that does not exist" for row in rows[:5]]


async def _delete_artifact_rows(database: Database, ids: Sequence[str]) -> str:
    def delete_rows(connection: Connection) -> None:
        batch_size = 500  # below the limit of parameters in one statement
        for start in range(0, len(ids), batch_size):
            connection.execute(delete(artifacts).where(artifacts.c.id.in_(ids[start : start + batch_size])))

    await database.run_transaction(delete_rows, write=True)
    return f"removed {len(ids)} artifacts from the database"
