"""Read the content stores of all sessions, for the operator's dashboard.

No tool uses this: what a model may see is limited to its call's session (`ContentStores`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from outrider.content import queries
from outrider.content.errors import content_not_found, store_not_found
from outrider.content.models import ContentRecord, Store
from outrider.content.search import ContentSearchResult, SearchOptions
from outrider.content.tables import content_chunks, content_stores, contents
from outrider.core.database.database import Database, to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first


@dataclass(frozen=True)
class OwnedStore:
    """A store with its scope (`Call.scope`), and the workspace and identity of that scope."""

    store: Store
    scope: str
    workspace: str | None = None
    identity: str | None = None


@dataclass(frozen=True)
class StoredPassage:
    """A chunk of a content; lines count from 1, both inclusive."""

    number: int
    heading: str
    from_line: int
    to_line: int
    text: str


class ContentOverview:
    """Reads the stores of all sessions.

    Args:
        database: Holds the stores.
        search_stores: Searches stores of any session.
    """

    def __init__(
        self, database: Database, search_stores: Callable[[str, SearchOptions], Awaitable[ContentSearchResult]]
    ) -> None:
        self._database = database
        self._search_stores = search_stores

    async def list_stores(
        self, *, text: str = "", workspace: str | None = None, after: str = "", limit: int = 50
    ) -> Batch[OwnedStore]:
        """List stores, newest first; `text` filters by name or description, `workspace` by workspace."""
        table = content_stores
        query = order_newest_first(select(table), table.c.created_at, table.c.id, after)
        if workspace is not None:
            query = query.where(table.c.workspace == to_storable_text(workspace, 200))
        if text:
            needle = to_storable_text(text, 200)
            query = query.where(
                or_(*(column.icontains(needle, autoescape=True) for column in (table.c.name, table.c.description)))
            )
        return await self._load_stores(query, limit)

    async def get_store(self, store_id: str) -> OwnedStore:
        """Return a store. Raises NotFound with code `STORE_NOT_FOUND`."""
        batch = await self._load_stores(
            select(content_stores).where(content_stores.c.id == to_storable_text(store_id, 40)), 1
        )
        if not batch.items:
            raise store_not_found(store_id[:40])
        return batch.items[0]

    async def list_contents(
        self, store_id: str, *, text: str = "", after: str = "", limit: int = 50
    ) -> Batch[ContentRecord]:
        """List the contents of a store, newest first; `text` filters by title, filename or source."""
        query = order_newest_first(select(contents), contents.c.uploaded_at, contents.c.id, after)
        query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
        query = query.where(contents.c.store_id == to_storable_text(store_id, 40)).limit(limit + 1)
        if text:
            needle = to_storable_text(text, 200)
            columns = (contents.c.title, contents.c.filename, contents.c.source)
            query = query.where(or_(*(column.icontains(needle, autoescape=True) for column in columns)))
        rows = await self._fetch_rows(query)
        return build_batch(rows, limit, queries.build_record, lambda row: format_cursor(row.uploaded_at, row.id))

    async def get_content(self, content_id: str) -> ContentRecord:
        """Return a content. Raises NotFound with code `CONTENT_NOT_FOUND`."""
        wanted_id = to_storable_text(content_id, 40)
        records = await self._database.run_transaction(
            lambda connection: queries.load_records(connection, [wanted_id]), write=False
        )
        if not records:
            raise content_not_found(wanted_id)
        return records[wanted_id]

    async def list_passages(self, content_id: str, *, first: int = 0, limit: int = 50) -> list[StoredPassage]:
        """Return passages of a content in order, starting at number `first`."""
        return [
            StoredPassage(row.number, row.heading, row.from_line, row.to_line, row.text)
            for row in await self._load_chunks(content_id, first, limit)
        ]

    async def iter_text(self, content_id: str) -> AsyncIterator[str]:
        """Yield the whole text of a content in pieces, exactly as stored."""
        batch_size = 200  # passages
        end, number = 0, 0
        while rows := await self._load_chunks(content_id, number, batch_size):
            for row in rows:
                yield row.text[max(end - row.start, 0) :]
                end = max(end, row.end)
            number = rows[-1].number + 1

    async def search(self, query: str, options: SearchOptions) -> ContentSearchResult:
        """Return the best passages of `options.stores`, as `ContentStores.search` does."""
        return await self._search_stores(query, options)

    async def _load_stores(self, query: Select[Any], limit: int) -> Batch[OwnedStore]:
        def read_batch(connection: Connection) -> Batch[OwnedStore]:
            rows = list(connection.execute(query.limit(limit + 1)))
            owned = [
                (OwnedStore(store, row.scope, row.workspace, row.identity), format_cursor(row.created_at, row.id))
                for store, row in zip(queries.build_stores(connection, rows), rows, strict=True)
            ]
            return build_batch(owned, limit, lambda pair: pair[0], lambda pair: pair[1])

        return await self._database.run_transaction(read_batch, write=False)

    async def _load_chunks(self, content_id: str, first: int, limit: int) -> list[Any]:
        table = content_chunks
        query = select(table).where(table.c.content_id == to_storable_text(content_id, 40), table.c.number >= first)
        query = query.join(contents, contents.c.id == table.c.content_id)
        query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
        return await self._fetch_rows(query.order_by(table.c.number).limit(limit))

    async def _fetch_rows(self, query: Select[Any]) -> list[Any]:
        return await self._database.run_transaction(lambda connection: list(connection.execute(query)), write=False)


def sum_content_bytes(connection: Connection, workspace: str, identity: str | None) -> int:
    """Return the bytes of contents in stores.

    Args:
        connection: In a transaction.
        workspace: The workspace; empty for callers without one.
        identity: Only this person's stores; None for everyone's in the workspace.
    """
    # Rows of callers without a workspace hold NULL.
    stores = content_stores.c
    owned = stores.workspace == workspace
    if not workspace:
        owned = or_(owned, stores.workspace.is_(None))
    store_ids = select(stores.id).where(owned)
    if identity is not None:
        store_ids = store_ids.where(stores.identity == identity)
    query = select(func.coalesce(func.sum(contents.c.size), 0)).where(contents.c.store_id.in_(store_ids))
    return int(connection.execute(query).scalar_one())
