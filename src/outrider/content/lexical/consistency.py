"""Whether keyword indexes hold what the rows of their stores say."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, and_, func, select

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


async def find_mismatches(database: "Database", folder: Path, *, repair: bool) -> AsyncGenerator[IndexMismatch]:
    """The stores whose index, brought up to date first, differs from their rows.

    Args:
        database: Where the rows are.
        folder: Of derived files, as `Content` was given it.
        repair: Whether such an index is made anew.

    Raises:
        Unavailable: Rows or index cannot be read.
    """
    index = open_lexical_index(database, folder / "keywords")
    follower = IndexSync(database, index)
    try:
        for store, passages in (await database.run_transaction(_count_passages, write=False)).items():
            await follower.catch_up([store])
            indexed = (await index.find_candidates((), [store], 0)).chunks
            if indexed == passages:
                continue
            if repair:
                await index.clear_store(store)
                await follower.catch_up([store])
            yield IndexMismatch(store, passages, indexed)
    finally:
        await index.close()


def _count_passages(connection: "Connection") -> dict[str, int]:

    deleted = content_chunks.c.content_id.in_(select(content_leftovers.c.content_id))
    counted = (
        select(content_stores.c.id, func.count(content_chunks.c.id))
        .select_from(content_stores)
        .outerjoin(content_chunks, and_(content_chunks.c.store_id == content_stores.c.id, ~deleted))
        .group_by(content_stores.c.id)
    )
    return {row[0]: row[1] for row in connection.execute(counted)}
