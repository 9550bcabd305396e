"""Bring keyword indexes up to date with the rows, incrementally."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from sqlalchemy import and_, func, select, tuple_

from outrider.content.lexical.analysis import extract_index_terms
from outrider.content.lexical.engines.select_index import open_lexical_index
from outrider.content.lexical.index import IndexChanges, IndexEntry, LexicalIndex, Watermark
from outrider.content.tables import content_chunks, content_leftovers, content_removals, content_stores, contents
from outrider.core.database.database import Database

CONTENTS_PER_QUERY = 500


class IndexSync:
    """Brings an index up to date, store by store. Concurrent callers share the work."""

    def __init__(self, database: Database, index: LexicalIndex) -> None:
        self._database = database
        self._index = index
        self._locks: dict[str, anyio.Lock] = {}

    async def catch_up(self, stores: Collection[str], watermarks: Mapping[str, Watermark] | None = None) -> None:
        """Return once the index reflects everything committed to these stores before the call.

        Args:
            stores: Their ids.
            watermarks: The watermarks of their rows, if the caller has just read them.

        Raises:
            Unavailable: The database or the index failed.
        """
        if watermarks is None:
            watermarks = {store: mark for store, (mark, _) in (await self._load_watermarks(stores)).items()}
        for store, target in watermarks.items():
            # A store without changes has no index file, and must not get one.
            if target == Watermark() or await self._index.read_watermark(store) == target:
                continue
            lock = self._locks.setdefault(store, anyio.Lock())
            async with lock:
                while not await self._advance_index(store, target):
                    pass
            if not lock.statistics().tasks_waiting:
                self._locks.pop(store, None)

    async def _advance_index(self, store: str, requested: Watermark) -> bool:
        """Return whether the index is up to date; otherwise advance it, unless another process is doing so."""
        current = await self._index.read_watermark(store)
        target, purged = (await self._load_watermarks([store])).get(store, (current, 0))
        if current == target or requested.generation <= current.generation < target.generation:
            return True
        # An index that is ahead belongs to another copy of the database; one that is far behind missed purged removals.
        rebuild = current.generation >= target.generation or current.generation < purged
        async for changes in self._iter_changes(store, Watermark() if rebuild else current, target):
            if not await self._index.apply_changes(replace(changes, is_full=rebuild), seen=current):
                return False
            current, rebuild = changes.watermark, False
        return False

    async def _load_watermarks(self, stores: Collection[str]) -> dict[str, tuple[Watermark, int]]:
        """Return each store's watermark, and the generation of purged removals.

        All removals up to that generation are purged.
        """
        table = content_stores
        query = select(table.c.id, table.c.generation, table.c.stamp, table.c.swept).where(table.c.id.in_(stores))
        rows = await self._fetch_all(query)
        return {row.id: (Watermark(row.generation, row.stamp), row.swept) for row in rows}

    async def _iter_changes(self, store: str, since: Watermark, target: Watermark) -> AsyncIterator[IndexChanges]:
        """Yield the changes after a watermark in batches.

        Every batch drops the contents that it adds, so it may be repeated: an index interrupted between two batches
        continues from the last one. The target was read before the rows, so later commits are newer and come again.
        """
        max_batch_chunks = 2_000  # unless a single content has more
        removals = content_removals
        query = select(removals.c.content_id).where(
            removals.c.store_id == store, removals.c.generation > since.generation
        )
        removed = [row.content_id for row in await self._fetch_all(query)]
        batch: list[Any] = []
        async for content in self._iter_contents(store, since.generation):
            if batch and sum(row.chunk_count for row in [*batch, content]) > max_batch_chunks:
                # All changes before this content's are complete; its own generation may have more contents to come.
                complete = content.generation - 1
                watermark = Watermark(complete, "") if complete > since.generation else since
                yield await self._build_changes(store, watermark, removed, batch)
                removed, batch = [], []
            batch.append(content)
        yield await self._build_changes(store, target, removed, batch)

    async def _build_changes(
        self, store: str, watermark: Watermark, removed: Sequence[str], contents: Sequence[Any]
    ) -> IndexChanges:
        table = content_chunks
        columns = (table.c.id, table.c.content_id, table.c.heading, table.c.text)
        ids = [content.id for content in contents]
        rows: list[Any] = []
        for first in range(0, len(ids), CONTENTS_PER_QUERY):
            batch = table.c.content_id.in_(ids[first : first + CONTENTS_PER_QUERY])
            rows += await self._fetch_all(select(*columns).where(batch))
        added = await anyio.to_thread.run_sync(build_entries, contents, rows)
        return IndexChanges(store, watermark, dropped=[*removed, *ids], added=added)

    async def _iter_contents(self, store: str, since: int) -> AsyncIterator[Any]:
        """Yield the contents that changed after a generation, oldest change first."""
        table = contents
        columns = (table.c.id, table.c.generation, table.c.chunk_count, table.c.language, table.c.title)
        order = tuple_(table.c.generation, table.c.id)
        last: tuple[int, str] = (since + 1, "")
        query = select(*columns).where(table.c.store_id == store).order_by(table.c.generation, table.c.id)
        while True:
            page = await self._fetch_all(query.where(order > last).limit(CONTENTS_PER_QUERY))
            for row in page:
                yield row
            if len(page) < CONTENTS_PER_QUERY:
                return
            last = (page[-1].generation, page[-1].id)

    async def _fetch_all(self, query: Any) -> list[Any]:
        return await self._database.run_transaction(lambda connection: list(connection.execute(query)), write=False)


def build_entries(contents: Iterable[Any], chunks: Iterable[Any]) -> list[IndexEntry]:
    """Build the index entries of chunks; headings and the content's title belong to the chunk's words."""
    contents_by_id = {content.id: content for content in contents}
    entries: list[IndexEntry] = []
    for chunk in chunks:
        content = contents_by_id[chunk.content_id]
        terms, length = extract_index_terms((chunk.text, chunk.heading, content.title), content.language)
        entries.append(IndexEntry(chunk.id, chunk.content_id, terms, length))
    return entries


@dataclass(frozen=True)
class IndexMismatch:
    """A store whose index has a different number of passages than its rows."""

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
