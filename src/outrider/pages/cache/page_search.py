"""Search in what was read: the pages that the cache still holds."""

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

SQLITE_SEARCH_SQL = """
    SELECT pages.final_url, pages.title, pages.fetched_at, pages.document, found.score
    FROM (
        SELECT key, -bm25(page_words, 0.0, :weight, 1.0) AS score
        FROM page_words WHERE page_words MATCH :query ORDER BY score DESC LIMIT :limit
    ) AS found
    JOIN pages ON pages.key = found.key ORDER BY found.score DESC, pages.fetched_at DESC
"""


@dataclass(frozen=True)
class LocalHit:
    """A page that was read before and matches; a higher score is better."""

    title: str
    url: str
    snippet: str
    score: float
    fetched_at: float


async def search_pages(database: Database, query: str, limit: int) -> list[LocalHit]:
    """The best pages, each once, under the address where its redirects end.

    Raises Unavailable if the database cannot be used.
    """
    max_terms = 32  # words of a query that count
    rows_per_page = 4  # looked at for a page: it may be kept whole, too, and under the addresses that lead to it
    words = list(dict.fromkeys(extract_terms(query)))[:max_terms]
    if not words or limit < 1:
        return []
    find = _search_words if database.dialect == "sqlite" else _search_titles
    best: dict[str, Mapping[Any, Any]] = {}
    for row in await find(database, words, limit * rows_per_page):
        best.setdefault(canonicalize_url(row["final_url"]), row)
    shown = list(best.items())[:limit]
    return await anyio.to_thread.run_sync(lambda: [_build_hit(url, row, query) for url, row in shown])


async def _search_words(database: Database, words: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Full-text search. All words if any page has them all, else any of them."""
    title_weight = 4.0  # of a word in the title against one in the body
    quoted = [f'"{word}"' for word in words]
    async with database.read() as connection:
        for joint in (" AND ", " OR "):
            given = {"query": joint.join(quoted), "weight": title_weight, "limit": limit}
            rows = (await connection.execute(text(SQLITE_SEARCH_SQL), given)).mappings().all()
            if rows:
                return list(rows)
    return []


async def _search_titles(database: Database, words: list[str], limit: int) -> list[Mapping[Any, Any]]:
    """Titles only: what a database without our word table can do."""
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
    found = find_excerpts(document.markdown, query, max_tokens=max_tokens)
    best = max(found, key=lambda each: each.score).text if found else document.description or document.text[:300]
    return LocalHit(row["title"] or url, url, render_plain_line(best, max_chars), row["score"], row["fetched_at"])
