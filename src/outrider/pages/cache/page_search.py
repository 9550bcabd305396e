"""Search the pages in the cache."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from sqlalchemy import literal, or_, select, text

from outrider.core.database.database import Database
from outrider.core.plain_text import render_plain_line
from outrider.pages.cache.cache import canonicalize_url, restore_document
from outrider.pages.document import Document
from outrider.pages.excerpt import find_excerpts
from outrider.pages.passage_ranking import ScoredDocument, extract_content_words, score_documents
from outrider.pages.tables import pages


@dataclass(frozen=True)
class LocalHit:
    """A cached page that matches. A higher score is better."""

    title: str
    url: str
    snippet: str
    score: float
    fetched_at: float


async def search_pages(database: Database, query: str, limit: int) -> list[LocalHit]:
    """Return the pages that match the query best, each page once.

    A page's best passage, title and address are compared.

    Raises:
        Unavailable: The database cannot be used.
    """
    max_terms = 32  # of a query
    min_candidates = 30  # pages to compare by their passages
    rows_per_page = 4  # a page may also be cached in full, and under addresses that redirect to it
    words = extract_content_words(query)[:max_terms]
    if not words or limit < 1:
        return []
    search = _search_words if database.dialect == "sqlite" else _search_titles
    found: dict[str, Mapping[Any, Any]] = {}
    for row in await search(database, words, max(limit, min_candidates) * rows_per_page):
        found.setdefault(canonicalize_url(row["final_url"]), row)
    return await anyio.to_thread.run_sync(_rank_pages, list(found.items())[: max(limit, min_candidates)], query, limit)


async def _search_words(database: Database, stems: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Search the full-text table for words that begin with any of the stems."""
    sqlite_search_sql = """
        SELECT pages.final_url, pages.title, pages.fetched_at, pages.document, found.score
        FROM (
            SELECT key, -bm25(page_words, 0.0, :weight, 1.0) AS score
            FROM page_words WHERE page_words MATCH :query ORDER BY score DESC LIMIT :limit
        ) AS found
        JOIN pages ON pages.key = found.key ORDER BY found.score DESC, pages.fetched_at DESC
    """
    title_weight = 4.0  # a word in the body has 1
    terms = " OR ".join(f'"{stem}"*' if stem.isascii() and len(stem) > 2 else f'"{stem}"' for stem in stems)
    values = {"query": terms, "weight": title_weight, "limit": limit}
    async with database.read() as connection:
        return list((await connection.execute(text(sqlite_search_sql), values)).mappings().all())


async def _search_titles(database: Database, words: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Search titles only, for databases without the full-text table."""
    columns = (pages.c.final_url, pages.c.title, pages.c.fetched_at, pages.c.document, literal(1.0).label("score"))
    matches = or_(*(pages.c.title.icontains(word, autoescape=True) for word in words))
    statement = select(*columns).where(matches).order_by(pages.c.fetched_at.desc()).limit(limit)
    async with database.read() as connection:
        return list((await connection.execute(statement)).mappings().all())


def _rank_pages(found: list[tuple[str, Mapping[Any, Any]]], query: str, limit: int) -> list[LocalHit]:
    """Return hits for the pages that score best."""
    max_chars = 200_000  # of a page to compare; its subject is clear by then
    candidates = [(url, row, _restore_cached_document(row)) for url, row in found]
    scores = score_documents(
        [
            ScoredDocument(row["title"] or "", url, document.markdown[:max_chars] if document else "")
            for url, row, document in candidates
        ],
        query,
    )
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda pair: -pair[0])
    return [
        LocalHit(row["title"] or url, url, _write_snippet(document, query), score, row["fetched_at"])
        for score, (url, row, document) in ranked[:limit]
    ]


def _restore_cached_document(row: Mapping[Any, Any]) -> Document | None:
    """Return the cached document, or None for one that can no longer be read."""
    try:
        return restore_document(row)
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error):
        return None


def _write_snippet(document: Document | None, query: str) -> str:
    """Return the passage that answers the query best, on one line."""
    max_chars = 400
    max_tokens = 80
    if document is None:
        return ""
    excerpts = find_excerpts(document.markdown, query, max_tokens=max_tokens)
    if excerpts:
        return render_plain_line(max(excerpts, key=lambda excerpt: excerpt.score).text, max_chars)
    return render_plain_line(document.description or document.text[:300], max_chars)
