"""Stores as whoever runs the house sees them: of every session, to be looked at and never changed.

No tool comes here; what a model may see goes by its call's session (`Content`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, or_, select

from outrider.content import queries
from outrider.content.errors import content_not_found, store_not_found
from outrider.content.models import ContentRecord, Store
from outrider.content.search import ContentSearchResult, SearchOptions
from outrider.content.tables import content_stores, contents
from outrider.content.tables import content_stores as table
from outrider.core.database.database import Database, to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first


@dataclass(frozen=True)
class OwnedStore:
    """A store, the scope (`Call.scope`) that it belongs to, and what that was made of beside the session."""

    store: Store
    scope: str
    workspace: str | None = None
    identity: str | None = None


@dataclass(frozen=True)
class StoredPassage:
    """A passage of a content; lines from 1, both included.."""

    number: int
    heading: str
    from_line: int
    to_line: int
    text: str


class ContentOverview:
    """The stores of all sessions.

    Args:
        database: Holds them.
        find: Searches stores, whosever they are.
    """

    def __init__(
        self, database: Database, find: "Callable[[str, SearchOptions], Awaitable[ContentSearchResult]]"
    ) -> None:
        self._database = database
        self._search_stores = find

    async def list_stores(
        self, *, text: str = "", workspace: str | None = None, after: str = "", limit: int = 50
    ) -> Batch[OwnedStore]:
        """Stores, the newest first; only with this text in name or description, or of a workspace, if one is given."""
        query = order_newest_first(select(table), table.c.created_at, table.c.id, after)
        if workspace is not None:
            query = query.where(table.c.workspace == to_storable_text(workspace, 200))
        if text:
            wanted = to_storable_text(text, 200)
            query = query.where(
                or_(*(column.icontains(wanted, autoescape=True) for column in (table.c.name, table.c.description)))
            )
        return await self._load_stores(query, limit)

    async def get_store(self, store_id: str) -> OwnedStore:
        """The store of that id. Raises NotFound: code `STORE_NOT_FOUND`."""
        found = await self._load_stores(select(table).where(table.c.id == to_storable_text(store_id, 40)), 1)
        if not found.items:
            raise store_not_found(store_id[:40])
        return found.items[0]

    async def list_contents(
        self, store_id: str, *, text: str = "", after: str = "", limit: int = 50
    ) -> Batch[ContentRecord]:
        """What a store holds, the newest first; only with this text in title, filename or source, if one is given."""
        from outrider.content.tables import contents as table

        query = order_newest_first(select(table), table.c.uploaded_at, table.c.id, after)
        query = query.join(content_stores, content_stores.c.id == table.c.store_id)
        query = query.where(table.c.store_id == to_storable_text(store_id, 40)).limit(limit + 1)
        if text:
            wanted = to_storable_text(text, 200)
            places = (table.c.title, table.c.filename, table.c.source)
            query = query.where(or_(*(place.icontains(wanted, autoescape=True) for place in places)))
        rows = await self._fetch_rows(query)
        return build_batch(rows, limit, queries.build_record, lambda row: format_cursor(row.uploaded_at, row.id))

    async def get_content(self, content_id: str) -> ContentRecord:
        """The content of that id. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        wanted = to_storable_text(content_id, 40)
        found = await self._database.run_transaction(
            lambda connection: queries.load_records(connection, [wanted]), write=False
        )
        if not found:
            raise content_not_found(wanted)
        return found[wanted]

    async def list_passages(self, content_id: str, *, first: int = 0, limit: int = 50) -> list[StoredPassage]:
        """Its passages in order, from that number on."""
        return [
            StoredPassage(row.number, row.heading, row.from_line, row.to_line, row.text)
            for row in await self._load_chunks(content_id, first, limit)
        ]

    async def iter_text(self, content_id: str) -> AsyncIterator[str]:
        """All of its text, piece by piece, exactly as it is."""
        batch_size = 200  # passages that are read together
        reached, number = 0, 0
        while rows := await self._load_chunks(content_id, number, batch_size):
            for row in rows:
                yield row.text[max(reached - row.start, 0) :]
                reached = max(reached, row.end)
            number = rows[-1].number + 1

    async def search(self, query: str, options: "SearchOptions") -> "ContentSearchResult":
        """The passages of `options.stores` that match best. As `Content.search`."""
        return await self._search_stores(query, options)

    async def _load_stores(self, query: "Select[Any]", limit: int) -> Batch[OwnedStore]:
        limited = query.limit(limit + 1)
        return await self._database.run_transaction(
            lambda connection: _read_owned_stores(connection, limited, limit), write=False
        )

    async def _load_chunks(self, content_id: str, first: int, limit: int) -> list[Any]:
        from outrider.content.tables import content_chunks as table

        query = select(table).where(table.c.content_id == to_storable_text(content_id, 40), table.c.number >= first)
        query = query.join(contents, contents.c.id == table.c.content_id)
        query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
        return await self._fetch_rows(query.order_by(table.c.number).limit(limit))

    async def _fetch_rows(self, query: "Select[Any]") -> list[Any]:
        return await self._database.run_transaction(lambda connection: list(connection.execute(query)), write=False)


def _read_owned_stores(connection: Any, query: "Select[Any]", limit: int) -> Batch[OwnedStore]:
    rows = list(connection.execute(query))
    stores = queries.build_stores(connection, rows)
    pairs = [
        (OwnedStore(store, row.scope, row.workspace, row.identity), row)
        for store, row in zip(stores, rows, strict=True)
    ]
    return build_batch(pairs, limit, lambda pair: pair[0], lambda pair: format_cursor(pair[1].created_at, pair[1].id))
