"""Check that keyword indexes match the rows of their stores."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import and_, func, select

from outrider.content.lexical.engines.select_index import open_lexical_index
from outrider.content.lexical.index_sync import IndexSync
from outrider.content.tables import content_chunks, content_leftovers, content_stores
from outrider.core.database.database import Database


@dataclass(frozen=True)
class IndexMismatch:
    """A store whose index has another number of passages than its rows."""

    store: str
    passages: int
    indexed: int


async def find_mismatches(database: Database, folder: Path, *, repair: bool) -> AsyncGenerator[IndexMismatch]:
    """Yield the stores whose index, once brought up to date, differs from their rows.

    Args:
        database: Holds the rows.
        folder: The folder of derived files, as given to `ContentStores`.
        repair: Whether to rebuild such an index.

    Raises:
        Unavailable: The rows or an index cannot be read.
    """
    index = open_lexical_index(database, folder / "keywords")
    index_sync = IndexSync(database, index)
    deleted = content_chunks.c.content_id.in_(select(content_leftovers.c.content_id))
    query = (
        select(content_stores.c.id, func.count(content_chunks.c.id))
        .select_from(content_stores)
        .outerjoin(content_chunks, and_(content_chunks.c.store_id == content_stores.c.id, ~deleted))
        .group_by(content_stores.c.id)
    )
    try:
        counts = await database.run_transaction(lambda connection: list(connection.execute(query)), write=False)
        for store, passages in counts:
            await index_sync.catch_up([store])
            indexed = (await index.find_candidates((), [store], 0)).chunks
            if indexed == passages:
                continue
            if repair:
                await index.clear_store(store)
                await index_sync.catch_up([store])
            yield IndexMismatch(store, passages, indexed)
    finally:
        await index.close()
