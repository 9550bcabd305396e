"""DuckDuckGo and others through the `ddgs` library.

The library's own description of its methods (github.com/deedy5/ddgs, README.md), read on 2026-11-22.

The library opens its own sockets, past the egress guard. So it is only offered if the app has a guarded proxy for it,
and everything that it does goes through that.
"""

import re
from functools import lru_cache
from importlib.util import find_spec
from math import ceil

import anyio

from outrider.core.errors import OutriderError
from outrider.core.installation import suggest_extra
from outrider.search.failures import build_failure
from outrider.search.locales import choose_duckduckgo_region, describe_missing
from outrider.search.provider import (
    CallRate,
    EngineResults,
    ProviderAccess,
    Query,
    ResultItem,
    SearchProvider,
    SearchServices,
)

RATE_LIMITED = re.compile(r"\b(?:202|429)\b|rate ?limit", re.IGNORECASE)
NO_RESULTS = re.compile(r"no results found", re.IGNORECASE)


async def search_ddgs(query: Query, access: ProviderAccess, services: SearchServices) -> EngineResults:
    """Search in a thread, which is abandoned on cancellation.

    The library cannot be stopped.
    """
    proxy = services.get_proxy_url() if services.get_proxy_url else None
    if not proxy:
        raise build_failure("not_configured", "DuckDuckGo needs the guarded proxy", hint=provider.remedy)
    items = await anyio.to_thread.run_sync(_search_blocking, query, access.timeout, proxy, abandon_on_cancel=True)
    region = choose_duckduckgo_region(query)
    notes = describe_missing("DuckDuckGo", query, region, region)
    if query.mode == "news" and query.freshness == "year":
        notes += ("DuckDuckGo cannot limit news to a year",)
    return EngineResults(items, notes=notes)


def _search_blocking(query: Query, timeout: float, proxy: str) -> list[ResultItem]:
    safe_search_levels = {"off": "off", "moderate": "moderate", "strict": "on"}
    method_names = {"web": "text", "image": "images", "news": "news"}
    has_no_limit = query.mode == "news" and query.freshness == "year"  # its engines for news raise for a year
    from ddgs import DDGS

    method = getattr(DDGS(proxy=proxy, timeout=max(1, ceil(timeout))), method_names[query.mode])
    try:
        items = method(
            query.text,
            region=choose_duckduckgo_region(query) or "us-en",
            safesearch=safe_search_levels[query.safe],
            timelimit=query.freshness[0] if query.freshness and not has_no_limit else None,
            max_results=query.count,
            page=query.page,
        )
    except Exception as error:  # noqa: BLE001 - the library lets its transport's own exceptions through
        raise _classify_error(error) from None
    return [
        {
            "title": item.get("title"),
            "url": item.get("href") or item.get("url"),
            "snippet": item.get("body"),
            "published": item.get("date"),
            "image_url": item.get("image"),
            "thumbnail_url": item.get("thumbnail"),
            "width": item.get("width"),
            "height": item.get("height"),
        }
        for item in items
        if isinstance(item, dict)
    ]


def _classify_error(error: Exception) -> OutriderError:
    """Distinguish failures by their text, because the library has one exception for all of them.

    The text itself must not be shown, because it may contain the proxy's token.
    """
    name, text = type(error).__name__, str(error)
    if "Timeout" in name or "timed out" in text:
        return build_failure("timeout", "DuckDuckGo did not answer in time")
    if "Ratelimit" in name or RATE_LIMITED.search(text):
        return build_failure("rate_limited", "DuckDuckGo limits this network", hint=provider.remedy)
    if NO_RESULTS.search(text):
        return build_failure(
            "blocked", "DuckDuckGo returned nothing, as it does behind a CAPTCHA", hint=provider.remedy
        )
    return build_failure("unavailable", f"DuckDuckGo failed with {name}", hint=provider.remedy)


@lru_cache(maxsize=1)
def _is_installed() -> bool:
    return find_spec("ddgs") is not None


def explain_unavailable(services: SearchServices) -> str:
    if not _is_installed():
        return f"the ddgs library is not installed ({suggest_extra('ddgs')})"
    return "" if services.get_proxy_url and services.get_proxy_url() else "no guarded proxy is running"


provider = SearchProvider(
    name="ddgs",
    title="DuckDuckGo",
    remedy="set a key for another provider, for instance BRAVE_API_KEY",
    keyless_rank=5,
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    keyless_rate=CallRate(1, 2.0),
    weight=0.8,
    run_search=search_ddgs,
    explain_unavailable=explain_unavailable,
)
