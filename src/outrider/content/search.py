"""Searching stores: what may be asked, what is found, and the one path from candidates to hits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, bindparam, or_, select

from outrider.content.fusion import fused
from outrider.content.highlight import Excerpt, best_excerpt
from outrider.content.keywords.analysis import query_terms
from outrider.content.keywords.following import Follower
from outrider.content.keywords.index import Index, Mark
from outrider.content.keywords.ranking import ranked
from outrider.content.meaning.vectors import Vectors
from outrider.content.tables import content_chunks as table
from outrider.content.tables import content_stores, contents
from outrider.core.db import Database

Mode = Literal["keyword", "semantic", "hybrid"]
CANDIDATES = 100  # that an index is asked for at least, since its own ranking is only alike
PER_HIT = 5  # and for each hit that is wanted
NOTHING = 0.005  # a likeness that would be told as 0.00
TERMS = 64  # words of a query that count
SPARE = 2  # times as many passages as wanted are chosen: some may be gone by now
OF_CHUNK = ("id", "content_id", "store_id", "text", "start", "end", "from_line", "to_line", "heading")
OF_CONTENT = ("language", "filename", "mime_type", "title", "source", "uploaded_at")


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

    mode: Mode = "keyword"
    stores: Sequence[str] | None = None
    top_n: int = 10
    threshold: float = 0.0
    mime_types: Sequence[str] = ()
    source: str = ""
    since: float | None = None
    until: float | None = None
    neighbours: int = 0

    @property
    def filtered(self) -> bool:
        """Whether only some contents of the stores count."""
        return bool(self.mime_types or self.source or self.since is not None or self.until is not None)


@dataclass(frozen=True)
class Hit:
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
    kind: Mode
    text: str
    start: int
    end: int
    from_line: int
    to_line: int
    heading: str
    excerpt: Excerpt
    filename: str
    mime_type: str
    title: str
    source: str
    uploaded_at: float
    before: str = ""
    after: str = ""

    @property
    def shown(self) -> str:
        """The excerpt's text."""
        return self.text[self.excerpt.start : self.excerpt.end]


@dataclass(frozen=True)
class Found:
    """The hits, best first, and what the caller should know of the search."""

    hits: Sequence[Hit] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Searched:
    """A store that is searched: the languages of its texts, and how far its rows are."""

    languages: Sequence[str]
    mark: Mark


class Searching:
    """Finds passages in stores that the caller may see."""

    def __init__(self, database: Database, index: Index, follower: Follower, vectors: "Vectors | None") -> None:
        self._database = database
        self._index = index
        self._follower = follower
        self._vectors = vectors

    async def find(self, query: str, stores: Mapping[str, Searched], options: SearchOptions) -> Found:
        """The best passages.

        Args:
            query: Words, or a question.
            stores: Those that are searched, by id.
            options: How; `stores` there is not looked at.
        """
        languages = sorted({name for store in stores.values() for name in store.languages})
        words = query_terms(query, languages)[:TERMS]
        within = await self._within(list(stores), options) if options.filtered else None
        if not stores or (within is not None and not within):
            return Found()
        best = await self._ranking(query, words, stores, options, within)
        least = max(options.threshold, NOTHING if options.mode != "keyword" else 0.0)
        chosen = [each for each in best if each[1] >= least][: options.top_n * SPARE]
        shown = Shown(options.mode, frozenset(term for terms in words for term in terms))
        hits = await self._database.short(
            lambda connection: _hits(connection, chosen, options.top_n, shown), write=False
        )
        return Found(await self._with_neighbours(hits, options.neighbours) if options.neighbours else hits)

    async def _ranking(
        self,
        query: str,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, Searched],
        options: SearchOptions,
        within: Collection[str] | None,
    ) -> Sequence[tuple[str, float]]:
        """Chunk ids with scores, best first."""
        limit = max(options.top_n * PER_HIT, CANDIDATES)
        if options.mode == "keyword" or self._vectors is None:
            few = options.top_n * SPARE
            return await self._by_words(words, stores, few if self._index.exact(list(stores)) else limit, within)
        near = [
            (each.chunk, each.score) for each in await self._vectors.nearest(query, list(stores), limit, within=within)
        ]
        if options.mode == "semantic":
            return near

        weight = self._vectors.embedder.weight
        return fused([await self._by_words(words, stores, limit, within), near], [1 - weight, weight])

    async def _by_words(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Mapping[str, Searched],
        limit: int,
        within: Collection[str] | None,
    ) -> list[tuple[str, float]]:
        if not any(words):
            return []
        marks = {store: each.mark for store, each in stores.items()}
        found = await self._index.candidates(words, list(stores), limit, within=within, marks=marks)
        if found.behind:
            await self._follower.catch_up(found.behind, {store: marks[store] for store in found.behind})
            found = await self._index.candidates(words, list(stores), limit, within=within)
        return ranked(words, found)

    async def _within(self, stores: Sequence[str], options: SearchOptions) -> list[str]:
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
        return await self._database.short(lambda connection: list(connection.execute(query).scalars()), write=False)

    async def _with_neighbours(self, hits: Sequence[Hit], count: int) -> list[Hit]:
        return [await self._surrounded(hit, count) for hit in hits]

    async def _surrounded(self, hit: Hit, count: int) -> Hit:

        number = int(hit.chunk_id.rpartition(".")[2])
        query = select(table.c.start, table.c.end, table.c.text).where(
            table.c.content_id == hit.content_id, table.c.number.between(number - count, number + count)
        )
        rows = await self._database.short(
            lambda connection: list(connection.execute(query.order_by(table.c.number))), write=False
        )
        whole = joined(rows)
        first = rows[0].start if rows else hit.start
        return replace(hit, before=whole[: max(hit.start - first, 0)], after=whole[hit.end - first :])


class Shown(NamedTuple):
    """How hits are shown: what kind they are of, and the terms that they are to show."""

    kind: Mode
    terms: frozenset[str]


def _hits(connection: "Connection", best: Sequence[tuple[str, float]], count: int, shown: Shown) -> list[Hit]:
    """The first of these chunks that are (still) there: mostly one query, more where some are gone."""
    hits: list[Hit] = []
    for first in range(0, len(best), count):
        some = dict(best[first : first + count])
        rows = {row[0]: row for row in connection.execute(_by_id(), {"ids": list(some)})}
        hits += [_hit(rows[chunk], score, shown) for chunk, score in some.items() if chunk in rows]
        if len(hits) >= count:
            break
    return hits[:count]


@lru_cache(maxsize=1)
def _by_id() -> Any:
    """Chunks by their ids with what is said of their contents; built once, which takes longer than asking."""
    query = select(*(table.c[name] for name in OF_CHUNK), *(contents.c[name] for name in OF_CONTENT))
    query = query.join(contents, contents.c.id == table.c.content_id)
    query = query.join(content_stores, content_stores.c.id == table.c.store_id)
    return query.where(table.c.id.in_(bindparam("ids", expanding=True)))


def joined(rows: Sequence[Any]) -> str:
    """The text that consecutive chunks cover, from the first one's start on."""
    parts: list[str] = []
    reached = rows[0].start if rows else 0
    for row in rows:
        parts.append(row.text[reached - row.start :])
        reached = row.end
    return "".join(parts)


def _hit(row: Any, score: float, shown: Shown) -> Hit:
    chunk, content, store, text, start, end, first, last, heading, language, *about = row
    excerpt = best_excerpt(text, shown.terms, language)
    score = min(max(score, 0.0), 1.0)
    return Hit(chunk, content, store, score, shown.kind, text, start, end, first, last, heading, excerpt, *about)
