"""Compare the schema in the code with the schema of a database."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, inspect

from outrider.core.tables import metadata

# Rows about living processes, useless in a copy.
PROCESS_TABLES = frozenset({"replicas", "browser_sessions"})


@dataclass(frozen=True)
class SchemaDifferences:
    """Missing and extra tables, and columns as `table.column`."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]


def list_tables() -> Sequence[Table]:
    """Return the tables of all domains; referenced tables come first."""
    package = Path(__file__).parents[2]
    for path in sorted(package.rglob("tables.py")):
        importlib.import_module(".".join((package.name, *path.relative_to(package).with_suffix("").parts)))
    return metadata.sorted_tables


def compare_schema(connection: Connection) -> SchemaDifferences:
    """Return how the database's schema differs from the code's."""
    # Tables missing from the domains' `tables.py`: created at first use, by Alembic, or by full-text search.
    ignored_prefixes = ("alembic_version", "content_index_", "page_words", "rate_", "copy_progress")
    inspector = inspect(connection)
    actual_tables = set(inspector.get_table_names())
    expected = {table.name: {column.name for column in table.columns} for table in list_tables()}
    missing = sorted(set(expected) - actual_tables)
    extra = sorted(name for name in actual_tables - set(expected) if not name.startswith(ignored_prefixes))
    for name in sorted(actual_tables & set(expected)):
        columns = {column["name"] for column in inspector.get_columns(name)}
        missing += [f"{name}.{column}" for column in sorted(expected[name] - columns)]
        extra += [f"{name}.{column}" for column in sorted(columns - expected[name])]
    return SchemaDifferences(tuple(missing), tuple(extra))
