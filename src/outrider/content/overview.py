"""Stores as whoever runs the house sees them: of every session, to be looked at and never changed.

No tool comes here; what a model may see goes by its call's session (`Content`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, or_, select

from outrider.content import reading
from outrider.content.failures import content_not_found, store_not_found
from outrider.content.record import Record, Store
from outrider.content.search import Found, SearchOptions
from outrider.content.tables import content_stores, contents
from outrider.content.tables import content_stores as table
from outrider.core.db import Database, storable
from outrider.core.keyset import Batch, batch, mark, newest

AT_ONCE = 200  # passages that are read together


@dataclass(frozen=True)
class OwnedStore:
    """A store, the scope (`Call.scope`) that it belongs to, and what that was made of beside the session."""

    store: Store
    scope: str
    workspace: str | None = None
    identity: str | None = None


@dataclass(frozen=True)
class Chunk:
    """A passage of a content; lines from 1, both included.."""

    number: int
    heading: str
    from_line: int
    to_line: int
    text: str


class Overview:
    """The stores of all sessions.

    Args:
        database: Holds them.
        find: Searches stores, whosever they are.
    """

    def __init__(self, database: Database, find: "Callable[[str, SearchOptions], Awaitable[Found]]") -> None:
        self._database = database
        self._find = find

    async def stores(
        self, *, text: str = "", workspace: str | None = None, after: str = "", limit: int = 50
    ) -> Batch[OwnedStore]:
        """Stores, the newest first; only with this text in name or description, or of a workspace, if one is given."""
        query = newest(select(table), table.c.created_at, table.c.id, after)
        if workspace is not None:
            query = query.where(table.c.workspace == storable(workspace, 200))
        if text:
            wanted = storable(text, 200)
            query = query.where(
                or_(*(column.icontains(wanted, autoescape=True) for column in (table.c.name, table.c.description)))
            )
        return await self._stores(query, limit)

    async def store(self, store_id: str) -> OwnedStore:
        """The store of that id. Raises NotFound: code `STORE_NOT_FOUND`."""
        found = await self._stores(select(table).where(table.c.id == storable(store_id, 40)), 1)
        if not found.items:
            raise store_not_found(store_id[:40])
        return found.items[0]

    async def contents(self, store_id: str, *, text: str = "", after: str = "", limit: int = 50) -> Batch[Record]:
        """What a store holds, the newest first; only with this text in title, filename or source, if one is given."""
        from outrider.content.tables import contents as table

        query = newest(select(table), table.c.uploaded_at, table.c.id, after)
        query = query.join(content_stores, content_stores.c.id == table.c.store_id)
        query = query.where(table.c.store_id == storable(store_id, 40)).limit(limit + 1)
        if text:
            wanted = storable(text, 200)
            places = (table.c.title, table.c.filename, table.c.source)
            query = query.where(or_(*(place.icontains(wanted, autoescape=True) for place in places)))
        rows = await self._rows(query)
        return batch(rows, limit, reading.record, lambda row: mark(row.uploaded_at, row.id))

    async def content(self, content_id: str) -> Record:
        """The content of that id. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        wanted = storable(content_id, 40)
        found = await self._database.short(lambda connection: reading.records_by_id(connection, [wanted]), write=False)
        if not found:
            raise content_not_found(wanted)
        return found[wanted]

    async def passages(self, content_id: str, *, first: int = 0, limit: int = 50) -> list[Chunk]:
        """Its passages in order, from that number on."""
        return [
            Chunk(row.number, row.heading, row.from_line, row.to_line, row.text)
            for row in await self._chunks(content_id, first, limit)
        ]

    async def text(self, content_id: str) -> AsyncIterator[str]:
        """All of its text, piece by piece, exactly as it is."""
        reached, number = 0, 0
        while rows := await self._chunks(content_id, number, AT_ONCE):
            for row in rows:
                yield row.text[max(reached - row.start, 0) :]
                reached = max(reached, row.end)
            number = rows[-1].number + 1

    async def search(self, query: str, options: "SearchOptions") -> "Found":
        """The passages of `options.stores` that match best. As `Content.search`."""
        return await self._find(query, options)

    async def _stores(self, query: "Select[Any]", limit: int) -> Batch[OwnedStore]:
        limited = query.limit(limit + 1)
        return await self._database.short(lambda connection: _owned(connection, limited, limit), write=False)

    async def _chunks(self, content_id: str, first: int, limit: int) -> list[Any]:
        from outrider.content.tables import content_chunks as table

        query = select(table).where(table.c.content_id == storable(content_id, 40), table.c.number >= first)
        query = query.join(contents, contents.c.id == table.c.content_id)
        query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
        return await self._rows(query.order_by(table.c.number).limit(limit))

    async def _rows(self, query: "Select[Any]") -> list[Any]:
        return await self._database.short(lambda connection: list(connection.execute(query)), write=False)


def _owned(connection: Any, query: "Select[Any]", limit: int) -> Batch[OwnedStore]:
    rows = list(connection.execute(query))
    stores = reading.with_figures(connection, rows)
    pairs = [
        (OwnedStore(store, row.scope, row.workspace, row.identity), row)
        for store, row in zip(stores, rows, strict=True)
    ]
    return batch(pairs, limit, lambda pair: pair[0], lambda pair: mark(pair[1].created_at, pair[1].id))
