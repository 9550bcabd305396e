"""Search content stores: options, hits, and the path from query to hits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, or_, select

from outrider.content.highlight import HitExcerpt, find_best_excerpt
from outrider.content.lexical.analysis import parse_query_terms
from outrider.content.lexical.index import LexicalIndex, Watermark
from outrider.content.lexical.index_sync import IndexSync
from outrider.content.lexical.ranking import rank_candidates
from outrider.content.semantic.vector_index import VectorIndex
from outrider.content.tables import content_chunks, content_stores, contents
from outrider.core.database.database import Database

SearchMode = Literal["keyword", "semantic", "hybrid"]
OVERFETCH_FACTOR = 2  # rank this many times the wanted hits, as some may have been deleted in the meantime
Ranking = Sequence[tuple[str, float]]
CALIBRATION_DEPTH = 100  # with so many results, the lowest score is taken for common background


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search.

    Attributes:
        mode: By words, by meaning, or by both.
        stores: Ids; None for all stores of the session.
        top_n: Number of hits, 1 to 100.
        threshold: Lowest score of a hit, 0 to 1.
        mime_types: Only contents of these types; `*` matches anything.
        source: Only contents whose source or filename contains this text, ignoring case.
        since, until: Only contents uploaded in this period, in seconds since the epoch.
        neighbours: Number of passages before and after each hit to return with it.
    """

    mode: SearchMode = "keyword"
    stores: Sequence[str] | None = None
    top_n: int = 10
    threshold: float = 0.0
    mime_types: Sequence[str] = ()
    source: str = ""
    since: float | None = None
    until: float | None = None
    neighbours: int = 0

    @property
    def has_filters(self) -> bool:
        """Whether the options exclude some contents of the stores."""
        return bool(self.mime_types or self.source or self.since is not None or self.until is not None)


@dataclass(frozen=True)
class ContentHit:
    """A passage that matches a query.

    Attributes:
        score: 0 to 1: share of the best possible word match, cosine of the vectors, or the fusion of both.
        text: The whole passage.
        excerpt: The slice of it that best shows the match.
        before, after: Text of neighbouring passages, without the overlap.
    """

    chunk_id: str
    content_id: str
    store_id: str
    score: float
    kind: SearchMode
    text: str
    start: int
    end: int
    from_line: int
    to_line: int
    heading: str
    excerpt: HitExcerpt
    filename: str
    mime_type: str
    title: str
    source: str
    uploaded_at: float
    before: str = ""
    after: str = ""

    @property
    def excerpt_text(self) -> str:
        """Text of the excerpt."""
        return self.text[self.excerpt.start : self.excerpt.end]


@dataclass(frozen=True)
class ContentSearchResult:
    """The hits, best first, and notes for the caller."""

    hits: Sequence[ContentHit] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class SearchableStore:
    """The languages of a store's texts, and the watermark of its rows."""

    languages: Sequence[str]
    watermark: Watermark


class ContentSearcher:
    """Finds passages in stores that the caller may read."""

    def __init__(
        self, database: Database, index: LexicalIndex, index_sync: IndexSync, vectors: VectorIndex | None
    ) -> None:
        self._database = database
        self._index = index
        self._index_sync = index_sync
        self._vectors = vectors

    async def search(
        self, query: str, stores: Mapping[str, SearchableStore], options: SearchOptions
    ) -> ContentSearchResult:
        """Return the best passages.

        Args:
            query: Words, or a question.
            stores: The stores to search, by id.
            options: How to search; its `stores` are ignored.
        """
        max_query_terms = 64  # further words of the query are ignored
        min_similarity = 0.005  # a lower cosine would be shown as 0.00
        languages = sorted({name for store in stores.values() for name in store.languages})
        words = parse_query_terms(query, languages)[:max_query_terms]
        within = await self._filter_contents(list(stores), options) if options.has_filters else None
        if not stores or (within is not None and not within):
            return ContentSearchResult()
        ranking = await self._rank_chunks(query, words, stores, options, within)
        min_score = max(options.threshold, min_similarity if options.mode != "keyword" else 0.0)
        best = [(chunk, score) for chunk, score in ranking if score >= min_score]
        best = best[: options.top_n * OVERFETCH_FACTOR]
        terms = frozenset(term for alternatives in words for term in alternatives)
        hits = await self._database.run_transaction(
            lambda connection: _load_hits(connection, best, options.top_n, options.mode, terms), write=False
        )
        if options.neighbours:
            hits = [await self._add_context(hit, options.neighbours) for hit in hits]
        return ContentSearchResult(hits)

    async def _rank_chunks(
        self,
        query: str,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, SearchableStore],
        options: SearchOptions,
        within: Collection[str] | None,
    ) -> Sequence[tuple[str, float]]:
        """Return chunk ids with scores, best first."""
        # An inexact index only ranks roughly, so ask it for more candidates than hits.
        limit = max(5 * options.top_n, 100)
        if options.mode == "keyword" or self._vectors is None:
            exact = self._index.is_exact(list(stores))
            return await self._rank_by_words(
                words, stores, options.top_n * OVERFETCH_FACTOR if exact else limit, within
            )
        nearest = await self._vectors.find_nearest(query, list(stores), limit, within=within)
        semantic = [(scored.chunk, scored.score) for scored in nearest]
        if options.mode == "semantic":
            return semantic
        weight = self._vectors.embedder.weight
        lexical = await self._rank_by_words(words, stores, limit, within)
        return fuse_rankings([lexical, semantic], [1 - weight, weight])

    async def _rank_by_words(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, SearchableStore],
        limit: int,
        within: Collection[str] | None,
    ) -> list[tuple[str, float]]:
        if not any(words):
            return []
        watermarks = {name: store.watermark for name, store in stores.items()}
        candidates = await self._index.find_candidates(words, list(stores), limit, within=within, watermarks=watermarks)
        if stale := candidates.stale_stores:
            await self._index_sync.catch_up(stale, {store: watermarks[store] for store in stale})
            candidates = await self._index.find_candidates(words, list(stores), limit, within=within)
        return rank_candidates(words, candidates)

    async def _filter_contents(self, stores: Sequence[str], options: SearchOptions) -> list[str]:
        """Return the ids of contents that pass the filters."""
        query = select(contents.c.id).where(contents.c.store_id.in_(stores))
        if options.mime_types:
            patterns = [mime_type.replace("*", "%").lower() for mime_type in options.mime_types]
            query = query.where(or_(*(contents.c.mime_type.like(pattern) for pattern in patterns)))
        if options.source:
            columns = (contents.c.source, contents.c.filename)
            query = query.where(or_(*(column.icontains(options.source, autoescape=True) for column in columns)))
        if options.since is not None:
            query = query.where(contents.c.uploaded_at >= options.since)
        if options.until is not None:
            query = query.where(contents.c.uploaded_at <= options.until)
        return await self._database.run_transaction(
            lambda connection: list(connection.execute(query).scalars()), write=False
        )

    async def _add_context(self, hit: ContentHit, count: int) -> ContentHit:
        """Add the text of `count` passages before and after a hit."""
        number = int(hit.chunk_id.rpartition(".")[2])
        query = select(content_chunks.c.start, content_chunks.c.end, content_chunks.c.text).where(
            content_chunks.c.content_id == hit.content_id,
            content_chunks.c.number.between(number - count, number + count),
        )
        rows = await self._database.run_transaction(
            lambda connection: list(connection.execute(query.order_by(content_chunks.c.number))), write=False
        )
        text = join_chunks(rows)
        start = rows[0].start if rows else hit.start
        return replace(hit, before=text[: max(hit.start - start, 0)], after=text[hit.end - start :])


def _load_hits(
    connection: Connection, best: Sequence[tuple[str, float]], limit: int, mode: SearchMode, terms: frozenset[str]
) -> list[ContentHit]:
    """Load the first `limit` of these chunks that still exist; usually with one query, with more if some are gone."""
    hits: list[ContentHit] = []
    for start in range(0, len(best), limit):
        scores = dict(best[start : start + limit])
        rows = {row[0]: row for row in connection.execute(_build_hit_query(), {"ids": list(scores)})}
        for chunk, score in scores.items():
            if row := rows.get(chunk):
                *columns, language, filename, mime_type, title, source, uploaded_at = row
                _, content, store, text, first, end, from_line, to_line, heading = columns
                excerpt = find_best_excerpt(text, terms, language)
                hit = ContentHit(chunk, content, store, min(max(score, 0.0), 1.0), mode, text, first, end, from_line,
                                 to_line, heading,
                                 excerpt, filename, mime_type, title, source, uploaded_at)  # fmt: skip
                hits.append(hit)
        if len(hits) >= limit:
            break
    return hits[:limit]


@lru_cache(maxsize=1)
def _build_hit_query() -> Any:
    """Build the query for chunks once, because building takes longer than running it."""
    chunk_columns = ("id", "content_id", "store_id", "text", "start", "end", "from_line", "to_line", "heading")
    content_columns = ("language", "filename", "mime_type", "title", "source", "uploaded_at")
    query = select(*(content_chunks.c[name] for name in chunk_columns), *(contents.c[name] for name in content_columns))
    # Joining store and content hides chunks that are deleted but not purged yet.
    query = query.join(contents, contents.c.id == content_chunks.c.content_id)
    query = query.join(content_stores, content_stores.c.id == content_chunks.c.store_id)
    return query.where(content_chunks.c.id.in_(bindparam("ids", expanding=True)))


def join_chunks(rows: Sequence[Any]) -> str:
    """Return the text that consecutive, overlapping chunks cover."""
    parts: list[str] = []
    end = rows[0].start if rows else 0
    for row in rows:
        parts.append(row.text[end - row.start :])
        end = row.end
    return "".join(parts)


def fuse_rankings(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[tuple[str, float]]:
    """Fuse rankings into one.

    Args:
        rankings: Each best first: (chunk id, score from 0 to 1).
        weights: Relative weight of each ranking; equal by default.

    Returns:
        Every chunk of any ranking, best first, with scores from 0 to 1; a chunk that a ranking lacks has 0 there. Ties
        keep the order of the earlier rankings.
    """
    shares = list(weights or [1.0] * len(rankings))
    total_weight = sum(shares) or 1.0
    scores: dict[str, float] = {}
    for share, ranking in zip(shares, rankings, strict=True):
        # With fewer results, it is less certain that the lowest score is mere background.
        depth = min(1.0, len(ranking) / CALIBRATION_DEPTH)
        floor = min((score for _, score in ranking), default=0.0) * depth
        for chunk, score in ranking:
            scaled = (score - floor) / (1 - floor) if floor < 1 else score
            scores[chunk] = scores.get(chunk, 0.0) + share / total_weight * scaled
    return sorted(scores.items(), key=lambda scored: -scored[1])
