"""Packages of crates.io.

"Data Access Policy" (crates.io/data-access), read on 2026-11-22: at most one call a second, by a program that says who
it is, which the setting `user_agent` can do.
"""

from typing import Any

from outrider.search.provider import (
    CallRate,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    params = {"q": query.text, "per_page": query.count, "page": query.page if query.page > 1 else None}
    return ProviderRequest(f"{access.endpoint}/api/v1/crates", params=params)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "crates", name="crates.io")
    return [
        {
            "title": f"{item.get('name')} {item.get('max_stable_version') or item.get('max_version')}",
            "url": f"https://crates.io/crates/{item.get('name')}",
            "snippet": f"{item.get('description') or ''} · {item.get('downloads')} downloads",
            "published": item.get("updated_at"),
        }
        for item in list_items(body, "crates", name="crates.io")
    ]


source = SearchProvider(
    name="crates",
    title="crates.io",
    remedy="search the web with site=crates.io instead",
    endpoint="https://crates.io",
    keyless_rank=1,
    features=frozenset({"page"}),
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
)
