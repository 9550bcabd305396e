"""From a provider's items to hits: cleaned, unwrapped, only what can be opened and shown."""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from outrider.core.text import cut
from outrider.core.untrusted import clean
from outrider.search.links import is_web, unwrap, within_site
from outrider.search.provider import Hit, Item, Query, Source
from outrider.search.redact import redact

TITLE_CHARS = 300
SNIPPET_CHARS = 1_000
# Only tags that engines put around matches: `a < b` and `vector<int>` are words of the page.
INLINE = re.compile(
    r"</?(?:a|abbr|b|code|em|font|i|img|mark|s|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
BLOCK = re.compile(r"</?(?:br|div|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE)
HIDDEN = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)


def to_hits(found: Iterable[Item], query: Query, provider: str, secrets: Sequence[str] = ()) -> list[Hit]:
    """The items as hits in the provider's order, ranked from 1.

    Items without title or http(s) address go, and so do those outside `query.site`: some engines
    take the site for a wish.
    """
    hits = [hit for item in found if (hit := _hit(item, query, secrets)) is not None]
    return [_ranked(hit, provider, rank) for rank, hit in enumerate(hits, start=1)]


def _ranked(hit: Hit, provider: str, rank: int) -> Hit:
    return replace(hit, provider=provider, rank=rank, sources=(Source(provider, rank),))


def _hit(item: Item, query: Query, secrets: Sequence[str]) -> Hit | None:
    image = address(item.get("image_url"))
    page = address(item.get("page_url")) or address(item.get("url"))
    url = page or image
    title = cut(plain(item.get("title")), TITLE_CHARS).text
    if not url or not title or (query.mode == "image" and not image):
        return None
    if query.site and not within_site(url, query.site):
        return None
    if redact(url, secrets) != url:
        return None
    return Hit(
        title=redact(title, secrets),
        url=url,
        snippet=redact(cut(plain(item.get("snippet")), SNIPPET_CHARS).text, secrets),
        published=_published(item.get("published")),
        score=_number(item.get("score")),
        image_url=image if query.mode == "image" else None,
        page_url=page if query.mode == "image" else None,
        thumbnail_url=address(item.get("thumbnail_url")) if query.mode == "image" else None,
        width=_size(item.get("width")),
        height=_size(item.get("height")),
    )


def plain(value: Any) -> str:
    """Text on one line without engine markup, entities and invisible characters; lists are joined."""
    if isinstance(value, list):
        value = " … ".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    text = html.unescape(BLOCK.sub(" ", INLINE.sub("", HIDDEN.sub(" ", value))))
    return " ".join(clean(text).split())


def address(value: Any) -> str | None:
    """The unwrapped http(s) address, or None. Objects such as a thumbnail's `{src}` give theirs."""
    if isinstance(value, dict):
        value = value.get("src") or value.get("original") or value.get("url")
    if not isinstance(value, str):
        return None
    url = unwrap(clean(html.unescape(value) if "&amp;" in value else value).strip())
    url = f"https:{url}" if url.startswith("//") else url
    return url if is_web(url) and "\n" not in url and "\t" not in url else None


def _published(value: Any) -> str | None:
    return plain(value)[:40] or None if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _size(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:6])
    number = _number(value)
    return int(number) if number is not None and 0 < number < 1_000_000 else None
