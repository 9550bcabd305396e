"""From a provider's items to hits: cleaned, unwrapped, only what can be opened and shown."""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from outrider.core.text import cut_text
from outrider.core.untrusted import clean_untrusted
from outrider.search.provider import ProviderRank, Query, ResultItem, SearchHit
from outrider.search.redact import redact_secrets
from outrider.search.urls import is_web_url, is_within_site, unwrap_redirect

# Only tags that engines put around matches: `a < b` and `vector<int>` are words of the page.
INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|code|em|font|i|img|mark|s|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
BLOCK_TAG = re.compile(r"</?(?:br|div|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE)
HIDDEN_MARKUP = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)


def to_hits(items: Iterable[ResultItem], query: Query, provider: str, secrets: Sequence[str] = ()) -> list[SearchHit]:
    """The items as hits in the provider's order, ranked from 1.

    Items without title or http(s) address go, and so do those outside `query.site`: some engines
    take the site for a wish.
    """
    hits = [hit for item in items if (hit := _build_hit(item, query, secrets)) is not None]
    return [_ranked(hit, provider, rank) for rank, hit in enumerate(hits, start=1)]


def _ranked(hit: SearchHit, provider: str, rank: int) -> SearchHit:
    return replace(hit, provider=provider, rank=rank, sources=(ProviderRank(provider, rank),))


def _build_hit(item: ResultItem, query: Query, secrets: Sequence[str]) -> SearchHit | None:
    max_snippet_chars = 1_000
    max_title_chars = 300
    image = parse_url(item.get("image_url"))
    page = parse_url(item.get("page_url")) or parse_url(item.get("url"))
    url = page or image
    title = cut_text(clean_text(item.get("title")), max_title_chars).text
    if not url or not title or (query.mode == "image" and not image):
        return None
    if query.site and not is_within_site(url, query.site):
        return None
    if redact_secrets(url, secrets) != url:
        return None
    return SearchHit(
        title=redact_secrets(title, secrets),
        url=url,
        snippet=redact_secrets(cut_text(clean_text(item.get("snippet")), max_snippet_chars).text, secrets),
        published=_published(item.get("published")),
        score=_parse_number(item.get("score")),
        image_url=image if query.mode == "image" else None,
        page_url=page if query.mode == "image" else None,
        thumbnail_url=parse_url(item.get("thumbnail_url")) if query.mode == "image" else None,
        width=_parse_dimension(item.get("width")),
        height=_parse_dimension(item.get("height")),
    )


def clean_text(value: Any) -> str:
    """Text on one line without engine markup, entities and invisible characters; lists are joined."""
    if isinstance(value, list):
        value = " … ".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    text = html.unescape(BLOCK_TAG.sub(" ", INLINE_TAG.sub("", HIDDEN_MARKUP.sub(" ", value))))
    return " ".join(clean_untrusted(text).split())


def parse_url(value: Any) -> str | None:
    """The unwrapped http(s) address, or None. Objects such as a thumbnail's `{src}` give theirs."""
    if isinstance(value, dict):
        value = value.get("src") or value.get("original") or value.get("url")
    if not isinstance(value, str):
        return None
    url = unwrap_redirect(clean_untrusted(html.unescape(value) if "&amp;" in value else value).strip())
    url = f"https:{url}" if url.startswith("//") else url
    return url if is_web_url(url) and "\n" not in url and "\t" not in url else None


def _published(value: Any) -> str | None:
    return clean_text(value)[:40] or None if isinstance(value, str) else None


def _parse_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _parse_dimension(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:6])
    number = _parse_number(value)
    return int(number) if number is not None and 0 < number < 1_000_000 else None
