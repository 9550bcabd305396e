"""Keyword index in Postgres: `tsvector` finds candidates, which are then ranked by our own BM25.

`ts_rank` alone ranks far worse. The tables are derived, so they are created at first use and not by a migration; the
number in their names changes with their layout and with the way terms are made. Postgres counts at most 256
occurrences of a term in a chunk (postgresql.org/docs/current/textsearch-limitations.html).
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import anyio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.content.lexical.index import Candidates, IndexChanges, IndexEntry, Posting, Watermark, collect_terms
from outrider.core.database.database import Database

MAX_COMPARED_CHUNKS = 5_000  # chunks to score for one query: those with its rarest terms
POSTGRES_SCHEMA = """
CREATE TABLE IF NOT EXISTS content_index_1_marks (
    store_id varchar(40) PRIMARY KEY, generation integer NOT NULL, stamp varchar(16) NOT NULL,
    chunks bigint NOT NULL, words bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS content_index_1_chunks (
    chunk_id varchar(64) PRIMARY KEY, content_id varchar(40) NOT NULL, store_id varchar(40) NOT NULL,
    length integer NOT NULL, terms tsvector NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_content_index_1_chunks_content
    ON content_index_1_chunks (store_id, content_id);
CREATE INDEX IF NOT EXISTS ix_content_index_1_chunks_terms ON content_index_1_chunks USING gin (terms);
CREATE TABLE IF NOT EXISTS content_index_1_terms (
    store_id varchar(40) NOT NULL, term text NOT NULL, chunks integer NOT NULL, PRIMARY KEY (store_id, term)
)
"""
DELETE_STORE_SQL = "DELETE FROM content_index_1_{table} WHERE store_id = :store"
DELETE_CONTENTS_SQL = """
    WITH gone AS (
        DELETE FROM content_index_1_chunks
        WHERE store_id = :store AND content_id = ANY(:contents) RETURNING length, terms
    ), lost AS (SELECT lexeme, count(*) AS times FROM gone, unnest(terms) GROUP BY lexeme), counted AS (
        UPDATE content_index_1_terms AS known SET chunks = known.chunks - lost.times
        FROM lost WHERE known.store_id = :store AND known.term = lost.lexeme
    ) SELECT count(*), coalesce(sum(length), 0) FROM gone
"""
INSERT_CHUNK_SQL = """
    INSERT INTO content_index_1_chunks VALUES (:chunk, :content, :store, :length, CAST(:terms AS tsvector))
"""
COUNT_TERMS_SQL = """
    INSERT INTO content_index_1_terms AS known
    SELECT :store, lexeme, count(*) FROM content_index_1_chunks, unnest(terms)
    WHERE chunk_id = ANY(:chunks) GROUP BY lexeme
    ON CONFLICT (store_id, term) DO UPDATE SET chunks = known.chunks + excluded.chunks
"""
# ts_rank of a single term grows with its count, ever more slowly, and falls with the length, as BM25 does.
SEARCH_CHUNKS_SQL = """
    SELECT chunk_id, store_id, length, ARRAY(
        SELECT lexeme || ' ' || cardinality(positions) FROM unnest(terms) WHERE lexeme = ANY(:terms)
    ) AS counts
    FROM (
        SELECT looked.*, (
            SELECT sum(weight * ts_rank(looked.terms, CAST(term AS tsquery), 1))
            FROM unnest(CAST(:queries AS text[]), CAST(:weights AS float8[])) AS asked (term, weight)
        ) AS score
        FROM (
            SELECT * FROM content_index_1_chunks
            WHERE store_id = ANY(:stores) AND terms @@ CAST(:query AS tsquery) {within} LIMIT :most
        ) AS looked ORDER BY score DESC LIMIT :limit
    ) AS best
"""


class PostgresIndex:
    """The keyword index of all stores in tables of a Postgres database.

    Args:
        database: A Postgres database; it may be the one that holds the rows.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_tables = False
        self._tables_lock = anyio.Lock()

    def is_exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Return False: `ts_rank` preselects the chunks."""
        return False

    async def read_watermark(self, store: str) -> Watermark:
        """Return the watermark up to which the index reflects the store."""
        select_watermark = "SELECT generation, stamp FROM content_index_1_marks WHERE store_id = :store"
        row = (await self._run_queries([(select_watermark, {"store": store})]))[0]
        return Watermark(*row[0]) if row else Watermark()

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Apply changes in one transaction, unless another process was faster."""
        update_watermark_sql = """
            UPDATE content_index_1_marks SET generation = :generation, stamp = :stamp,
            chunks = chunks + :more, words = words + :longer WHERE store_id = :store
        """
        insert_watermark = "INSERT INTO content_index_1_marks VALUES (:store, 0, '', 0, 0) ON CONFLICT DO NOTHING"
        lock_watermark = "SELECT generation, stamp FROM content_index_1_marks WHERE store_id = :store FOR UPDATE"
        await self._ensure_tables()
        async with self._database.write() as connection:
            store = {"store": changes.store}
            await _execute_sql(connection, insert_watermark, store)
            if Watermark(*(await _execute_sql(connection, lock_watermark, store)).one()) != seen:
                return False
            chunks, words = await _delete_contents(connection, changes)
            await _insert_entries(connection, changes.store, changes.added)
            totals = {
                "generation": changes.watermark.generation,
                "stamp": changes.watermark.stamp,
                "more": len(changes.added) - chunks,
                "longer": sum(entry.length for entry in changes.added) - words,
            }
            await _execute_sql(connection, update_watermark_sql, store | totals)
        return True

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        watermarks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """Return the likeliest chunks of all stores together, among those with the rarest terms."""
        select_frequencies_sql = """
            SELECT term, sum(chunks) AS times FROM content_index_1_terms
            WHERE store_id = ANY(:stores) AND term = ANY(:terms) AND chunks > 0 GROUP BY term
        """
        select_totals_sql = """
            SELECT store_id, generation, stamp, chunks, words FROM content_index_1_marks WHERE store_id = ANY(:stores)
        """
        parameters = {"stores": list(stores), "terms": collect_terms(words)}
        totals, frequencies = await self._run_queries(
            [(select_totals_sql, parameters), (select_frequencies_sql, parameters)]
        )
        indexed = {row.store_id: Watermark(row.generation, row.stamp) for row in totals}
        stale = [store for store, mark in (watermarks or {}).items() if indexed.get(store, Watermark()) != mark]
        if stale:
            return Candidates(stale_stores=stale)
        frequency = {row.term: int(row.times) for row in frequencies}
        chunks = sum(row.chunks for row in totals)
        postings: list[Posting] = []
        if frequency and limit:
            for row in await self._search_chunks(frequency, chunks, parameters, limit, within):
                pairs = (count.rpartition(" ") for count in row.counts)
                counts = {term: int(count) for term, _, count in pairs}
                postings.append(Posting(row.chunk_id, row.store_id, row.length, counts))
        return Candidates(postings, chunks, sum(row.words for row in totals), frequency)

    async def clear_store(self, store: str) -> None:
        """Delete the store's rows."""
        await self._ensure_tables()
        async with self._database.write() as connection:
            for table in ("chunks", "terms", "marks"):
                await _execute_sql(connection, DELETE_STORE_SQL.format(table=table), {"store": store})

    async def close(self) -> None:
        """Do nothing: the database is closed by its owner."""

    async def _search_chunks(
        self,
        frequency: Mapping[str, int],
        chunks: int,
        parameters: Mapping[str, Any],
        limit: int,
        within: Collection[str] | None,
    ) -> list[Any]:
        """Return rows of chunks with the counts of the query's terms."""
        lexemes = [_quote_lexeme(term) for term in frequency]
        rarest = [_quote_lexeme(term) for term in _select_rarest_terms(frequency)]
        weights = [math.log(1 + (chunks - times + 0.5) / (times + 0.5)) for times in frequency.values()]
        parameters = {**parameters, "queries": lexemes, "weights": weights, "most": MAX_COMPARED_CHUNKS, "limit": limit}

        async def search_rows(query: str, content_filter: str = "", **more: Any) -> list[Any]:
            statement = SEARCH_CHUNKS_SQL.format(within=content_filter)
            return (await self._run_queries([(statement, {**parameters, "query": query, **more})]))[0]

        any_term = " | ".join(lexemes)
        if within is not None:
            max_filtered = 100_000
            limits = {"most": max_filtered, "limit": max(limit, max_filtered)}
            return await search_rows(any_term, "AND content_id = ANY(:contents)", contents=list(within), **limits)
        if rarest:
            return await search_rows(" | ".join(rarest))
        # Even the rarest term occurs in very many chunks: prefer those with all terms.
        rows = await search_rows(" & ".join(lexemes))
        return rows if len(rows) >= limit else await search_rows(any_term)

    async def _run_queries(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Any]]:
        await self._ensure_tables()
        async with self._database.read() as connection:
            return [list((await _execute_sql(connection, query, parameters)).all()) for query, parameters in queries]

    async def _ensure_tables(self) -> None:
        """Create the tables, once per process."""
        lock_id = 0x6F757469  # arbitrary, but the same in every process: its holder creates the tables
        async with self._tables_lock:
            if self._has_tables:
                return
            async with self._database.write() as connection:
                await _execute_sql(connection, f"SELECT pg_advisory_xact_lock({lock_id})", {})
                for statement in POSTGRES_SCHEMA.split(";\n"):
                    await _execute_sql(connection, statement, {})
            self._has_tables = True


async def _execute_sql(connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]) -> Any:
    return await connection.execute(text(statement), dict(parameters))


async def _delete_contents(connection: AsyncConnection, changes: IndexChanges) -> tuple[int, int]:
    """Delete dropped contents; return the number of their chunks and words, or zeros after a full reset."""
    reset_totals = "UPDATE content_index_1_marks SET chunks = 0, words = 0 WHERE store_id = :store"
    store = {"store": changes.store}
    if not changes.is_full:
        parameters = store | {"contents": list(changes.dropped)}
        chunks, words = (await _execute_sql(connection, DELETE_CONTENTS_SQL, parameters)).one()
        return int(chunks), int(words)
    for table in ("chunks", "terms"):
        await _execute_sql(connection, DELETE_STORE_SQL.format(table=table), store)
    await _execute_sql(connection, reset_totals, store)
    return 0, 0


async def _insert_entries(connection: AsyncConnection, store: str, entries: Sequence[IndexEntry]) -> None:
    max_positions = 256  # Postgres ignores further ones
    if not entries:
        return
    rows: list[dict[str, Any]] = []
    for entry in entries:
        # A tsvector has no counts: give each term as many positions as it has occurrences.
        lexemes = [
            f"{_quote_lexeme(term)}:{','.join(map(str, range(1, min(count, max_positions) + 1)))}"
            for term, count in Counter(entry.terms.split()).items()
        ]
        row = {"chunk": entry.chunk, "content": entry.content, "store": store, "length": entry.length}
        rows.append(row | {"terms": " ".join(lexemes)})
    await connection.execute(text(INSERT_CHUNK_SQL), rows)
    await _execute_sql(connection, COUNT_TERMS_SQL, {"store": store, "chunks": [entry.chunk for entry in entries]})


def _quote_lexeme(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _select_rarest_terms(frequency: Mapping[str, int]) -> list[str]:
    """Return the rarest terms that occur in few enough chunks; none if even the rarest occurs in too many."""
    rarest: list[str] = []
    total = 0
    for term, times in sorted(frequency.items(), key=lambda counted: counted[1]):
        total += times
        if total > MAX_COMPARED_CHUNKS:
            break
        rarest.append(term)
    return rarest
