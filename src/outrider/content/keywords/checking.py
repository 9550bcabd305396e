"""Whether keyword indexes hold what the rows of their stores say."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, and_, func, select

from outrider.content.keywords.engines.choose import keyword_index
from outrider.content.keywords.following import Follower
from outrider.content.tables import content_chunks, content_leftovers, content_stores
from outrider.core.db import Database


@dataclass(frozen=True)
class Unfaithful:
    """A store whose index has another number of passages than its rows."""

    store: str
    passages: int
    indexed: int


async def unfaithful(database: "Database", folder: Path, *, repair: bool) -> AsyncGenerator[Unfaithful]:
    """The stores whose index, brought up to date first, differs from their rows.

    Args:
        database: Where the rows are.
        folder: Of derived files, as `Content` was given it.
        repair: Whether such an index is made anew.

    Raises:
        Unavailable: Rows or index cannot be read.
    """
    index = keyword_index(database, folder / "keywords")
    follower = Follower(database, index)
    try:
        for store, passages in (await database.short(_passages, write=False)).items():
            await follower.catch_up([store])
            indexed = (await index.candidates((), [store], 0)).chunks
            if indexed == passages:
                continue
            if repair:
                await index.rebuild(store)
                await follower.catch_up([store])
            yield Unfaithful(store, passages, indexed)
    finally:
        await index.close()


def _passages(connection: "Connection") -> dict[str, int]:

    deleted = content_chunks.c.content_id.in_(select(content_leftovers.c.content_id))
    counted = (
        select(content_stores.c.id, func.count(content_chunks.c.id))
        .select_from(content_stores)
        .outerjoin(content_chunks, and_(content_chunks.c.store_id == content_stores.c.id, ~deleted))
        .group_by(content_stores.c.id)
    )
    return {row[0]: row[1] for row in connection.execute(counted)}
