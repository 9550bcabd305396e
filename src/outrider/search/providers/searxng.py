"""SearXNG, a self-hosted metasearch engine (docs.searxng.org/dev/search_api.html).

Its pages are as long as its engines make them, so a page of ours is cut from all of its pages so far.
"""

import re
from typing import Any

from outrider.search.failures import FailureCode, build_failure
from outrider.search.provider import (
    CallRate,
    Credential,
    ErrorRule,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)

RESOLUTION = re.compile(r"(\d+)\s*[x×]\s*(\d+)")


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    safe_search_levels = {"off": 0, "moderate": 1, "strict": 2}
    categories = {"web": "general", "image": "images", "news": "news"}
    language = query.language_code
    if language and query.country_code:
        language = f"{language}-{query.country_code}"
    params = {
        "format": "json",
        "q": query.text,
        "pageno": query.page,
        "time_range": query.freshness,
        "language": language,
        "safesearch": safe_search_levels[query.safe],
        "categories": categories[query.mode],
    }
    has_region_alone = query.region and not query.language
    notes = ("SearXNG takes a region only with a language",) if has_region_alone else ()
    return ProviderRequest(f"{access.endpoint.removesuffix('/search')}/search", params=params, notes=notes)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; no results from engines that did not respond are a failure."""
    body = require_keys(body, "results", name="SearXNG")
    items = list_items(body, "results", name="SearXNG")
    unresponsive = body.get("unresponsive_engines")
    if not items and isinstance(unresponsive, list) and unresponsive:
        text = ", ".join(  # each engine is a name, or a list of name and reason
            ": ".join(str(part) for part in engine) if isinstance(engine, list) else str(engine)
            for engine in unresponsive
        )
        code: FailureCode = (
            "captcha" if "captcha" in text.lower() else "rate_limited" if "too many" in text.lower() else "unavailable"
        )
        raise build_failure(
            code, f"SearXNG: none of its engines answered ({text})", hint="enable other engines in settings.yml"
        )
    return [_parse_item(item) for item in items if item.get("img_src") or query.mode != "image"]


def _parse_item(item: ResultItem) -> ResultItem:
    size = RESOLUTION.search(str(item.get("resolution") or ""))
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


provider = SearchProvider(
    name="searxng",
    title="SearXNG",
    remedy="run SearXNG with json in search.formats and set SEARXNG_URL to its address",
    credentials=(
        Credential("endpoint", aliases=("url", "base_url"), env=("SEARXNG_URL", "SEARXNG_BASE_URL"), secret=False),
    ),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    has_own_pages=True,
    rate=CallRate(5, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(403, "not_configured", hint="JSON is off: add json to search.formats in settings.yml"),),
)
