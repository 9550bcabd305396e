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

from outrider.content.keywords.index import Candidates, Changes, Entry, Mark, Posting, terms_of
from outrider.core.db import Database

LOCK = 0x6F757469  # any number, the same in every process: who holds it makes the tables
LOOKED_AT = 5_000  # chunks that are compared for one query: those that have its rarest terms
MANY = 100_000  # the same where only some contents are asked for
POSITIONS = 256
WITHIN = "AND content_id = ANY(:contents)"
TABLES = """
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
MARK = "SELECT generation, stamp FROM content_index_1_marks WHERE store_id = :store"
LOCKED = "SELECT generation, stamp FROM content_index_1_marks WHERE store_id = :store FOR UPDATE"
BEGUN = "INSERT INTO content_index_1_marks VALUES (:store, 0, '', 0, 0) ON CONFLICT DO NOTHING"
FORGOTTEN = "DELETE FROM content_index_1_{table} WHERE store_id = :store"
EMPTIED = "UPDATE content_index_1_marks SET chunks = 0, words = 0 WHERE store_id = :store"
DROPPED = """
    WITH gone AS (
        DELETE FROM content_index_1_chunks
        WHERE store_id = :store AND content_id = ANY(:contents) RETURNING length, terms
    ), lost AS (SELECT lexeme, count(*) AS times FROM gone, unnest(terms) GROUP BY lexeme), counted AS (
        UPDATE content_index_1_terms AS known SET chunks = known.chunks - lost.times
        FROM lost WHERE known.store_id = :store AND known.term = lost.lexeme
    ) SELECT count(*), coalesce(sum(length), 0) FROM gone
"""
ADDED = """
    INSERT INTO content_index_1_chunks VALUES (:chunk, :content, :store, :length, CAST(:terms AS tsvector))
"""
COUNTED = """
    INSERT INTO content_index_1_terms AS known
    SELECT :store, lexeme, count(*) FROM content_index_1_chunks, unnest(terms)
    WHERE chunk_id = ANY(:chunks) GROUP BY lexeme
    ON CONFLICT (store_id, term) DO UPDATE SET chunks = known.chunks + excluded.chunks
"""
MARKED = """
    UPDATE content_index_1_marks SET generation = :generation, stamp = :stamp,
    chunks = chunks + :more, words = words + :longer WHERE store_id = :store
"""
FIGURES = """
    SELECT store_id, generation, stamp, chunks, words FROM content_index_1_marks WHERE store_id = ANY(:stores)
"""
FREQUENCIES = """
    SELECT term, sum(chunks) AS times FROM content_index_1_terms
    WHERE store_id = ANY(:stores) AND term = ANY(:terms) AND chunks > 0 GROUP BY term
"""
# ts_rank of a single term grows with its count, ever more slowly, and falls with the length: BM25's shape.
FOUND = """
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
        self._made = False
        self._making = anyio.Lock()

    def exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Never: `ts_rank` chooses."""
        return False

    async def generation(self, store: str) -> Mark:
        """Up to where the index reflects the store."""
        row = (await self._read([(MARK, {"store": store})]))[0]
        return Mark(*row[0]) if row else Mark()

    async def apply(self, changes: Changes, *, seen: Mark) -> bool:
        """Takes the changes over in one transaction, unless another process was faster."""
        await self._make()
        async with self._database.write() as connection:
            store = {"store": changes.store}
            await _run(connection, BEGUN, store)
            if Mark(*(await _run(connection, LOCKED, store)).one()) != seen:
                return False
            chunks, words = await _dropped(connection, changes)
            await _added(connection, changes.store, changes.added)
            figures = {
                "generation": changes.mark.generation,
                "stamp": changes.mark.stamp,
                "more": len(changes.added) - chunks,
                "longer": sum(each.length for each in changes.added) - words,
            }
            await _run(connection, MARKED, store | figures)
        return True

    async def candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Mark] | None = None,
    ) -> Candidates:
        """The likeliest chunks of all stores together, among those that have the rarest terms."""
        asked = {"stores": list(stores), "terms": terms_of(words)}
        figures, counted = await self._read([(FIGURES, asked), (FREQUENCIES, asked)])
        reached = {row.store_id: Mark(row.generation, row.stamp) for row in figures}
        behind = [store for store, mark in (marks or {}).items() if reached.get(store, Mark()) != mark]
        if behind:
            return Candidates(behind=behind)
        frequency = {row.term: int(row.times) for row in counted}
        chunks, words = sum(row.chunks for row in figures), sum(row.words for row in figures)
        rows: list[Any] = []
        if frequency and limit:
            rows = await self._found(frequency, chunks, asked, limit, within)
        postings = [Posting(row.chunk_id, row.store_id, row.length, dict(map(_count, row.counts))) for row in rows]
        return Candidates(postings, chunks, words, frequency)

    async def rebuild(self, store: str) -> None:
        """Removes the store's rows."""
        await self._make()
        async with self._database.write() as connection:
            for table in ("chunks", "terms", "marks"):
                await _run(connection, FORGOTTEN.format(table=table), {"store": store})

    async def close(self) -> None:
        """The database is closed by who opened it."""

    async def _found(
        self,
        frequency: Mapping[str, int],
        chunks: int,
        asked: Mapping[str, Any],
        limit: int,
        within: Collection[str] | None,
    ) -> list[Any]:
        """Rows of chunks with the counts of the asked terms."""
        every = [_quoted(term) for term in frequency]
        rarest = [_quoted(term) for term in _rarest(frequency)]
        given = dict(asked) | {
            "query": " | ".join(rarest),
            "queries": every,
            "weights": [math.log(1 + (chunks - times + 0.5) / (times + 0.5)) for times in frequency.values()],
            "most": LOOKED_AT,
            "limit": limit,
        }
        if within is not None:
            given |= {"contents": list(within), "query": " | ".join(every), "most": MANY, "limit": max(limit, MANY)}
            return (await self._read([(FOUND.format(within=WITHIN), given)]))[0]
        query = FOUND.format(within="")
        if rarest:
            return (await self._read([(query, given)]))[0]
        both = (await self._read([(query, given | {"query": " & ".join(every)})]))[0]
        return both if len(both) >= limit else (await self._read([(query, given | {"query": " | ".join(every)})]))[0]

    async def _read(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Any]]:
        await self._make()
        async with self._database.read() as connection:
            return [list((await _run(connection, query, given)).all()) for query, given in queries]

    async def _make(self) -> None:
        """Makes the tables, once in a process."""
        async with self._making:
            if self._made:
                return
            async with self._database.write() as connection:
                await _run(connection, f"SELECT pg_advisory_xact_lock({LOCK})", {})
                for statement in TABLES.split(";\n"):
                    await _run(connection, statement, {})
            self._made = True


async def _run(connection: "AsyncConnection", statement: str, given: Mapping[str, Any]) -> Any:
    from sqlalchemy import text

    return await connection.execute(text(statement), dict(given))


async def _dropped(connection: "AsyncConnection", changes: Changes) -> tuple[int, int]:
    """Takes out what goes; how many chunks they were, and of how many words, unless the sums begin anew."""
    store = {"store": changes.store}
    if not changes.whole:
        given = store | {"contents": list(changes.dropped)}
        chunks, words = (await _run(connection, DROPPED, given)).one()
        return int(chunks), int(words)
    for table in ("chunks", "terms"):
        await _run(connection, FORGOTTEN.format(table=table), store)
    await _run(connection, EMPTIED, store)
    return 0, 0


async def _added(connection: "AsyncConnection", store: str, entries: Sequence[Entry]) -> None:
    from sqlalchemy import text

    if not entries:
        return
    rows = [
        {"chunk": each.chunk, "content": each.content, "store": store, "length": each.length, "terms": _vector(each)}
        for each in entries
    ]
    await connection.execute(text(ADDED), rows)
    await _run(connection, COUNTED, {"store": store, "chunks": [each.chunk for each in entries]})


def _vector(entry: Entry) -> str:
    """A tsvector's text: each term with as many positions as it has occurrences."""
    counts = Counter(entry.terms.split())
    return " ".join(f"{_quoted(term)}:{_positions(min(count, POSITIONS))}" for term, count in counts.items())


def _positions(count: int) -> str:
    return ",".join(map(str, range(1, count + 1)))


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _rarest(frequency: Mapping[str, int]) -> list[str]:
    """The rarest terms, as many as few chunks have; none where even the rarest is in more."""
    chosen: list[str] = []
    total = 0
    for term, times in sorted(frequency.items(), key=lambda each: each[1]):
        total += times
        if total > LOOKED_AT:
            break
        chosen.append(term)
    return chosen


def _count(text: str) -> tuple[str, int]:
    term, _, count = text.rpartition(" ")
    return term, int(count)
