"""What refers to what without a foreign key, and whether the referring row is of any use alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, select


@dataclass(frozen=True)
class Reference:
    """`table.column` names a row of `parent` by its `key`.

    Attributes:
        derived: The row can be reached by nothing but its parent, so that it may be removed where that is gone.
        noted: `table.column` that names parents which were deleted, and whose rows are still to be swept.
    """

    table: str
    column: str
    parent: str
    key: str = "id"
    derived: bool = True
    noted: str = ""


REFERENCES = (
    Reference("messages", "conversation_id", "conversations"),
    Reference("runs", "conversation_id", "conversations", derived=False),
    Reference("run_steps", "run_id", "runs"),
    Reference("run_turns", "run_id", "runs"),
    Reference("run_events", "run_id", "runs"),
    Reference("questions", "run_id", "runs"),
    Reference("contents", "store_id", "content_stores", noted="content_leftovers.store_id"),
    Reference("content_chunks", "content_id", "contents", noted="content_leftovers.content_id"),
    Reference("content_vectors", "chunk_id", "content_chunks"),
    Reference("content_removals", "store_id", "content_stores", noted="content_leftovers.store_id"),
    Reference("evaluation_records", "evaluation_id", "evaluations"),
    Reference("crawl_pages", "crawl", "crawls"),
    Reference("playbook_runs", "playbook", "playbooks"),
    Reference("identity_members", "workspace", "identity_workspaces", key="name", derived=False),
)


def usable(tables: "Mapping[str, Table]") -> list[Reference]:
    """The references between tables and columns that there are."""
    return [
        each
        for each in REFERENCES
        if each.table in tables
        and each.parent in tables
        and each.column in tables[each.table].c
        and each.key in tables[each.parent].c
    ]


def orphans(connection: "Connection", tables: "Mapping[str, Table]", reference: Reference) -> int:
    """How many rows refer to nothing."""
    return connection.execute(
        select(func.count()).select_from(tables[reference.table]).where(_lost(tables, reference))
    ).scalar_one()


def remove(connection: "Connection", tables: "Mapping[str, Table]", reference: Reference) -> int:
    """Removes them; how many went."""
    return connection.execute(delete(tables[reference.table]).where(_lost(tables, reference))).rowcount


def _lost(tables: "Mapping[str, Table]", reference: Reference) -> Any:
    mine = tables[reference.table].c[reference.column]
    there = exists().where(tables[reference.parent].c[reference.key] == mine).correlate(tables[reference.table])
    lost = mine.is_not(None) & ~there
    if not reference.noted:
        return lost
    table, _, column = reference.noted.partition(".")
    return lost & mine.not_in(select(tables[table].c[column]))
