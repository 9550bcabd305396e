"""What refers to what without a foreign key, and whether the referring row is of any use alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, select


@dataclass(frozen=True)
class TableReference:
    """`table.column` names a row of `parent` by its `key`.

    Attributes:
        is_derived: The row can be reached by nothing but its parent, so that it may be removed where that is gone.
        deletions_column: `table.column` that names parents which were deleted, and whose rows are still to be swept.
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
    TableReference("questions", "run_id", "runs"),
    TableReference("contents", "store_id", "content_stores", deletions_column="content_leftovers.store_id"),
    TableReference("content_chunks", "content_id", "contents", deletions_column="content_leftovers.content_id"),
    TableReference("content_vectors", "chunk_id", "content_chunks"),
    TableReference("content_removals", "store_id", "content_stores", deletions_column="content_leftovers.store_id"),
    TableReference("evaluation_records", "evaluation_id", "evaluations"),
    TableReference("crawl_pages", "crawl", "crawls"),
    TableReference("playbook_runs", "playbook", "playbooks"),
    TableReference("identity_members", "workspace", "identity_workspaces", key="name", is_derived=False),
)


def list_usable_references(tables: "Mapping[str, Table]") -> list[TableReference]:
    """The references between tables and columns that there are."""
    return [
        each
        for each in TABLE_REFERENCES
        if each.table in tables
        and each.parent in tables
        and each.column in tables[each.table].c
        and each.key in tables[each.parent].c
    ]


def count_orphans(connection: "Connection", tables: "Mapping[str, Table]", reference: TableReference) -> int:
    """How many rows refer to nothing."""
    return connection.execute(
        select(func.count()).select_from(tables[reference.table]).where(_build_orphan_filter(tables, reference))
    ).scalar_one()


def delete_orphans(connection: "Connection", tables: "Mapping[str, Table]", reference: TableReference) -> int:
    """Removes them; how many went."""
    return connection.execute(delete(tables[reference.table]).where(_build_orphan_filter(tables, reference))).rowcount


def _build_orphan_filter(tables: "Mapping[str, Table]", reference: TableReference) -> Any:
    mine = tables[reference.table].c[reference.column]
    there = exists().where(tables[reference.parent].c[reference.key] == mine).correlate(tables[reference.table])
    lost = mine.is_not(None) & ~there
    if not reference.deletions_column:
        return lost
    table, _, column = reference.deletions_column.partition(".")
    return lost & mine.not_in(select(tables[table].c[column]))
