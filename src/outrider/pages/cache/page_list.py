"""List the cached pages for operators."""

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
    """A cached page without its content. `size` is in stored bytes, `fetched_at` as in `FetchedPage`."""

    key: str
    url: str
    title: str
    content_type: str
    fetched_at: float
    size: int


async def list_pages(database: Database, *, text: str = "", after: str = "", limit: int = 50) -> Batch[CachedPage]:
    """List cached pages in batches, the last fetched first.

    Args:
        database: The database of the cache.
        text: Only pages with this text in title or address, in any case.
        after: Cursor of the batch before.
        limit: Size of the batch.

    Raises:
        InvalidInput: `after` is not a valid cursor.
    """
    columns: Any = [table.c[name] for name in CachedPage.__dataclass_fields__]
    query = order_newest_first(select(*columns), table.c.fetched_at, table.c.key, after).limit(limit + 1)
    if text:
        needle = to_storable_text(text, 500)
        query = query.where(
            or_(*(column.icontains(needle, autoescape=True) for column in (table.c.title, table.c.url)))
        )
    async with database.read() as connection:
        rows = list(await connection.execute(query))
    return build_batch(rows, limit, lambda row: CachedPage(*row), lambda row: format_cursor(row.fetched_at, row.key))


async def load_page(database: Database, key: str) -> FetchedPage:
    """Load the cached page with this key.

    Raises:
        NotFound: The row is missing or damaged.
    """
    async with database.read() as connection:
        query = select(table).where(table.c.key == to_storable_text(key, 64))
        row = (await connection.execute(query)).mappings().first()
    entry = await anyio.to_thread.run_sync(restore_entry, row) if row is not None else None
    if entry is None:
        raise NotFound("this page has been removed from the cache", hint="read it again", code="page_not_found")
    return entry.page
