"""Which keyword index an installation uses."""

from pathlib import Path

from outrider.content.lexical.file_index import FileIndex
from outrider.content.lexical.index import LexicalIndex
from outrider.core.database.database import Database


def open_lexical_index(database: Database, folder: Path, *, max_open: int = 128) -> LexicalIndex:
    """Return the Postgres index where the rows are there; else files of SQLite.

    Args:
        database: Where the rows are.
        folder: For derived files.
        max_open: Files held open at once.
    """
    if database.dialect != "sqlite":
        from outrider.content.lexical.engines.postgres import PostgresIndex

        return PostgresIndex(database)
    return FileIndex(folder, max_open=min(max_open, _compute_open_limit()))


def _compute_open_limit() -> int:
    """How many indexes may be open: each has three files, and other things need some, too."""
    default_limit = 1_000
    files_per_index = 8  # so many files for each open index: a limit of 1,024, as is usual, means 128
    try:
        import resource
    except ImportError:  # Windows
        return default_limit
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return default_limit if soft == resource.RLIM_INFINITY else max(soft // files_per_index, 1)
