"""Kagi's search API, version 1.

The OpenAPI description (kagi.com/api/docs/openapi) and the models of github.com/kagisearch/kagi-openapi-python, read on
2026-11-22. A language cannot be chosen; sites are part of a lens.
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
    """Map the query; an age is sent as its first day, and empty filters are left out."""
    workflows = {"web": "search", "image": "images", "news": "news"}
    since = query.find_first_day(access.today)
    filters = {
        "region": query.country_code.lower() if query.country_code else None,
        "after": since.isoformat() if since else None,
        "before": query.until.isoformat() if query.until else None,
    }
    lens = {"sites_included": query.site_hosts, "sites_excluded": query.excluded_hosts}
    body = {
        "query": query.text,
        "workflow": workflows[query.mode],
        "limit": query.count,
        "page": query.page if query.page > 1 else None,
        "safe_search": query.safe != "off",
        "filters": {name: value for name, value in filters.items() if value} or None,
        "lens": {name: value for name, value in lens.items() if value} or None,
    }
    headers = {"Authorization": f"Bearer {access.api_key}"}
    return ProviderRequest(f"{access.endpoint}/search", "POST", json=body, headers=headers)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; without results, the list of a workflow is missing."""
    list_keys = {"web": "search", "image": "image", "news": "news"}
    body = require_keys(body, "data", name="Kagi")
    results: list[ResultItem] = []
    for item in list_items(body, "data", list_keys[query.mode], name="Kagi"):
        image: dict[str, Any] = value if isinstance(value := item.get("image"), dict) else {}
        props: dict[str, Any] = value if isinstance(value := item.get("props"), dict) else {}
        result = {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("snippet"),
            "published": item.get("time"),
            "image_url": image.get("url"),
            "thumbnail_url": props.get("thumbnail"),
            "width": image.get("width"),
            "height": image.get("height"),
        }
        results.append(result)
    return results


provider = SearchProvider(
    name="kagi",
    title="Kagi",
    remedy="get a key at kagi.com/api/keys and set KAGI_API_KEY",
    endpoint="https://kagi.com/api/v1",
    credentials=(Credential(aliases=("token",), env=("KAGI_API_KEY",)),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "dates", "region", "site", "exclude", "safe", "page"}),
    missing_features={"image": frozenset({"page"})},
    site_operator=True,
    max_page=10,
    weight=1.1,
    build_request=build_request,
    parse_results=parse_results,
)
