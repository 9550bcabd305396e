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

from outrider.content.semantic.binary_codes import CodeMatch, StoreCodes
from outrider.content.semantic.embedder import Embedder
from outrider.content.tables import content_chunks, content_stores, content_vectors, contents
from outrider.content.tables import content_leftovers as deleted
from outrider.content.tables import content_stores as table
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

T = TypeVar("T")
log = logging.getLogger(__name__)
EMBED_BATCH_CHUNKS = 64  # chunks in one call of the embedder and one transaction
VECTORS_PER_PAGE = 20_000  # vectors read at once when codes catch up


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk and the cosine between its vector and the query's, from 0 (nothing in common) to 1."""

    chunk: str
    score: float


class VectorIndex:
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
        self._open_codes: OrderedDict[str, StoreCodes] = OrderedDict()
        self._codes_lock = anyio.Lock()
        self._embedding_lock = anyio.Lock()
        self._complete_generations: dict[str, int] = {}  # by store the generation at which every chunk had a vector

    async def count_pending(self, stores: Sequence[str]) -> int:
        """How many chunks of these stores have no vector of this embedder yet."""
        from outrider.content.tables import content_chunks as chunks

        total = 0
        for store, generation in (await self._load_generations(stores)).items():
            if self._complete_generations.get(store) == generation:
                continue
            query = select(func.count()).select_from(chunks).join(contents, contents.c.id == chunks.c.content_id)
            query = query.where(chunks.c.store_id == store, self._build_missing_condition())
            missing = (await self._fetch_rows(query))[0][0]
            if not missing:
                self._complete_generations[store] = generation
            total += missing
        return total

    async def embed_missing(self, stores: Sequence[str] | None = None, *, limit: int = 1_000) -> int:
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
        for store, generation in (await self._load_generations(stores)).items():
            if self._complete_generations.get(store) == generation:
                continue
            while done < limit:
                count = await self._embed_batch(store, min(EMBED_BATCH_CHUNKS, limit - done))
                if not count:
                    self._complete_generations[store] = generation
                    break
                done += count
        return done

    async def _embed_batch(self, store: str, limit: int) -> int:
        """Does some chunks; one task at a time, since two would do the same ones."""
        async with self._embedding_lock:
            waiting = await self._load_missing_chunks(store, limit)
            if waiting:
                vectors = await self.embedder.embed([_format_for_embedding(each) for each in waiting])
                await self._save_vectors(store, waiting, vectors)
        return len(waiting)

    async def find_nearest(
        self, query: str, stores: Sequence[str], limit: int, *, within: Collection[str] | None = None
    ) -> list[ScoredChunk]:
        """The chunks nearest in meaning, best first.

        Args:
            query: What is looked for.
            stores: Where.
            limit: How many.
            within: Only chunks of these contents.

        Raises:
            NotConfigured, Unavailable: The embedder's.
        """
        max_rounds = 4  # looks, each at twice as many, where the likeliest turn out to be deleted
        min_candidates = 400
        # Candidates that are looked at exactly, for each result wanted and at least; more than a hundred thousand vectors need
        # more, and the root of their number is enough: of the true ten 100 % at 100,000, 91 % of a million with 400
        # (bench/content_vectors.py).
        oversample = 20
        [vector] = await self.embedder.embed([query], query=True)
        wanted = max(limit * oversample, min_candidates)
        near: list[ScoredChunk] = []
        for _ in range(max_rounds):
            found = await self._find_candidates(vector, stores, wanted, within)
            near, gone = await self._rescore_candidates(vector, found, within)
            if not gone or len(near) >= limit:
                break
            wanted *= 2
        return near[:limit]

    async def discard_store(self, store: str) -> None:
        """Lets go of the derived codes of a store; they are made anew when they are needed."""
        async with self._codes_lock:
            self._open_codes.pop(store, None)
            self._complete_generations.pop(store, None)
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder / store, ignore_errors=True))

    async def close(self) -> None:
        """Lets go of files and of the embedder."""
        self._open_codes.clear()
        await self.embedder.close()

    async def _load_generations(self, stores: Sequence[str] | None) -> dict[str, int]:
        """By store, the last changed first, its count of changes."""
        query = select(table.c.id, table.c.generation).order_by(table.c.modified_at.desc())
        if stores is not None:
            query = query.where(table.c.id.in_(stores))
        return {row.id: row.generation for row in await self._fetch_rows(query)}

    def _build_missing_condition(self) -> Any:
        """That a chunk has no vector of this embedder."""
        from outrider.content.tables import content_chunks as chunks
        from outrider.content.tables import content_vectors as vectors

        there = (vectors.c.chunk_id == chunks.c.id, vectors.c.embedder == self.embedder.name)
        return ~exists().where(*there).correlate(chunks)

    async def _load_missing_chunks(self, store: str, limit: int) -> list[Any]:
        from outrider.content.tables import content_chunks as chunks

        columns = (chunks.c.id, chunks.c.content_id, contents.c.title, chunks.c.heading, chunks.c.text)
        query = (
            select(*columns)
            .join(contents, contents.c.id == chunks.c.content_id)
            .where(chunks.c.store_id == store, self._build_missing_condition())
            .order_by(contents.c.modified_at.desc(), chunks.c.number)
            .limit(limit)
        )
        return await self._fetch_rows(query)

    async def _save_vectors(self, store: str, rows: Sequence[Any], vectors: "np.ndarray") -> None:
        """One transaction; what was deleted meanwhile, or done by another process, is left out."""
        halves = vectors.astype("<f2")
        name = self.embedder.name
        insert = self._database.build_insert(content_vectors).on_conflict_do_nothing()
        of_store = content_stores.c.id == store
        count = update(content_stores).where(of_store).values(embedded=content_stores.c.embedded + 1)

        def insert_vectors(connection: "Connection") -> None:
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

        await self._database.run_transaction(insert_vectors, write=True)

    async def _find_candidates(
        self, vector: "np.ndarray", stores: Sequence[str], count: int, within: Collection[str] | None
    ) -> "list[tuple[CodeMatch, StoreCodes]]":
        """The `count` chunks of all stores whose codes differ least, or more of very many."""
        async with self._codes_lock:
            places = [await self._sync_codes(store, len(vector)) for store in stores]
            count = max(count, isqrt(sum(codes.rows for codes in places)))
            found = await anyio.to_thread.run_sync(_search_codes, places, vector, count, within)
        return sorted(found, key=lambda each: each[0].distance)[:count]

    async def _rescore_candidates(
        self, vector: "np.ndarray", found: "Sequence[tuple[CodeMatch, StoreCodes]]", within: Collection[str] | None
    ) -> tuple[list[ScoredChunk], bool]:
        """The candidates by their exact cosines, and whether some are gone; those are never shown again."""
        stored = await self._load_vectors([each.chunk for each, _ in found])
        allowed = None if within is None else set(within)
        near: list[ScoredChunk] = []
        gone: dict[int, tuple[StoreCodes, list[str]]] = {}
        for each, codes in found:
            row = stored.get(each.chunk)
            if row is None:
                gone.setdefault(id(codes), (codes, []))[1].append(each.chunk)
            elif (allowed is None or row.content_id in allowed) and len(row.vector) == 2 * len(vector):
                cosine = float(np.frombuffer(row.vector, "<f2").astype(np.float32) @ vector)
                near.append(ScoredChunk(each.chunk, min(1.0, max(0.0, cosine))))
        for codes, chunks in gone.values():
            codes.hide_chunks(chunks)
        near.sort(key=lambda each: (-each.score, each.chunk))
        return near, bool(gone)

    async def _load_vectors(self, chunks: Sequence[str]) -> dict[str, Any]:
        from outrider.content.tables import content_vectors as table

        query = select(table.c.chunk_id, table.c.content_id, table.c.vector).where(
            table.c.embedder == self.embedder.name, table.c.content_id.not_in(select(deleted.c.content_id))
        )

        def fetch_batches(connection: "Connection") -> dict[str, Any]:
            ids_per_statement = 500  # ids in one statement
            found: dict[str, Any] = {}
            for start in range(0, len(chunks), ids_per_statement):
                some = table.c.chunk_id.in_(chunks[start : start + ids_per_statement])
                found |= {row.chunk_id: row for row in connection.execute(query.where(some))}
            return found

        return await self._database.run_transaction(fetch_batches, write=False)

    async def _sync_codes(self, store: str, dimensions: int) -> "StoreCodes":
        """The store's codes, as far as the rows are."""
        max_open_stores = 64  # stores whose codes stay mapped
        codes = self._open_codes.pop(store, None)
        if codes is None:
            folder = self._folder / store / hashlib.sha256(self.embedder.name.encode()).hexdigest()[:16]
            codes = await _run_in_thread(lambda: StoreCodes(folder, dimensions))
            await self._check_codes(store, codes)
        self._open_codes[store] = codes
        while len(self._open_codes) > max_open_stores:
            self._open_codes.popitem(last=False)
        target = await self._load_last_transaction(store)
        if codes.last_transaction > target:  # of another copy of the database
            await _run_in_thread(codes.clear)
        if codes.last_transaction < target:
            await _run_in_thread(codes.load_new_segments)
        while codes.last_transaction < target:
            await self._load_next_page(store, codes, target, dimensions)
        return codes

    async def _check_codes(self, store: str, codes: "StoreCodes") -> None:
        """Throws codes away that lack rows which they should have, or are mostly of what is gone."""
        from outrider.content.tables import content_vectors as table

        query = select(func.count()).where(table.c.store_id == store, table.c.embedder == self.embedder.name)
        there = (await self._fetch_rows(query.where(table.c.embedded <= codes.last_transaction)))[0][0]
        if there > codes.rows or codes.rows > 2 * there + VECTORS_PER_PAGE:
            log.info("the codes of store %s are made anew: %s for %s vectors", store, codes.rows, there)
            await _run_in_thread(codes.clear)

    async def _load_last_transaction(self, store: str) -> int:

        rows = await self._fetch_rows(select(table.c.embedded).where(table.c.id == store))
        return rows[0].embedded if rows else 0

    async def _load_next_page(self, store: str, codes: "StoreCodes", target: int, dimensions: int) -> None:
        """Adds the next vectors: about a page, but always whole transactions, since a mark counts those."""
        from outrider.content.tables import content_vectors as table

        mine = (table.c.store_id == store, table.c.embedder == self.embedder.name)
        newer = (*mine, table.c.embedded > codes.last_transaction, table.c.embedded <= target)
        ends = await self._fetch_rows(
            select(table.c.embedded).where(*newer).order_by(table.c.embedded).offset(VECTORS_PER_PAGE).limit(1)
        )
        last = ends[0].embedded if ends else target
        columns = (table.c.chunk_id, table.c.content_id, table.c.vector)
        rows = await self._fetch_rows(select(*columns).where(*newer, table.c.embedded <= last))
        await _run_in_thread(lambda: _add_codes(codes, rows, last, dimensions))

    async def _fetch_rows(self, query: "Executable") -> list[Any]:
        def fetch_all(connection: "Connection") -> list[Any]:
            return list(connection.execute(query).all())

        return await self._database.run_transaction(fetch_all, write=False)


def _format_for_embedding(row: Any) -> str:
    """What stands for a chunk: its content's title, its headings, and itself."""
    about = [row.heading] if row.heading.startswith(row.title) else [row.title, row.heading]
    return "\n".join(part for part in (*about, row.text) if part)


def _search_codes(
    places: "Sequence[StoreCodes]", vector: "np.ndarray", count: int, within: Collection[str] | None
) -> "list[tuple[CodeMatch, StoreCodes]]":
    return [(each, codes) for codes in places for each in codes.find_nearest(vector, count, within)]


def _add_codes(codes: "StoreCodes", rows: Sequence[Any], last: int, dimensions: int) -> None:
    fit = [row for row in rows if len(row.vector) == 2 * dimensions]
    vectors = np.frombuffer(b"".join(row.vector for row in fit), "<f2").reshape(len(fit), dimensions)
    codes.add([row.chunk_id for row in fit], [row.content_id for row in fit], vectors, last)


async def _run_in_thread(work: Callable[[], T]) -> T:
    """Work on the derived files. Raises Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError as error:
        raise Unavailable(
            f"the vectors' index cannot be written: {error.strerror or error}",
            code="index",
            hint="check free space and permissions of data_dir",
        ) from error
