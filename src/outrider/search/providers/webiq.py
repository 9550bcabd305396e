"""Microsoft Web IQ, the successor of Bing's API (learn.microsoft.com/web-iq)."""

from typing import Any

from outrider.search.provider import (
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


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    body = {"query": query.text, "maxResults": query.count, "language": query.language_code}
    return ProviderRequest(f"{access.endpoint}/search/web", "POST", json=body, headers={"x-apikey": access.api_key})


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "webResults", name="Web IQ")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("content"),
            "published": item.get("lastUpdatedAt"),
        }
        for item in list_items(body, "webResults", name="Web IQ")
    ]


provider = SearchProvider(
    name="webiq",
    title="Web IQ",
    remedy="get a key at webiq.microsoft.ai and set WEBIQ_API_KEY",
    endpoint="https://api.microsoft.ai/v3",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("WEBIQ_API_KEY",)),),
    features=frozenset({"language"}),
    site_operator=True,
    max_count=20,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(430, "quota"),),
)
