"""SearXNG, a metasearch engine that people run themselves: docs.searxng.org/dev/search_api.html."""

import re
from typing import Any

from outrider.search.failures import Code, failure
from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

CATEGORIES = {"web": "general", "image": "images", "news": "news"}
SAFE = {"off": 0, "moderate": 1, "strict": 2}
JSON_OFF = "JSON is off: add json to search.formats in settings.yml"
SIZE = re.compile(r"(\d+)\s*[x×]\s*(\d+)")


def ask(query: Query, access: Access) -> Ask:
    params = {
        "format": "json",
        "q": query.text,
        "pageno": query.page,
        "time_range": query.freshness,
        "language": _language(query),
        "safesearch": SAFE[query.safe],
        "categories": CATEGORIES[query.mode],
    }
    alone = query.region and not query.language
    notes = ("SearXNG takes a region only with a language",) if alone else ()
    return Ask(f"{access.endpoint.removesuffix('/search')}/search", params=params, notes=notes)


def _language(query: Query) -> str | None:
    return f"{query.lang}-{query.country}" if query.lang and query.country else query.lang


def read(body: Any, query: Query) -> list[Item]:
    """Nothing from engines that did not respond is a failure, and no "no results"."""
    body = expect(body, "results", name="SearXNG")
    found = items(body, "results", name="SearXNG")
    silent = body.get("unresponsive_engines")
    if not found and isinstance(silent, list) and silent:
        raise _unresponsive(silent)
    images = query.mode == "image"
    return [_item(item) for item in found if bool(item.get("img_src")) or not images]


def _unresponsive(silent: list[Any]) -> Exception:
    told = [": ".join(str(part) for part in each) if isinstance(each, list) else str(each) for each in silent]
    text = ", ".join(told)
    code: Code = (
        "captcha" if "captcha" in text.lower() else "rate_limited" if "too many" in text.lower() else "unavailable"
    )
    return failure(code, f"SearXNG: none of its engines answered ({text})", hint="enable other engines in settings.yml")


def _item(item: Item) -> Item:
    size = SIZE.search(str(item.get("resolution") or ""))
    return {
        "title": item.get("title"),
        "url": item.get("url"),
        "snippet": item.get("content"),
        "published": item.get("publishedDate"),
        "score": item.get("score"),
        "image_url": item.get("img_src"),
        "page_url": item.get("url"),
        "thumbnail_url": item.get("thumbnail_src") or item.get("thumbnail"),
        "width": size[1] if size else None,
        "height": size[2] if size else None,
    }


provider = Provider(
    name="searxng",
    title="SearXNG",
    remedy="run SearXNG with json in search.formats and set SEARXNG_URL to its address",
    credentials=(
        Credential("endpoint", aliases=("url", "base_url"), env=("SEARXNG_URL", "SEARXNG_BASE_URL"), secret=False),
    ),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    rate=Rate(5, 1.0),
    ask=ask,
    read=read,
    rules=(Rule(403, "not_configured", hint=JSON_OFF),),
)
