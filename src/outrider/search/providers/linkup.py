"""Linkup's search.

"Search" (docs.linkup.so/pages/documentation/endpoints/search) and the client github.com/LinkupPlatform/
linkup-python-sdk with its error codes, read on 2026-11-22: at most 100 domains, ranges of days, and neither pages nor a
language or country. "Nothing found" is an error 400.
"""

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
    max_domains = 100
    since = query.find_first_day(access.today)
    body = {
        "q": query.text,
        "depth": "standard",
        "outputType": "searchResults",
        "maxResults": query.count,
        "fromDate": since.isoformat() if since else None,
        "toDate": query.until.isoformat() if query.until else None,
        "includeDomains": query.site_hosts[:max_domains] if query.site_hosts else None,
        "excludeDomains": query.excluded_hosts[:max_domains] if query.excluded_hosts else None,
    }
    headers = {"Authorization": f"Bearer {access.api_key}"}
    return ProviderRequest(f"{access.endpoint}/v1/search", "POST", json=body, headers=headers)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    """Map the answer, whose results may include pictures without a page."""
    body = require_keys(body, "results", name="Linkup")
    return [
        {"title": item.get("name"), "url": item.get("url"), "snippet": item.get("content")}
        for item in list_items(body, "results", name="Linkup")
        if item.get("type") != "image"
    ]


provider = SearchProvider(
    name="linkup",
    title="Linkup",
    remedy="get a key at app.linkup.so and set LINKUP_API_KEY",
    endpoint="https://api.linkup.so",
    credentials=(Credential(aliases=("token",), env=("LINKUP_API_KEY",)),),
    features=frozenset({"freshness", "dates", "site", "exclude"}),
    max_count=20,
    timeout_s=30.0,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(429, "quota", pattern="credit|funds|budget"),),
    no_results_pattern="SEARCH_QUERY_NO_RESULT",
)
