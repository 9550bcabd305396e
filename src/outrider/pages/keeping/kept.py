"""The pages that the cache holds, as a list for the person who runs the house."""

from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from sqlalchemy import or_, select

from outrider.core.db import Database, storable
from outrider.core.errors import NotFound
from outrider.core.keyset import Batch, batch, mark, newest
from outrider.pages.keeping.cache import restored
from outrider.pages.page import Page
from outrider.pages.tables import pages as table


@dataclass(frozen=True)
class KeptPage:
    """What is known of a page without opening it; `size` in bytes as it is kept, `fetched_at` as in `Page`."""

    key: str
    url: str
    title: str
    content_type: str
    fetched_at: float
    size: int


async def listed(database: Database, *, text: str = "", after: str = "", limit: int = 50) -> Batch[KeptPage]:
    """The last fetched first, a part at a time.

    Args:
        database: Holds the cache.
        text: Only with this in title or address, whatever its case.
        after: Where the part begins, from the part before.
        limit: How many.

    Raises:
        InvalidInput: `after` is no place in the list.
    """
    columns: Any = [table.c[name] for name in KeptPage.__dataclass_fields__]
    query = newest(select(*columns), table.c.fetched_at, table.c.key, after).limit(limit + 1)
    if text:
        wanted = storable(text, 500)
        query = query.where(or_(*(place.icontains(wanted, autoescape=True) for place in (table.c.title, table.c.url))))
    async with database.read() as connection:
        rows = list(await connection.execute(query))
    return batch(rows, limit, _kept, lambda row: mark(row.fetched_at, row.key))


async def kept_page(database: Database, key: str) -> Page:
    """The page that is kept under a key. Raises NotFound, also for one whose row is damaged."""
    async with database.read() as connection:
        query = select(table).where(table.c.key == storable(key, 64))
        row = (await connection.execute(query)).mappings().first()
    found = await anyio.to_thread.run_sync(restored, row) if row is not None else None
    if found is None:
        raise NotFound("this page is not kept any more", hint="read it again", code="page_not_found")
    return found.page


def _kept(row: Any) -> KeptPage:
    return KeptPage(*row)
