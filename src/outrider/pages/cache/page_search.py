"""Search the pages in the cache."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from sqlalchemy import literal, or_, select, text

from outrider.core.database.database import Database
from outrider.core.plain_text import render_plain_line
from outrider.core.text import extract_terms
from outrider.pages.cache.cache import canonicalize_url, restore_document
from outrider.pages.excerpt import find_excerpts
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
    """Return the best matching pages, each once, by the address where its redirects end.

    Raises:
        Unavailable: The database cannot be used.
    """
    max_terms = 32  # of a query
    rows_per_page = 4  # a page may be cached with all its text, too, and under addresses that redirect to it
    words = list(dict.fromkeys(extract_terms(query)))[:max_terms]
    if not words or limit < 1:
        return []
    search = _search_words if database.dialect == "sqlite" else _search_titles
    best: dict[str, Mapping[Any, Any]] = {}
    for row in await search(database, words, limit * rows_per_page):
        best.setdefault(canonicalize_url(row["final_url"]), row)
    hits = list(best.items())[:limit]
    return await anyio.to_thread.run_sync(lambda: [_build_hit(url, row, query) for url, row in hits])


async def _search_words(database: Database, words: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Search the full-text table, for all words if any page has them all, else for any of them."""
    sqlite_search_sql = """
        SELECT pages.final_url, pages.title, pages.fetched_at, pages.document, found.score
        FROM (
            SELECT key, -bm25(page_words, 0.0, :weight, 1.0) AS score
            FROM page_words WHERE page_words MATCH :query ORDER BY score DESC LIMIT :limit
        ) AS found
        JOIN pages ON pages.key = found.key ORDER BY found.score DESC, pages.fetched_at DESC
    """
    title_weight = 4.0  # a word in the body has 1
    quoted = [f'"{word}"' for word in words]
    async with database.read() as connection:
        for operator in (" AND ", " OR "):
            values = {"query": operator.join(quoted), "weight": title_weight, "limit": limit}
            rows = (await connection.execute(text(sqlite_search_sql), values)).mappings().all()
            if rows:
                return list(rows)
    return []


async def _search_titles(database: Database, words: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Search titles only, for databases without the full-text table."""
    columns = (pages.c.final_url, pages.c.title, pages.c.fetched_at, pages.c.document, literal(1.0).label("score"))
    matches = or_(*(pages.c.title.icontains(word, autoescape=True) for word in words))
    statement = select(*columns).where(matches).order_by(pages.c.fetched_at.desc()).limit(limit)
    async with database.read() as connection:
        return list((await connection.execute(statement)).mappings().all())


def _build_hit(url: str, row: Mapping[Any, Any], query: str) -> LocalHit:
    max_chars = 400
    max_tokens = 80
    try:
        document = restore_document(row)
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error):
        return LocalHit(row["title"] or url, url, "", row["score"], row["fetched_at"])
    excerpts = find_excerpts(document.markdown, query, max_tokens=max_tokens)
    if excerpts:
        snippet = max(excerpts, key=lambda excerpt: excerpt.score).text
    else:
        snippet = document.description or document.text[:300]
    return LocalHit(row["title"] or url, url, render_plain_line(snippet, max_chars), row["score"], row["fetched_at"])
