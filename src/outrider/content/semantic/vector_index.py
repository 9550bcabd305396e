"""Find chunks by meaning: vectors in database rows, and their binary codes in files for a fast first pass."""

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
from outrider.content.tables import content_chunks, content_leftovers, content_stores, content_vectors, contents
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

ResultT = TypeVar("ResultT")
log = logging.getLogger(__name__)
EMBED_BATCH_CHUNKS = 64  # per call of the embedder and per transaction
VECTORS_PER_PAGE = 20_000  # read at once when codes are brought up to date


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk and its cosine with the query, from 0 to 1.

    0 means unrelated.
    """

    chunk: str
    score: float


class VectorIndex:
    """The vectors of all stores under one embedder; those of other embedders are ignored.

    Args:
        database: Holds `content_chunks` and `content_vectors`.
        embedder: Computes the vectors.
        folder: For derived files; used by nothing else.
    """

    def __init__(self, database: Database, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        self._database = database
        self._folder = folder
        self._open_codes: OrderedDict[str, StoreCodes] = OrderedDict()
        self._codes_lock = anyio.Lock()
        self._embedding_lock = anyio.Lock()
        self._complete_generations: dict[str, int] = {}  # by store: the generation at which all chunks had vectors

    async def count_pending(self, stores: Sequence[str]) -> int:
        """Return the number of chunks in these stores without a vector of this embedder."""
        total = 0
        for store, generation in (await self._load_generations(stores)).items():
            if self._complete_generations.get(store) == generation:
                continue
            query = select(func.count()).select_from(content_chunks)
            query = query.join(contents, contents.c.id == content_chunks.c.content_id)
            query = query.where(content_chunks.c.store_id == store, self._build_missing_condition())
            missing = (await self._fetch_rows(query))[0][0]
            if not missing:
                self._complete_generations[store] = generation
            total += missing
        return total

    async def embed_missing(self, stores: Sequence[str] | None = None, *, limit: int = 1_000) -> int:
        """Compute vectors for chunks that have none, newest contents first.

        Args:
            stores: Only of these stores; all by default.
            limit: Maximum number of chunks.

        Returns:
            The number of vectors computed; 0 if none were missing.

        Raises:
            NotConfigured, Unavailable: The embedder failed; vectors computed before are kept.
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
        """Embed some chunks and return their number; one task at a time, as two would embed the same chunks."""
        table = content_chunks
        columns = (table.c.id, table.c.content_id, contents.c.title, table.c.heading, table.c.text)
        query = (
            select(*columns)
            .join(contents, contents.c.id == table.c.content_id)
            .where(table.c.store_id == store, self._build_missing_condition())
            .order_by(contents.c.modified_at.desc(), table.c.number)
            .limit(limit)
        )
        async with self._embedding_lock:
            chunks = await self._fetch_rows(query)
            if chunks:
                texts: list[str] = []
                for chunk in chunks:
                    title = "" if chunk.heading.startswith(chunk.title) else chunk.title
                    texts.append("\n".join(filter(None, (title, chunk.heading, chunk.text))))
                vectors = await self.embedder.embed(texts)
                await self._save_vectors(store, chunks, vectors)
        return len(chunks)

    async def find_nearest(
        self, query: str, stores: Sequence[str], limit: int, *, within: Collection[str] | None = None
    ) -> list[ScoredChunk]:
        """Return the chunks nearest in meaning, best first.

        Args:
            query: The user's query.
            stores: The stores to search.
            limit: Number of chunks.
            within: Only chunks of these contents.

        Raises:
            NotConfigured, Unavailable: The embedder failed.
        """
        max_rounds = 4  # each with twice as many candidates, if the nearest turn out to be deleted
        # Codes are coarse: rescore 20 candidates per result, and 400 at least (see docs/benchmarks.md).
        count = max(20 * limit, 400)
        [vector] = await self.embedder.embed([query], query=True)
        nearest: list[ScoredChunk] = []
        for _ in range(max_rounds):
            candidates = await self._find_candidates(vector, stores, count, within)
            nearest, any_deleted = await self._rescore_candidates(vector, candidates, within)
            if not any_deleted or len(nearest) >= limit:
                break
            count *= 2
        return nearest[:limit]

    async def discard_store(self, store: str) -> None:
        """Delete the codes of a store; they are rebuilt when needed."""
        async with self._codes_lock:
            self._open_codes.pop(store, None)
            self._complete_generations.pop(store, None)
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder / store, ignore_errors=True))

    async def close(self) -> None:
        """Close files and the embedder."""
        self._open_codes.clear()
        await self.embedder.close()

    async def _load_generations(self, stores: Sequence[str] | None) -> dict[str, int]:
        """Return the generation of each store, last changed first."""
        table = content_stores
        query = select(table.c.id, table.c.generation).order_by(table.c.modified_at.desc())
        if stores is not None:
            query = query.where(table.c.id.in_(stores))
        return {row.id: row.generation for row in await self._fetch_rows(query)}

    def _build_missing_condition(self) -> Any:
        """Return the SQL condition that a chunk has no vector of this embedder."""
        table = content_vectors
        same_chunk = (table.c.chunk_id == content_chunks.c.id, table.c.embedder == self.embedder.name)
        return ~exists().where(*same_chunk).correlate(content_chunks)

    async def _save_vectors(self, store: str, chunks: Sequence[Any], vectors: np.ndarray) -> None:
        """Save vectors in one transaction, except for chunks that were deleted or embedded elsewhere since."""
        halves = vectors.astype("<f2")
        insert = self._database.build_insert(content_vectors).on_conflict_do_nothing()
        increment = (
            update(content_stores)
            .where(content_stores.c.id == store)
            .values(embedded=content_stores.c.embedded + 1)
            .returning(content_stores.c.embedded)
        )
        existing = select(content_chunks.c.id).join(contents, contents.c.id == content_chunks.c.content_id)
        existing = existing.where(content_chunks.c.id.in_([chunk.id for chunk in chunks]))

        def insert_vectors(connection: Connection) -> None:
            transaction = connection.execute(increment).scalar()
            ids = set(connection.execute(existing).scalars())
            rows = [
                {
                    "chunk_id": chunk.id,
                    "embedder": self.embedder.name,
                    "content_id": chunk.content_id,
                    "store_id": store,
                    "embedded": transaction,
                    "vector": half.tobytes(),
                }
                for chunk, half in zip(chunks, halves, strict=True)
                if chunk.id in ids
            ]
            if transaction is not None and rows:
                connection.execute(insert, rows)

        await self._database.run_transaction(insert_vectors, write=True)

    async def _find_candidates(
        self, vector: np.ndarray, stores: Sequence[str], count: int, within: Collection[str] | None
    ) -> list[tuple[CodeMatch, StoreCodes]]:
        """Return the `count` chunks with the nearest codes, or more if there are very many."""
        async with self._codes_lock:
            codes = [await self._sync_codes(store, len(vector)) for store in stores]
            # For more than a hundred thousand vectors, the square root of their number keeps recall high.
            count = max(count, isqrt(sum(store_codes.rows for store_codes in codes)))

            def search_all() -> list[tuple[CodeMatch, StoreCodes]]:
                return [(match, each) for each in codes for match in each.find_nearest(vector, count, within)]

            matches = await anyio.to_thread.run_sync(search_all)
        return sorted(matches, key=lambda pair: pair[0].distance)[:count]

    async def _rescore_candidates(
        self, vector: np.ndarray, candidates: Sequence[tuple[CodeMatch, StoreCodes]], within: Collection[str] | None
    ) -> tuple[list[ScoredChunk], bool]:
        """Return candidates by exact cosine, and whether some are deleted; those are hidden from then on."""
        rows = await self._load_vectors([match.chunk for match, _ in candidates])
        allowed = None if within is None else set(within)
        nearest: list[ScoredChunk] = []
        deleted: dict[int, tuple[StoreCodes, list[str]]] = {}
        for match, codes in candidates:
            row = rows.get(match.chunk)
            if row is None:
                deleted.setdefault(id(codes), (codes, []))[1].append(match.chunk)
            elif (allowed is None or row.content_id in allowed) and len(row.vector) == 2 * len(vector):
                cosine = float(np.frombuffer(row.vector, "<f2").astype(np.float32) @ vector)
                nearest.append(ScoredChunk(match.chunk, min(1.0, max(0.0, cosine))))
        for codes, chunks in deleted.values():
            codes.hide_chunks(chunks)
        nearest.sort(key=lambda scored: (-scored.score, scored.chunk))
        return nearest, bool(deleted)

    async def _load_vectors(self, chunks: Sequence[str]) -> dict[str, Any]:
        """Return the rows of existing vectors by chunk id."""
        ids_per_statement = 500
        table = content_vectors
        deleted = select(content_leftovers.c.content_id)
        query = select(table.c.chunk_id, table.c.content_id, table.c.vector).where(
            table.c.embedder == self.embedder.name, table.c.content_id.not_in(deleted)
        )

        def fetch_batches(connection: Connection) -> dict[str, Any]:
            rows: dict[str, Any] = {}
            for start in range(0, len(chunks), ids_per_statement):
                batch = table.c.chunk_id.in_(chunks[start : start + ids_per_statement])
                rows |= {row.chunk_id: row for row in connection.execute(query.where(batch))}
            return rows

        return await self._database.run_transaction(fetch_batches, write=False)

    async def _sync_codes(self, store: str, dimensions: int) -> StoreCodes:
        """Return the store's codes, brought up to date with the rows."""
        max_open_stores = 64
        codes = self._open_codes.pop(store, None)
        if codes is None:
            folder = self._folder / store / hashlib.sha256(self.embedder.name.encode()).hexdigest()[:16]
            codes = await _run_in_thread(lambda: StoreCodes(folder, dimensions))
            # Codes that lack rows they should cover, or mostly belong to deleted chunks, are rebuilt.
            vectors = content_vectors.c
            query = select(func.count()).where(vectors.store_id == store, vectors.embedder == self.embedder.name)
            expected = (await self._fetch_rows(query.where(vectors.embedded <= codes.last_transaction)))[0][0]
            if expected > codes.rows or codes.rows > 2 * expected + VECTORS_PER_PAGE:
                log.info("rebuilding the codes of store %s: %s codes for %s vectors", store, codes.rows, expected)
                await _run_in_thread(codes.clear)
        self._open_codes[store] = codes
        while len(self._open_codes) > max_open_stores:
            self._open_codes.popitem(last=False)
        rows = await self._fetch_rows(select(content_stores.c.embedded).where(content_stores.c.id == store))
        target = rows[0].embedded if rows else 0
        if codes.last_transaction > target:  # the codes belong to another copy of the database
            await _run_in_thread(codes.clear)
        if codes.last_transaction < target:
            await _run_in_thread(codes.load_new_segments)
        while codes.last_transaction < target:
            await self._load_next_page(store, codes, target, dimensions)
        return codes

    async def _load_next_page(self, store: str, codes: StoreCodes, target: int, dimensions: int) -> None:
        """Add about a page of vectors, but only whole transactions, because segments cover whole ones."""
        table = content_vectors
        newer = (
            table.c.store_id == store,
            table.c.embedder == self.embedder.name,
            table.c.embedded > codes.last_transaction,
            table.c.embedded <= target,
        )
        page_end = select(table.c.embedded).where(*newer).order_by(table.c.embedded).offset(VECTORS_PER_PAGE).limit(1)
        ends = await self._fetch_rows(page_end)
        last = ends[0].embedded if ends else target
        columns = (table.c.chunk_id, table.c.content_id, table.c.vector)
        rows = await self._fetch_rows(select(*columns).where(*newer, table.c.embedded <= last))

        def add_codes() -> None:
            valid = [row for row in rows if len(row.vector) == 2 * dimensions]
            vectors = np.frombuffer(b"".join(row.vector for row in valid), "<f2").reshape(len(valid), dimensions)
            codes.add([row.chunk_id for row in valid], [row.content_id for row in valid], vectors, last)

        await _run_in_thread(add_codes)

    async def _fetch_rows(self, query: Executable) -> list[Any]:
        return await self._database.run_transaction(
            lambda connection: list(connection.execute(query).all()), write=False
        )


async def _run_in_thread(work: Callable[[], ResultT]) -> ResultT:
    """Run work on the derived files in a thread. Raises Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError as error:
        raise Unavailable(
            f"the vector index cannot be written: {error.strerror or error}",
            code="index",
            hint="check free space and permissions of data_dir",
        ) from error
