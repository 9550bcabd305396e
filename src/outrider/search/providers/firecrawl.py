"""Firecrawl search, version 2.

"Search" (docs.firecrawl.dev/features/search) and Firecrawl's own MCP server, read on 2026-11-22: domains are host names
without a path, and only one of the two lists may be sent. Its keyless tier serves Firecrawl's own clients only
(github.com/firecrawl/firecrawl, apps/api/src/lib/keyless.ts), so a key is needed here.
"""

from typing import Any

from outrider.search.failures import build_failure
from outrider.search.locales import build_google_time_filter
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
    body = {
        "query": query.text,
        "limit": query.count,
        "sources": [SOURCE_NAMES[query.mode]],
        "tbs": build_google_time_filter(query),
        "country": query.country_code,
        "includeDomains": query.site_hosts,
        "excludeDomains": query.excluded_hosts if not query.sites else None,
    }
    headers = {"Authorization": f"Bearer {access.api_key}"}
    return ProviderRequest(f"{access.endpoint}/v2/search", "POST", json=body, headers=headers)


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
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "dates", "region", "site", "exclude"}),
    site_operator=True,
    max_count=100,
    max_chars=500,
    rate=CallRate(10, 10.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(402, "quota"),),
)
