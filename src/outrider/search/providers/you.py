"""You.com (you.com/docs); the same address serves about 100 calls a day without a key."""

from typing import Any

from outrider.search.provider import (
    CallRate,
    Credential,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; the endpoint is the whole address, and news are a section of the same answer."""
    params = {"query": query.text, "count": query.count, "freshness": query.freshness, "country": query.country_code}
    return ProviderRequest(
        access.endpoint, params=params, headers={} if access.keyless else {"X-API-Key": access.api_key}
    )


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", name="You.com")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("snippets"),
            "published": item.get("page_age"),
        }
        for item in list_items(body, "results", query.mode, name="You.com")
    ]


provider = SearchProvider(
    name="you",
    title="You.com",
    remedy="get a key at you.com/platform and set YDC_API_KEY",
    endpoint="https://api.you.com/v1/agents/search",
    credentials=(Credential(aliases=("token",), env=("YDC_API_KEY", "YOU_API_KEY")),),
    keyless_rank=2,
    modes=frozenset({"web", "news"}),
    features=frozenset({"freshness", "region"}),
    site_operator=True,
    max_count=20,
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
)
