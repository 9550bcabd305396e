"""Searching stores: what may be asked, what is found, and the one path from candidates to hits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, bindparam, or_, select

from outrider.content.fusion import fuse_rankings
from outrider.content.highlight import HitExcerpt, find_best_excerpt
from outrider.content.lexical.analysis import parse_query_terms
from outrider.content.lexical.index import LexicalIndex, Watermark
from outrider.content.lexical.index_sync import IndexSync
from outrider.content.lexical.ranking import rank_candidates
from outrider.content.semantic.vector_index import VectorIndex
from outrider.content.tables import content_chunks as table
from outrider.content.tables import content_stores, contents
from outrider.core.database.database import Database

SearchMode = Literal["keyword", "semantic", "hybrid"]
OVERFETCH_FACTOR = 2  # times as many passages as wanted are chosen: some may be gone by now


@dataclass(frozen=True)
class SearchOptions:
    """What is searched, and how.

    Attributes:
        mode: By words, by meaning, or by both.
        stores: Ids; None for all of the session's.
        top_n: How many hits, 1 to 100.
        threshold: The least score, 0 to 1.
        mime_types: Only contents of these types; `*` at the end stands for anything.
        source: Only contents whose source or filename has this text in it, whatever its case.
        since, until: Only contents uploaded then, in seconds since the epoch.
        neighbours: How many passages before and after each hit come with it.
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
        """Whether only some contents of the stores count."""
        return bool(self.mime_types or self.source or self.since is not None or self.until is not None)


@dataclass(frozen=True)
class ContentHit:
    """A passage that was found.

    Attributes:
        score: 0 to 1; of words the share of the best thinkable match, of meaning the cosine, of both their fusion.
        text: The whole passage.
        excerpt: The part of it that shows best why it matches.
        before, after: The neighbouring passages that were asked for, without what overlaps.
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
        """The excerpt's text."""
        return self.text[self.excerpt.start : self.excerpt.end]


@dataclass(frozen=True)
class ContentSearchResult:
    """The hits, best first, and what the caller should know of the search."""

    hits: Sequence[ContentHit] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class SearchableStore:
    """A store that is searched: the languages of its texts, and how far its rows are."""

    languages: Sequence[str]
    watermark: Watermark


class ContentSearcher:
    """Finds passages in stores that the caller may see."""

    def __init__(
        self, database: Database, index: LexicalIndex, follower: IndexSync, vectors: "VectorIndex | None"
    ) -> None:
        self._database = database
        self._index = index
        self._index_sync = follower
        self._vectors = vectors

    async def search(
        self, query: str, stores: Mapping[str, SearchableStore], options: SearchOptions
    ) -> ContentSearchResult:
        """The best passages.

        Args:
            query: Words, or a question.
            stores: Those that are searched, by id.
            options: How; `stores` there is not looked at.
        """
        max_query_terms = 64  # words of a query that count
        min_similarity = 0.005  # a likeness that would be told as 0.00
        languages = sorted({name for store in stores.values() for name in store.languages})
        words = parse_query_terms(query, languages)[:max_query_terms]
        within = await self._filter_contents(list(stores), options) if options.has_filters else None
        if not stores or (within is not None and not within):
            return ContentSearchResult()
        best = await self._rank_candidates(query, words, stores, options, within)
        least = max(options.threshold, min_similarity if options.mode != "keyword" else 0.0)
        chosen = [each for each in best if each[1] >= least][: options.top_n * OVERFETCH_FACTOR]
        shown = HitFormat(options.mode, frozenset(term for terms in words for term in terms))
        hits = await self._database.run_transaction(
            lambda connection: _load_hits(connection, chosen, options.top_n, shown), write=False
        )
        return ContentSearchResult(
            await self._with_neighbours(hits, options.neighbours) if options.neighbours else hits
        )

    async def _rank_candidates(
        self,
        query: str,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, SearchableStore],
        options: SearchOptions,
        within: Collection[str] | None,
    ) -> Sequence[tuple[str, float]]:
        """Chunk ids with scores, best first."""
        candidates_per_hit = 5  # and for each hit that is wanted
        min_candidates = 100  # that an index is asked for at least, since its own ranking is only alike
        limit = max(options.top_n * candidates_per_hit, min_candidates)
        if options.mode == "keyword" or self._vectors is None:
            few = options.top_n * OVERFETCH_FACTOR
            return await self._rank_by_words(
                words, stores, few if self._index.is_exact(list(stores)) else limit, within
            )
        near = [
            (each.chunk, each.score)
            for each in await self._vectors.find_nearest(query, list(stores), limit, within=within)
        ]
        if options.mode == "semantic":
            return near

        weight = self._vectors.embedder.weight
        return fuse_rankings([await self._rank_by_words(words, stores, limit, within), near], [1 - weight, weight])

    async def _rank_by_words(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, SearchableStore],
        limit: int,
        within: Collection[str] | None,
    ) -> list[tuple[str, float]]:
        if not any(words):
            return []
        marks = {store: each.watermark for store, each in stores.items()}
        found = await self._index.find_candidates(words, list(stores), limit, within=within, marks=marks)
        if found.stale_stores:
            await self._index_sync.catch_up(found.stale_stores, {store: marks[store] for store in found.stale_stores})
            found = await self._index.find_candidates(words, list(stores), limit, within=within)
        return rank_candidates(words, found)

    async def _filter_contents(self, stores: Sequence[str], options: SearchOptions) -> list[str]:
        """The contents that pass the filters."""
        from outrider.content.tables import contents as table

        query = select(table.c.id).where(table.c.store_id.in_(stores))
        if options.mime_types:
            patterns = [each.replace("*", "%").lower() for each in options.mime_types]
            query = query.where(or_(*(table.c.mime_type.like(each) for each in patterns)))
        if options.source:
            places = (table.c.source, table.c.filename)
            query = query.where(or_(*(place.icontains(options.source, autoescape=True) for place in places)))
        if options.since is not None:
            query = query.where(table.c.uploaded_at >= options.since)
        if options.until is not None:
            query = query.where(table.c.uploaded_at <= options.until)
        return await self._database.run_transaction(
            lambda connection: list(connection.execute(query).scalars()), write=False
        )

    async def _with_neighbours(self, hits: Sequence[ContentHit], count: int) -> list[ContentHit]:
        return [await self._add_context(hit, count) for hit in hits]

    async def _add_context(self, hit: ContentHit, count: int) -> ContentHit:

        number = int(hit.chunk_id.rpartition(".")[2])
        query = select(table.c.start, table.c.end, table.c.text).where(
            table.c.content_id == hit.content_id, table.c.number.between(number - count, number + count)
        )
        rows = await self._database.run_transaction(
            lambda connection: list(connection.execute(query.order_by(table.c.number))), write=False
        )
        whole = join_chunks(rows)
        first = rows[0].start if rows else hit.start
        return replace(hit, before=whole[: max(hit.start - first, 0)], after=whole[hit.end - first :])


class HitFormat(NamedTuple):
    """How hits are shown: what kind they are of, and the terms that they are to show."""

    kind: SearchMode
    terms: frozenset[str]


def _load_hits(
    connection: "Connection", best: Sequence[tuple[str, float]], count: int, shown: HitFormat
) -> list[ContentHit]:
    """The first of these chunks that are (still) there: mostly one query, more where some are gone."""
    hits: list[ContentHit] = []
    for first in range(0, len(best), count):
        some = dict(best[first : first + count])
        rows = {row[0]: row for row in connection.execute(_build_hit_query(), {"ids": list(some)})}
        hits += [_build_hit(rows[chunk], score, shown) for chunk, score in some.items() if chunk in rows]
        if len(hits) >= count:
            break
    return hits[:count]


@lru_cache(maxsize=1)
def _build_hit_query() -> Any:
    """Chunks by their ids with what is said of their contents; built once, which takes longer than asking."""
    content_columns = ("language", "filename", "mime_type", "title", "source", "uploaded_at")
    chunk_columns = ("id", "content_id", "store_id", "text", "start", "end", "from_line", "to_line", "heading")
    query = select(*(table.c[name] for name in chunk_columns), *(contents.c[name] for name in content_columns))
    query = query.join(contents, contents.c.id == table.c.content_id)
    query = query.join(content_stores, content_stores.c.id == table.c.store_id)
    return query.where(table.c.id.in_(bindparam("ids", expanding=True)))


def join_chunks(rows: Sequence[Any]) -> str:
    """The text that consecutive chunks cover, from the first one's start on."""
    parts: list[str] = []
    reached = rows[0].start if rows else 0
    for row in rows:
        parts.append(row.text[reached - row.start :])
        reached = row.end
    return "".join(parts)


def _build_hit(row: Any, score: float, shown: HitFormat) -> ContentHit:
    chunk, content, store, text, start, end, first, last, heading, language, *about = row
    excerpt = find_best_excerpt(text, shown.terms, language)
    score = min(max(score, 0.0), 1.0)
    return ContentHit(chunk, content, store, score, shown.kind, text, start, end, first, last, heading, excerpt, *about)
