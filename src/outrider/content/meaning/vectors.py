"""Finding chunks by meaning: vectors as rows of the database, and their signs in files for a quick first look."""

import hashlib
import logging
import shutil
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from sqlalchemy import Connection, Executable, exists, func, select, update

from outrider.content.meaning.codes import Found, StoreCodes
from outrider.content.meaning.embedder import Embedder
from outrider.content.tables import content_chunks, content_stores, content_vectors, contents
from outrider.content.tables import content_leftovers as deleted
from outrider.content.tables import content_stores as table
from outrider.core.db import Database
from outrider.core.errors import Unavailable

T = TypeVar("T")
log = logging.getLogger(__name__)
BATCH = 64  # chunks in one call of the embedder and one transaction
PAGE = 20_000  # vectors read at once when codes catch up
AT_ONCE = 500  # ids in one statement
OPEN = 64  # stores whose codes stay mapped
# Candidates that are looked at exactly, for each result wanted and at least; more than a hundred thousand vectors need
# more, and the root of their number is enough: of the true ten 100 % at 100,000, 91 % of a million with 400
# (bench/content_vectors.py).
OVERSAMPLE = 20
LEAST = 400
ROUNDS = 4  # looks, each at twice as many, where the likeliest turn out to be deleted


@dataclass(frozen=True)
class Near:
    """A chunk and the cosine between its vector and the query's, from 0 (nothing in common) to 1."""

    chunk: str
    score: float


class Vectors:
    """The vectors of all stores under one embedder; those of another are never looked at.

    Args:
        database: Holds `content_chunks` and `content_vectors`.
        embedder: Makes the vectors.
        folder: For derived files, nobody else's.
    """

    def __init__(self, database: Database, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        self._database = database
        self._folder = folder
        self._open: OrderedDict[str, StoreCodes] = OrderedDict()
        self._looking = anyio.Lock()
        self._embedding = anyio.Lock()
        self._complete: dict[str, int] = {}  # by store the generation at which every chunk had a vector

    async def pending(self, stores: Sequence[str]) -> int:
        """How many chunks of these stores have no vector of this embedder yet."""
        from outrider.content.tables import content_chunks as chunks

        total = 0
        for store, generation in (await self._generations(stores)).items():
            if self._complete.get(store) == generation:
                continue
            query = select(func.count()).select_from(chunks).join(contents, contents.c.id == chunks.c.content_id)
            query = query.where(chunks.c.store_id == store, self._lacks())
            missing = (await self._rows(query))[0][0]
            if not missing:
                self._complete[store] = generation
            total += missing
        return total

    async def embed(self, stores: Sequence[str] | None = None, *, limit: int = 1_000) -> int:
        """Gives vectors to chunks that have none, newest contents first.

        Args:
            stores: Only of these; all by default.
            limit: At most so many chunks.

        Returns:
            How many were done; 0 if none is left.

        Raises:
            NotConfigured, Unavailable: The embedder's; what was done before stays.
        """
        done = 0
        for store, generation in (await self._generations(stores)).items():
            if self._complete.get(store) == generation:
                continue
            while done < limit:
                count = await self._batch(store, min(BATCH, limit - done))
                if not count:
                    self._complete[store] = generation
                    break
                done += count
        return done

    async def _batch(self, store: str, limit: int) -> int:
        """Does some chunks; one task at a time, since two would do the same ones."""
        async with self._embedding:
            waiting = await self._lacking(store, limit)
            if waiting:
                vectors = await self.embedder.embed([_worded(each) for each in waiting])
                await self._keep(store, waiting, vectors)
        return len(waiting)

    async def nearest(
        self, query: str, stores: Sequence[str], limit: int, *, within: Collection[str] | None = None
    ) -> list[Near]:
        """The chunks nearest in meaning, best first.

        Args:
            query: What is looked for.
            stores: Where.
            limit: How many.
            within: Only chunks of these contents.

        Raises:
            NotConfigured, Unavailable: The embedder's.
        """
        [vector] = await self.embedder.embed([query], query=True)
        wanted = max(limit * OVERSAMPLE, LEAST)
        near: list[Near] = []
        for _ in range(ROUNDS):
            found = await self._candidates(vector, stores, wanted, within)
            near, gone = await self._rescored(vector, found, within)
            if not gone or len(near) >= limit:
                break
            wanted *= 2
        return near[:limit]

    async def forget(self, store: str) -> None:
        """Lets go of the derived codes of a store; they are made anew when they are needed."""
        async with self._looking:
            self._open.pop(store, None)
            self._complete.pop(store, None)
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder / store, ignore_errors=True))

    async def close(self) -> None:
        """Lets go of files and of the embedder."""
        self._open.clear()
        await self.embedder.close()

    async def _generations(self, stores: Sequence[str] | None) -> dict[str, int]:
        """By store, the last changed first, its count of changes."""
        query = select(table.c.id, table.c.generation).order_by(table.c.modified_at.desc())
        if stores is not None:
            query = query.where(table.c.id.in_(stores))
        return {row.id: row.generation for row in await self._rows(query)}

    def _lacks(self) -> Any:
        """That a chunk has no vector of this embedder."""
        from outrider.content.tables import content_chunks as chunks
        from outrider.content.tables import content_vectors as vectors

        there = (vectors.c.chunk_id == chunks.c.id, vectors.c.embedder == self.embedder.name)
        return ~exists().where(*there).correlate(chunks)

    async def _lacking(self, store: str, limit: int) -> list[Any]:
        from outrider.content.tables import content_chunks as chunks

        columns = (chunks.c.id, chunks.c.content_id, contents.c.title, chunks.c.heading, chunks.c.text)
        query = (
            select(*columns)
            .join(contents, contents.c.id == chunks.c.content_id)
            .where(chunks.c.store_id == store, self._lacks())
            .order_by(contents.c.modified_at.desc(), chunks.c.number)
            .limit(limit)
        )
        return await self._rows(query)

    async def _keep(self, store: str, rows: Sequence[Any], vectors: "np.ndarray") -> None:
        """One transaction; what was deleted meanwhile, or done by another process, is left out."""
        halves = vectors.astype("<f2")
        name = self.embedder.name
        insert = self._database.insert(content_vectors).on_conflict_do_nothing()
        of_store = content_stores.c.id == store
        count = update(content_stores).where(of_store).values(embedded=content_stores.c.embedded + 1)

        def kept(connection: "Connection") -> None:
            number = connection.execute(count.returning(content_stores.c.embedded)).scalar()
            ids = select(content_chunks.c.id).join(contents, contents.c.id == content_chunks.c.content_id)
            ids = ids.where(content_chunks.c.id.in_([each.id for each in rows]))
            there = set(connection.execute(ids).scalars())
            values = [
                {
                    "chunk_id": each.id,
                    "embedder": name,
                    "content_id": each.content_id,
                    "store_id": store,
                    "embedded": number,
                    "vector": half.tobytes(),
                }
                for each, half in zip(rows, halves, strict=True)
                if each.id in there
            ]
            if number is not None and values:
                connection.execute(insert, values)

        await self._database.short(kept, write=True)

    async def _candidates(
        self, vector: "np.ndarray", stores: Sequence[str], count: int, within: Collection[str] | None
    ) -> "list[tuple[Found, StoreCodes]]":
        """The `count` chunks of all stores whose codes differ least, or more of very many."""
        async with self._looking:
            places = [await self._caught_up(store, len(vector)) for store in stores]
            count = max(count, isqrt(sum(codes.rows for codes in places)))
            found = await anyio.to_thread.run_sync(_nearest, places, vector, count, within)
        return sorted(found, key=lambda each: each[0].distance)[:count]

    async def _rescored(
        self, vector: "np.ndarray", found: "Sequence[tuple[Found, StoreCodes]]", within: Collection[str] | None
    ) -> tuple[list[Near], bool]:
        """The candidates by their exact cosines, and whether some are gone; those are never shown again."""
        stored = await self._stored([each.chunk for each, _ in found])
        allowed = None if within is None else set(within)
        near: list[Near] = []
        gone: dict[int, tuple[StoreCodes, list[str]]] = {}
        for each, codes in found:
            row = stored.get(each.chunk)
            if row is None:
                gone.setdefault(id(codes), (codes, []))[1].append(each.chunk)
            elif (allowed is None or row.content_id in allowed) and len(row.vector) == 2 * len(vector):
                cosine = float(np.frombuffer(row.vector, "<f2").astype(np.float32) @ vector)
                near.append(Near(each.chunk, min(1.0, max(0.0, cosine))))
        for codes, chunks in gone.values():
            codes.lose(chunks)
        near.sort(key=lambda each: (-each.score, each.chunk))
        return near, bool(gone)

    async def _stored(self, chunks: Sequence[str]) -> dict[str, Any]:
        from outrider.content.tables import content_vectors as table

        query = select(table.c.chunk_id, table.c.content_id, table.c.vector).where(
            table.c.embedder == self.embedder.name, table.c.content_id.not_in(select(deleted.c.content_id))
        )

        def read(connection: "Connection") -> dict[str, Any]:
            found: dict[str, Any] = {}
            for start in range(0, len(chunks), AT_ONCE):
                some = table.c.chunk_id.in_(chunks[start : start + AT_ONCE])
                found |= {row.chunk_id: row for row in connection.execute(query.where(some))}
            return found

        return await self._database.short(read, write=False)

    async def _caught_up(self, store: str, dimensions: int) -> "StoreCodes":
        """The store's codes, as far as the rows are."""
        codes = self._open.pop(store, None)
        if codes is None:
            folder = self._folder / store / hashlib.sha256(self.embedder.name.encode()).hexdigest()[:16]
            codes = await _in_thread(lambda: StoreCodes(folder, dimensions))
            await self._check(store, codes)
        self._open[store] = codes
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        target = await self._embedded(store)
        if codes.mark > target:  # of another copy of the database
            await _in_thread(codes.empty)
        if codes.mark < target:
            await _in_thread(codes.look)
        while codes.mark < target:
            await self._advance(store, codes, target, dimensions)
        return codes

    async def _check(self, store: str, codes: "StoreCodes") -> None:
        """Throws codes away that lack rows which they should have, or are mostly of what is gone."""
        from outrider.content.tables import content_vectors as table

        query = select(func.count()).where(table.c.store_id == store, table.c.embedder == self.embedder.name)
        there = (await self._rows(query.where(table.c.embedded <= codes.mark)))[0][0]
        if there > codes.rows or codes.rows > 2 * there + PAGE:
            log.info("the codes of store %s are made anew: %s for %s vectors", store, codes.rows, there)
            await _in_thread(codes.empty)

    async def _embedded(self, store: str) -> int:

        rows = await self._rows(select(table.c.embedded).where(table.c.id == store))
        return rows[0].embedded if rows else 0

    async def _advance(self, store: str, codes: "StoreCodes", target: int, dimensions: int) -> None:
        """Adds the next vectors: about a page, but always whole transactions, since a mark counts those."""
        from outrider.content.tables import content_vectors as table

        mine = (table.c.store_id == store, table.c.embedder == self.embedder.name)
        newer = (*mine, table.c.embedded > codes.mark, table.c.embedded <= target)
        ends = await self._rows(select(table.c.embedded).where(*newer).order_by(table.c.embedded).offset(PAGE).limit(1))
        last = ends[0].embedded if ends else target
        columns = (table.c.chunk_id, table.c.content_id, table.c.vector)
        rows = await self._rows(select(*columns).where(*newer, table.c.embedded <= last))
        await _in_thread(lambda: _added(codes, rows, last, dimensions))

    async def _rows(self, query: "Executable") -> list[Any]:
        def read(connection: "Connection") -> list[Any]:
            return list(connection.execute(query).all())

        return await self._database.short(read, write=False)


def _worded(row: Any) -> str:
    """What stands for a chunk: its content's title, its headings, and itself."""
    about = [row.heading] if row.heading.startswith(row.title) else [row.title, row.heading]
    return "\n".join(part for part in (*about, row.text) if part)


def _nearest(
    places: "Sequence[StoreCodes]", vector: "np.ndarray", count: int, within: Collection[str] | None
) -> "list[tuple[Found, StoreCodes]]":
    return [(each, codes) for codes in places for each in codes.nearest(vector, count, within)]


def _added(codes: "StoreCodes", rows: Sequence[Any], last: int, dimensions: int) -> None:
    fit = [row for row in rows if len(row.vector) == 2 * dimensions]
    vectors = np.frombuffer(b"".join(row.vector for row in fit), "<f2").reshape(len(fit), dimensions)
    codes.add([row.chunk_id for row in fit], [row.content_id for row in fit], vectors, last)


async def _in_thread(work: Callable[[], T]) -> T:
    """Work on the derived files. Raises Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError as error:
        raise Unavailable(
            f"the vectors' index cannot be written: {error.strerror or error}",
            code="index",
            hint="check free space and permissions of data_dir",
        ) from error
