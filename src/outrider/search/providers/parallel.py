"""Parallel's search API, version 1.

"Search" and "Source Policy" (docs.parallel.ai/search/source-policy) and the parameters of github.com/parallel-web/
parallel-sdk-python, read on 2026-11-22: a query of at most 200 characters beside an objective, at most 200 domains, a
first day and no last one, and neither pages nor a language. Its client 1.3.7 on PyPI, read on 2026-11-28, takes paths
beside domains, compares them with the case of their letters, and ignores excluded domains beside included ones.
"""

from typing import Any

from outrider.search.provider import (
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
    """Map the query; results known to be later than the last day are dropped from the answer."""
    max_query_chars, max_domains, max_excerpt_chars = 200, 200, 1_000
    since = query.find_first_day(access.today)
    policy = {
        "include_domains": query.site_hosts,
        "exclude_domains": query.excluded_hosts if not query.sites else None,
        "after_date": since.isoformat() if since else None,
    }
    settings = {
        "max_results": query.count,
        "location": query.country_code.lower() if query.country_code else None,
        "excerpt_settings": {"max_chars_per_result": max_excerpt_chars},
        "source_policy": {
            name: value[:max_domains] if isinstance(value, list) else value for name, value in policy.items() if value
        },
    }
    body = {
        "search_queries": [query.text[:max_query_chars]],
        "objective": query.text,
        "mode": "basic",
        "advanced_settings": {name: value for name, value in settings.items() if value},
    }
    note = "Parallel takes a first day only; results of known later dates were dropped"
    notes = (note,) if query.until else ()
    headers = {"x-api-key": access.api_key}
    return ProviderRequest(f"{access.endpoint}/v1/search", "POST", json=body, headers=headers, notes=notes)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", name="Parallel")
    return [
        {
            "title": item.get("title") or item.get("url"),
            "url": item.get("url"),
            "snippet": item.get("excerpts"),
            "published": item.get("publish_date"),
        }
        for item in list_items(body, "results", name="Parallel")
    ]


provider = SearchProvider(
    name="parallel",
    title="Parallel",
    remedy="get a key at platform.parallel.ai and set PARALLEL_API_KEY",
    endpoint="https://api.parallel.ai",
    credentials=(Credential(aliases=("token",), env=("PARALLEL_API_KEY",)),),
    features=frozenset({"freshness", "dates", "region", "site", "exclude"}),
    max_count=20,
    build_request=build_request,
    parse_results=parse_results,
)
