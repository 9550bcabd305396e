"""Brave Search API: api-dashboard.search.brave.com/app/documentation."""

from typing import Any

from outrider.core.http import HttpResponse
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


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; `offset` counts pages from 0, and image search lacks `moderate`."""
    freshness_codes = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
    folders = {"web": "web", "image": "images", "news": "news"}
    image = query.mode == "image"
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.page - 1 if query.page > 1 else None,
        "freshness": freshness_codes[query.freshness] if query.freshness else None,
        "safesearch": "strict" if image and query.safe == "moderate" else query.safe,
        "country": query.country_code,
        "search_lang": query.language_code,
    }
    url = f"{access.endpoint}/{folders[query.mode]}/search"
    return ProviderRequest(url, params=params, headers={"X-Subscription-Token": access.api_key})


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; web results are one level deeper than others, and `web` is missing if there are none."""
    body = require_keys(body, "type", "results", "web", name="Brave")
    if query.mode == "image":
        return [_parse_image(item) for item in list_items(body, "results", name="Brave")]
    path = ("web", "results") if query.mode == "web" else ("results",)
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("extra_snippets"),
            "published": item.get("page_age") or item.get("age"),
        }
        for item in list_items(body, *path, name="Brave")
    ]


def _parse_image(item: ResultItem) -> ResultItem:
    properties = item.get("properties")
    full = properties if isinstance(properties, dict) else {}
    return {
        "title": item.get("title"),
        "image_url": full.get("url"),
        "page_url": item.get("url"),
        "thumbnail_url": item.get("thumbnail"),
        "width": full.get("width"),
        "height": full.get("height"),
    }


def read_quota(reply: HttpResponse) -> int | None:
    """Return the calls left this month: `X-RateLimit-Remaining: 0, 14523` is for this second and for the month."""
    left = reply.headers.get("x-ratelimit-remaining", "").split(",")[-1].strip()
    return int(left) if left.isascii() and left.isdigit() else None


provider = SearchProvider(
    name="brave",
    title="Brave",
    remedy="get a key at api-dashboard.search.brave.com and set BRAVE_API_KEY",
    endpoint="https://api.search.brave.com/res/v1",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    missing_features={"image": frozenset({"freshness", "page"})},
    site_operator=True,
    max_count=20,
    max_offset=199,
    max_chars=400,
    max_words=50,
    rate=CallRate(1, 1.0),
    weight=1.1,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(
        ErrorRule(422, "auth", pattern="token|subscription"),
        ErrorRule(429, "quota", pattern="quota"),
    ),
    read_quota=read_quota,
)
