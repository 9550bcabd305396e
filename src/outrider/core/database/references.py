"""References between tables that are not foreign keys, and the orphans they leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, select


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
