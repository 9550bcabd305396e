"""Packages of the npm registry.

"GET /-/v1/search" (github.com/npm/registry, docs/REGISTRY-API.md), read on 2026-11-22: `text`, `size` and `from`.
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
    params = {"text": query.text, "size": query.count, "from": query.offset or None}
    return ProviderRequest(f"{access.endpoint}/-/v1/search", params=params)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "objects", name="npm")
    results: list[ResultItem] = []
    for item in list_items(body, "objects", name="npm"):
        package = require_keys(item.get("package"), "name", name="npm")
        keywords = package.get("keywords")
        facts = [package.get("description"), ", ".join(map(str, keywords)) if isinstance(keywords, list) else None]
        result = {
            "title": f"{package.get('name')} {package.get('version')}",
            "url": f"https://www.npmjs.com/package/{package.get('name')}",
            "snippet": " · ".join(str(fact) for fact in facts if fact),
            "published": package.get("date"),
        }
        results.append(result)
    return results


source = SearchProvider(
    name="npm",
    title="npm",
    remedy="search the web with site=npmjs.com instead",
    endpoint="https://registry.npmjs.org",
    keyless_rank=1,
    features=frozenset({"page"}),
    max_chars=200,
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
)
