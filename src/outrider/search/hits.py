"""Turn a provider's items into hits that can be shown."""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from outrider.core.text import cut_text
from outrider.core.untrusted import clean_untrusted, disarm_marks
from outrider.search.failures import redact_secrets
from outrider.search.provider import ProviderRank, Query, ResultItem, SearchHit
from outrider.search.urls import is_web_url, is_within_site, unwrap_redirect

# Only the tags that engines put around matches, because `a < b` and `vector<int>` are words of the page.
INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|code|em|font|i|img|mark|s|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
BLOCK_TAG = re.compile(r"</?(?:br|div|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE)
HIDDEN_MARKUP = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)


def to_hits(items: Iterable[ResultItem], query: Query, provider: str, secrets: Sequence[str] = ()) -> list[SearchHit]:
    """Return the items as hits in the provider's order, ranked from 1.

    Items without title or http(s) address are dropped, and so are those outside `query.sites` or within
    `query.exclude`, because some engines treat a site as a preference.
    """
    hits = [hit for item in items if (hit := _build_hit(item, query, secrets)) is not None]
    return [
        replace(hit, provider=provider, rank=rank, sources=(ProviderRank(provider, rank),))
        for rank, hit in enumerate(hits, start=1)
    ]


def _build_hit(item: ResultItem, query: Query, secrets: Sequence[str]) -> SearchHit | None:
    max_snippet_chars = 1_000
    max_title_chars = 300
    max_date_chars = 40
    published = item.get("published")
    image = parse_url(item.get("image_url"))
    page = parse_url(item.get("page_url")) or parse_url(item.get("url"))
    url = page or image
    title = cut_text(clean_text(item.get("title")), max_title_chars).text
    if not url or not title or (query.mode == "image" and not image):
        return None
    if query.sites and not any(is_within_site(url, site) for site in query.sites):
        return None
    if any(is_within_site(url, site) for site in query.exclude):
        return None
    if redact_secrets(url, secrets) != url:
        return None
    return SearchHit(
        title=redact_secrets(title, secrets),
        url=url,
        snippet=redact_secrets(cut_text(clean_text(item.get("snippet")), max_snippet_chars).text, secrets),
        published=clean_text(published)[:max_date_chars] or None if isinstance(published, str) else None,
        score=_parse_number(item.get("score")),
        image_url=image if query.mode == "image" else None,
        page_url=page if query.mode == "image" else None,
        thumbnail_url=parse_url(item.get("thumbnail_url")) if query.mode == "image" else None,
        width=_parse_dimension(item.get("width")),
        height=_parse_dimension(item.get("height")),
    )


def clean_text(value: Any) -> str:
    """Return text on one line without engine markup, entities and invisible characters; lists are joined."""
    if isinstance(value, list):
        value = " … ".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    text = html.unescape(BLOCK_TAG.sub(" ", INLINE_TAG.sub("", HIDDEN_MARKUP.sub(" ", value))))
    return disarm_marks(" ".join(clean_untrusted(text).split()))


def parse_url(value: Any) -> str | None:
    """Return the unwrapped http(s) address, or None; the address in an object such as a thumbnail's `{src}` counts."""
    if isinstance(value, dict):
        value = value.get("src") or value.get("original") or value.get("url")
    if not isinstance(value, str):
        return None
    url = unwrap_redirect(clean_untrusted(html.unescape(value) if "&amp;" in value else value).strip())
    url = f"https:{url}" if url.startswith("//") else url
    return url if is_web_url(url) and "\n" not in url and "\t" not in url else None


def _parse_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _parse_dimension(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:6])
    number = _parse_number(value)
    return int(number) if number is not None and 0 < number < 1_000_000 else None
