"""Firecrawl search, version 2 (docs.firecrawl.dev/features/search); keyless up to a daily cap."""

from typing import Any

from outrider.search.failures import build_failure
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

SOURCE_NAMES = {"web": "web", "image": "images", "news": "news"}


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query, without `scrapeOptions` because addresses and descriptions alone cost least."""
    freshness_codes = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
    body = {
        "query": query.text,
        "limit": query.count,
        "sources": [SOURCE_NAMES[query.mode]],
        "tbs": freshness_codes[query.freshness] if query.freshness else None,
        "country": query.country_code,
        "includeDomains": [query.site] if query.site else None,
    }
    auth = {} if access.keyless else {"Authorization": f"Bearer {access.api_key}"}
    return ProviderRequest(f"{access.endpoint}/v2/search", "POST", json=body, headers=auth)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; a failure may come with status 200, then `success` is false."""
    body = require_keys(body, "data", "success", name="Firecrawl")
    if body.get("success") is False:
        raise build_failure("unavailable", f"Firecrawl: {body.get('error') or 'failed'}")
    body = require_keys(body, "data", name="Firecrawl")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("snippet"),
            "published": item.get("date"),
            "image_url": item.get("imageUrl"),
            "page_url": item.get("url"),
            "width": item.get("imageWidth"),
            "height": item.get("imageHeight"),
        }
        for item in list_items(body, "data", SOURCE_NAMES[query.mode], name="Firecrawl")
    ]


provider = SearchProvider(
    name="firecrawl",
    title="Firecrawl",
    remedy="get a key at firecrawl.dev and set FIRECRAWL_API_KEY",
    endpoint="https://api.firecrawl.dev",
    credentials=(Credential(aliases=("token",), env=("FIRECRAWL_API_KEY",)),),
    keyless_rank=3,
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "region", "site"}),
    max_count=100,
    max_chars=500,
    rate=CallRate(10, 10.0),
    keyless_rate=CallRate(5, 60.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(402, "quota"),),
)
