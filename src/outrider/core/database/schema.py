"""The schema as the code says it, and as a database has it."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, inspect

from outrider.core.tables import metadata

# What these say of living processes is of no use to any other.
PROCESS_TABLES = frozenset({"replicas", "browser_sessions"})


@dataclass(frozen=True)
class SchemaDifferences:
    """What a database lacks, and what it has besides: names of tables, and of columns as `table.column`."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]


def list_tables() -> "Sequence[Table]":
    """The tables of all domains; what others refer to comes first."""
    package = Path(__file__).parents[2]
    for path in sorted(package.rglob("tables.py")):
        importlib.import_module(".".join((package.name, *path.relative_to(package).with_suffix("").parts)))
    return metadata.sorted_tables


def compare_schema(connection: "Connection") -> SchemaDifferences:
    """How the database's schema differs from the code's."""
    # Tables that no domain's `tables.py` describes: made at first use, or the migrations' own, or of a full-text search.
    ignored_prefixes = ("alembic_version", "content_index_", "page_words", "rate_", "copy_progress")
    found = inspect(connection)
    there = set(found.get_table_names())
    wanted = {table.name: {column.name for column in table.columns} for table in list_tables()}
    missing = sorted(set(wanted) - there)
    extra = sorted(name for name in there - set(wanted) if not name.startswith(ignored_prefixes))
    for name in sorted(there & set(wanted)):
        columns = {column["name"] for column in found.get_columns(name)}
        missing += [f"{name}.{column}" for column in sorted(wanted[name] - columns)]
        extra += [f"{name}.{column}" for column in sorted(columns - wanted[name])]
    return SchemaDifferences(tuple(missing), tuple(extra))
