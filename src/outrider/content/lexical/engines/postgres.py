"""A keyword index in Postgres: `tsvector` finds candidates, and our own BM25 ranks them like those of any engine.

Its own ranking would not do: nDCG@10 .274 against .509 after BM25. Its tables are derived, so no migration makes
them, but the first use; the number in their names counts changes of their shape and of how terms are made. Of a term
that a chunk has more than 256 times the rest is not counted (postgresql.org/docs/current/textsearch-limitations.html).
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import anyio
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.content.lexical.index import Candidates, IndexChanges, IndexEntry, Posting, Watermark, collect_terms
from outrider.core.database.database import Database

MAX_COMPARED_CHUNKS = 5_000  # chunks that are compared for one query: those that have its rarest terms
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
UPDATE_WATERMARK_SQL = """
    UPDATE content_index_1_marks SET generation = :generation, stamp = :stamp,
    chunks = chunks + :more, words = words + :longer WHERE store_id = :store
"""
SELECT_TOTALS_SQL = """
    SELECT store_id, generation, stamp, chunks, words FROM content_index_1_marks WHERE store_id = ANY(:stores)
"""
SELECT_FREQUENCIES_SQL = """
    SELECT term, sum(chunks) AS times FROM content_index_1_terms
    WHERE store_id = ANY(:stores) AND term = ANY(:terms) AND chunks > 0 GROUP BY term
"""
# ts_rank of a single term grows with its count, ever more slowly, and falls with the length: BM25's shape.
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
    """The keyword index of all stores in the tables of one Postgres database.

    Args:
        database: A Postgres one; the index may share it with the rows.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_tables = False
        self._tables_lock = anyio.Lock()

    def is_exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Never: `ts_rank` chooses."""
        return False

    async def read_watermark(self, store: str) -> Watermark:
        """Up to where the index reflects the store."""
        select_watermark = "SELECT generation, stamp FROM content_index_1_marks WHERE store_id = :store"
        row = (await self._run_queries([(select_watermark, {"store": store})]))[0]
        return Watermark(*row[0]) if row else Watermark()

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Takes the changes over in one transaction, unless another process was faster."""
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
            figures = {
                "generation": changes.watermark.generation,
                "stamp": changes.watermark.stamp,
                "more": len(changes.added) - chunks,
                "longer": sum(each.length for each in changes.added) - words,
            }
            await _execute_sql(connection, UPDATE_WATERMARK_SQL, store | figures)
        return True

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """The likeliest chunks of all stores together, among those that have the rarest terms."""
        asked = {"stores": list(stores), "terms": collect_terms(words)}
        figures, counted = await self._run_queries([(SELECT_TOTALS_SQL, asked), (SELECT_FREQUENCIES_SQL, asked)])
        reached = {row.store_id: Watermark(row.generation, row.stamp) for row in figures}
        behind = [store for store, mark in (marks or {}).items() if reached.get(store, Watermark()) != mark]
        if behind:
            return Candidates(stale_stores=behind)
        frequency = {row.term: int(row.times) for row in counted}
        chunks, words = sum(row.chunks for row in figures), sum(row.words for row in figures)
        rows: list[Any] = []
        if frequency and limit:
            rows = await self._search_chunks(frequency, chunks, asked, limit, within)
        postings = [
            Posting(row.chunk_id, row.store_id, row.length, dict(map(_parse_count, row.counts))) for row in rows
        ]
        return Candidates(postings, chunks, words, frequency)

    async def clear_store(self, store: str) -> None:
        """Removes the store's rows."""
        await self._ensure_tables()
        async with self._database.write() as connection:
            for table in ("chunks", "terms", "marks"):
                await _execute_sql(connection, DELETE_STORE_SQL.format(table=table), {"store": store})

    async def close(self) -> None:
        """The database is closed by who opened it."""

    async def _search_chunks(
        self,
        frequency: Mapping[str, int],
        chunks: int,
        asked: Mapping[str, Any],
        limit: int,
        within: Collection[str] | None,
    ) -> list[Any]:
        """Rows of chunks with the counts of the asked terms."""
        content_filter = "AND content_id = ANY(:contents)"
        max_filtered_chunks = 100_000  # the same where only some contents are asked for
        every = [_quote_lexeme(term) for term in frequency]
        rarest = [_quote_lexeme(term) for term in _select_rarest_terms(frequency)]
        given = dict(asked) | {
            "query": " | ".join(rarest),
            "queries": every,
            "weights": [math.log(1 + (chunks - times + 0.5) / (times + 0.5)) for times in frequency.values()],
            "most": MAX_COMPARED_CHUNKS,
            "limit": limit,
        }
        if within is not None:
            given |= {
                "contents": list(within),
                "query": " | ".join(every),
                "most": max_filtered_chunks,
                "limit": max(limit, max_filtered_chunks),
            }
            return (await self._run_queries([(SEARCH_CHUNKS_SQL.format(within=content_filter), given)]))[0]
        query = SEARCH_CHUNKS_SQL.format(within="")
        if rarest:
            return (await self._run_queries([(query, given)]))[0]
        both = (await self._run_queries([(query, given | {"query": " & ".join(every)})]))[0]
        return (
            both
            if len(both) >= limit
            else (await self._run_queries([(query, given | {"query": " | ".join(every)})]))[0]
        )

    async def _run_queries(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Any]]:
        await self._ensure_tables()
        async with self._database.read() as connection:
            return [list((await _execute_sql(connection, query, given)).all()) for query, given in queries]

    async def _ensure_tables(self) -> None:
        """Makes the tables, once in a process."""
        lock_id = 0x6F757469  # any number, the same in every process: who holds it makes the tables
        async with self._tables_lock:
            if self._has_tables:
                return
            async with self._database.write() as connection:
                await _execute_sql(connection, f"SELECT pg_advisory_xact_lock({lock_id})", {})
                for statement in POSTGRES_SCHEMA.split(";\n"):
                    await _execute_sql(connection, statement, {})
            self._has_tables = True


async def _execute_sql(connection: "AsyncConnection", statement: str, given: Mapping[str, Any]) -> Any:
    from sqlalchemy import text

    return await connection.execute(text(statement), dict(given))


async def _delete_contents(connection: "AsyncConnection", changes: IndexChanges) -> tuple[int, int]:
    """Takes out what goes; how many chunks they were, and of how many words, unless the sums begin anew."""
    reset_totals = "UPDATE content_index_1_marks SET chunks = 0, words = 0 WHERE store_id = :store"
    store = {"store": changes.store}
    if not changes.is_full:
        given = store | {"contents": list(changes.dropped)}
        chunks, words = (await _execute_sql(connection, DELETE_CONTENTS_SQL, given)).one()
        return int(chunks), int(words)
    for table in ("chunks", "terms"):
        await _execute_sql(connection, DELETE_STORE_SQL.format(table=table), store)
    await _execute_sql(connection, reset_totals, store)
    return 0, 0


async def _insert_entries(connection: "AsyncConnection", store: str, entries: Sequence[IndexEntry]) -> None:
    from sqlalchemy import text

    if not entries:
        return
    rows = [
        {
            "chunk": each.chunk,
            "content": each.content,
            "store": store,
            "length": each.length,
            "terms": _build_tsvector(each),
        }
        for each in entries
    ]
    await connection.execute(text(INSERT_CHUNK_SQL), rows)
    await _execute_sql(connection, COUNT_TERMS_SQL, {"store": store, "chunks": [each.chunk for each in entries]})


def _build_tsvector(entry: IndexEntry) -> str:
    """A tsvector's text: each term with as many positions as it has occurrences."""
    max_positions = 256
    counts = Counter(entry.terms.split())
    return " ".join(f"{_quote_lexeme(term)}:{_positions(min(count, max_positions))}" for term, count in counts.items())


def _positions(count: int) -> str:
    return ",".join(map(str, range(1, count + 1)))


def _quote_lexeme(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _select_rarest_terms(frequency: Mapping[str, int]) -> list[str]:
    """The rarest terms, as many as few chunks have; none where even the rarest is in more."""
    chosen: list[str] = []
    total = 0
    for term, times in sorted(frequency.items(), key=lambda each: each[1]):
        total += times
        if total > MAX_COMPARED_CHUNKS:
            break
        chosen.append(term)
    return chosen


def _parse_count(text: str) -> tuple[str, int]:
    term, _, count = text.rpartition(" ")
    return term, int(count)
