"""Letting an index catch up with the rows: what changed since it last looked, and no more."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
from sqlalchemy import select, tuple_

from outrider.content.lexical.analysis import extract_index_terms
from outrider.content.lexical.index import IndexChanges, IndexEntry, LexicalIndex, Watermark
from outrider.content.tables import content_stores as table
from outrider.core.database.database import Database

CONTENTS_PER_QUERY = 500


class IndexSync:
    """Brings an index up to the rows, store by store. Tasks that want the same at once share one catching up."""

    def __init__(self, database: Database, index: LexicalIndex) -> None:
        self._database = database
        self._index = index
        self._locks: dict[str, anyio.Lock] = {}

    async def catch_up(self, stores: Collection[str], marks: Mapping[str, Watermark] | None = None) -> None:
        """Returns when the index has all that was committed to these stores before the call.

        Args:
            stores: Their ids.
            marks: How far their rows are, where the caller has just read that.

        Raises:
            Unavailable: of database or index.
        """
        if marks is None:
            marks = {store: mark for store, (mark, _) in (await self._load_watermarks(stores)).items()}
        for store, wanted in marks.items():
            if (
                wanted == Watermark() or await self._index.read_watermark(store) == wanted
            ):  # without a change there is no file
                continue
            lock = self._locks.setdefault(store, anyio.Lock())
            async with lock:
                while not await self._advance_index(store, wanted):
                    pass
            if not lock.statistics().tasks_waiting:
                self._locks.pop(store, None)

    async def _advance_index(self, store: str, wanted: Watermark) -> bool:
        """Whether the index is there; if not, it is led on, as far as no other process moves it meanwhile."""
        seen = await self._index.read_watermark(store)
        target, swept = (await self._load_watermarks([store])).get(store, (seen, 0))
        if seen == target or wanted.generation <= seen.generation < target.generation:
            return True
        # An index that is ahead belongs to another copy of the database; one that is far behind missed removals.
        whole = seen.generation >= target.generation or seen.generation < swept
        async for changes in self._iter_changes(store, Watermark() if whole else seen, target):
            if not await self._index.apply_changes(replace(changes, is_full=whole), seen=seen):
                return False
            seen, whole = changes.watermark, False
        return False

    async def _load_watermarks(self, stores: Collection[str]) -> dict[str, tuple[Watermark, int]]:
        """Of each store that exists its mark, and the generation up to which removals are forgotten."""
        query = select(table.c.id, table.c.generation, table.c.stamp, table.c.swept).where(table.c.id.in_(stores))
        rows = await self._fetch_all(query)
        return {row.id: (Watermark(row.generation, row.stamp), row.swept) for row in rows}

    async def _iter_changes(self, store: str, since: Watermark, target: Watermark) -> AsyncIterator[IndexChanges]:
        """What changed after a mark, in steps.

        Whatever comes is dropped first, so any step may repeat: an index killed between two of them goes on from the
        last. The target was read before the rows: what is committed meanwhile is newer than it, and comes again.
        """
        max_step_chunks = 2_000  # that one step reads and hands over, unless a single content has more
        removed = await self._load_removals(store, since.generation)
        waiting: list[Any] = []
        async for content in self._iter_contents(store, since.generation):
            if waiting and sum(each.chunk_count for each in [*waiting, content]) > max_step_chunks:
                yield await self._build_changes(store, _build_watermark_before(content, since), removed, waiting)
                removed, waiting = [], []
            waiting.append(content)
        yield await self._build_changes(store, target, removed, waiting)

    async def _build_changes(
        self, store: str, mark: Watermark, removed: Sequence[str], contents: Sequence[Any]
    ) -> IndexChanges:
        rows = await self._load_chunks([each.id for each in contents])
        added = await anyio.to_thread.run_sync(_build_entries, contents, rows)
        return IndexChanges(store, mark, dropped=[*removed, *(each.id for each in contents)], added=added)

    async def _load_removals(self, store: str, since: int) -> list[str]:
        from outrider.content.tables import content_removals as table

        query = select(table.c.content_id).where(table.c.store_id == store, table.c.generation > since)
        return [row.content_id for row in await self._fetch_all(query)]

    async def _iter_contents(self, store: str, since: int) -> AsyncIterator[Any]:
        """The contents that are newer, oldest change first."""
        from outrider.content.tables import contents as table

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

    async def _load_chunks(self, contents: Sequence[str]) -> list[Any]:
        from outrider.content.tables import content_chunks as table

        columns = (table.c.id, table.c.content_id, table.c.heading, table.c.text)
        rows: list[Any] = []
        for first in range(0, len(contents), CONTENTS_PER_QUERY):
            some = table.c.content_id.in_(contents[first : first + CONTENTS_PER_QUERY])
            rows += await self._fetch_all(select(*columns).where(some))
        return rows

    async def _fetch_all(self, query: Any) -> list[Any]:
        return await self._database.run_transaction(lambda connection: list(connection.execute(query)), write=False)


def _build_watermark_before(content: Any, since: Watermark) -> Watermark:
    """A mark that says: all changes before this content's are taken over."""
    return Watermark(content.generation - 1, "") if content.generation - 1 > since.generation else since


def _build_entries(contents: Iterable[Any], rows: Iterable[Any]) -> list[IndexEntry]:
    """The index entries of chunks; a chunk's headings and its content's title count as its words."""
    about = {each.id: each for each in contents}
    entries = []
    for row in rows:
        content = about[row.content_id]
        terms, length = extract_index_terms((row.text, row.heading, content.title), content.language)
        entries.append(IndexEntry(row.id, row.content_id, terms, length))
    return entries
