"""The pages that the cache holds, as a list for the person who runs the house."""

from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from sqlalchemy import or_, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
from outrider.pages.cache.cache import restore_entry
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.tables import pages as table


@dataclass(frozen=True)
class CachedPage:
    """What is known of a page without opening it; `size` in bytes as it is kept, `fetched_at` as in `Page`."""

    key: str
    url: str
    title: str
    content_type: str
    fetched_at: float
    size: int


async def list_pages(database: Database, *, text: str = "", after: str = "", limit: int = 50) -> Batch[CachedPage]:
    """The last fetched first, a part at a time.

    Args:
        database: Holds the cache.
        text: Only with this in title or address, whatever its case.
        after: Where the part begins, from the part before.
        limit: How many.

    Raises:
        InvalidInput: `after` is no place in the list.
    """
    columns: Any = [table.c[name] for name in CachedPage.__dataclass_fields__]
    query = order_newest_first(select(*columns), table.c.fetched_at, table.c.key, after).limit(limit + 1)
    if text:
        wanted = to_storable_text(text, 500)
        query = query.where(or_(*(place.icontains(wanted, autoescape=True) for place in (table.c.title, table.c.url))))
    async with database.read() as connection:
        rows = list(await connection.execute(query))
    return build_batch(rows, limit, _kept, lambda row: format_cursor(row.fetched_at, row.key))


async def load_page(database: Database, key: str) -> FetchedPage:
    """The page that is kept under a key. Raises NotFound, also for one whose row is damaged."""
    async with database.read() as connection:
        query = select(table).where(table.c.key == to_storable_text(key, 64))
        row = (await connection.execute(query)).mappings().first()
    found = await anyio.to_thread.run_sync(restore_entry, row) if row is not None else None
    if found is None:
        raise NotFound("this page is not kept any more", hint="read it again", code="page_not_found")
    return found.page


def _kept(row: Any) -> CachedPage:
    return CachedPage(*row)
