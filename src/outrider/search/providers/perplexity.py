"""Perplexity's search API, which returns results rather than a written answer.

"Search the Web" (docs.perplexity.ai/api-reference/search-post), its guides to filters, and the parameters of
github.com/perplexityai/perplexity-py, read on 2026-11-22: at most 20 domains, either allowed or denied, and days
written as month/day/year.
"""

from datetime import date
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
    """Map the query; the smallest `search_context_size` is the cheapest, and more than a snippet is not shown."""
    max_domains = 20
    domains = query.site_hosts or [f"-{host}" for host in query.excluded_hosts or ()]
    is_iso_639_1 = query.language_code is not None and len(query.language_code) == 2
    body = {
        "query": query.text,
        "max_results": query.count,
        "search_context_size": "low",
        "country": query.country_code,
        "search_language_filter": [query.language_code] if is_iso_639_1 else None,
        "search_recency_filter": query.freshness,
        "search_after_date_filter": _format_day(query.since),
        "search_before_date_filter": _format_day(query.until),
        "search_domain_filter": domains[:max_domains] or None,
    }
    notes = (f"Perplexity cannot choose the language {query.language}",) if query.language and not is_iso_639_1 else ()
    headers = {"Authorization": f"Bearer {access.api_key}"}
    return ProviderRequest(f"{access.endpoint}/search", "POST", json=body, headers=headers, notes=notes)


def _format_day(day: date | None) -> str | None:
    return f"{day.month}/{day.day}/{day.year}" if day else None


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", name="Perplexity")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("snippet"),
            "published": item.get("date") or item.get("last_updated"),
        }
        for item in list_items(body, "results", name="Perplexity")
    ]


provider = SearchProvider(
    name="perplexity",
    title="Perplexity",
    remedy="get a key at perplexity.ai/account/api and set PERPLEXITY_API_KEY",
    endpoint="https://api.perplexity.ai",
    credentials=(Credential(aliases=("token",), env=("PERPLEXITY_API_KEY", "PPLX_API_KEY")),),
    features=frozenset({"freshness", "dates", "language", "region", "site", "exclude"}),
    max_count=20,
    build_request=build_request,
    parse_results=parse_results,
)
