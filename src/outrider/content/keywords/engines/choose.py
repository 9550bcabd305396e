"""Which keyword index an installation uses."""

from importlib.util import find_spec
from pathlib import Path

from outrider.content.keywords.engines.growing import GrowingIndex
from outrider.content.keywords.engines.tantivy import TantivyIndex
from outrider.content.keywords.file_index import FileIndex
from outrider.content.keywords.index import Index
from outrider.core.db import Database

LARGE_OPEN = 32  # of those by tantivy, which has many files each
SHARE = 8  # so many files for each open index: a limit of 1,024, as is usual, means 128
WITHOUT_LIMIT = 1_000


def keyword_index(database: Database, folder: Path, *, most: int = 128) -> Index:
    """Postgres where the rows are there; else files of SQLite, with tantivy for large stores if it is installed.

    Args:
        database: Where the rows are.
        folder: For derived files.
        most: Files held open at once.
    """
    if database.dialect != "sqlite":
        from outrider.content.keywords.engines.postgres import PostgresIndex

        return PostgresIndex(database)
    most = min(most, _bearable())
    small = FileIndex(folder, most=most)
    if find_spec("tantivy") is None:
        return small

    return GrowingIndex(small, TantivyIndex(folder.with_name(f"{folder.name}-large"), most=min(most, LARGE_OPEN)))


def _bearable() -> int:
    """How many indexes may be open: each has three files, and other things need some, too."""
    try:
        import resource
    except ImportError:  # Windows
        return WITHOUT_LIMIT
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return WITHOUT_LIMIT if soft == resource.RLIM_INFINITY else max(soft // SHARE, 1)
