"""Select the keyword index of an installation."""

from pathlib import Path

from outrider.content.lexical.file_index import FileIndex
from outrider.content.lexical.index import LexicalIndex
from outrider.core.database.database import Database


def open_lexical_index(database: Database, folder: Path, *, max_open: int = 128) -> LexicalIndex:
    """Return the index in Postgres or in SQLite files.

    It is in Postgres if the rows are.

    Args:
        database: Holds the rows.
        folder: For the index files.
        max_open: Index files to keep open at once, within the limit of open files.
    """
    if database.dialect != "sqlite":
        from outrider.content.lexical.engines.postgres import PostgresIndex

        return PostgresIndex(database)
    try:
        import resource
    except ImportError:  # Windows
        return FileIndex(folder, max_open=max_open)
    file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if file_limit != resource.RLIM_INFINITY:
        # An open index has three files. Use an eighth of the limit, and leave the rest to other code.
        max_open = min(max_open, max(file_limit // 8, 1))
    return FileIndex(folder, max_open=max_open)
