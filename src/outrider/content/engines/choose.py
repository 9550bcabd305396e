"""Which keyword index an installation uses."""

from importlib.util import find_spec
from pathlib import Path

from outrider.content.fts import FtsIndex
from outrider.content.index import Index
from outrider.core.db import Database


def keyword_index(database: Database, folder: Path, *, most: int = 32) -> Index:
    """Postgres where the rows are there; else files of SQLite, with tantivy for large stores if it is installed.

    Args:
        database: Where the rows are.
        folder: For derived files.
        most: Files held open at once.
    """
    if database.dialect != "sqlite":
        from outrider.content.engines.postgres import PostgresIndex

        return PostgresIndex(database)
    small = FtsIndex(folder, most=most)
    if find_spec("tantivy") is None:
        return small
    from outrider.content.engines.growing import GrowingIndex
    from outrider.content.engines.tantivy import TantivyIndex

    return GrowingIndex(small, TantivyIndex(folder.with_name(f"{folder.name}-large"), most=most))
