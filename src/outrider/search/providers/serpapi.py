"""SerpApi, Google's results as JSON (serpapi.com/search-api).

Its errors: serpapi.com/api-status-and-error-codes.
"""

import re
from typing import Any

from outrider.search.failures import build_failure
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

NO_RESULTS = re.compile(r"(?:no|n't) .{0,20}results|returned any results", re.IGNORECASE)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; `start` counts results, and the key can only be a parameter."""
    freshness_codes = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
    engine_names = {"web": "google", "image": "google_images", "news": "google_news"}
    params = {
        "engine": engine_names[query.mode],
        "q": query.text,
        "start": query.offset or None,
        "tbs": freshness_codes[query.freshness] if query.freshness else None,
        "safe": ("off" if query.safe == "off" else "active") if query.mode != "news" else None,
        "gl": query.region.lower() if query.region else None,
        "hl": query.language_code,
        "api_key": access.api_key,
    }
    return ProviderRequest(f"{access.endpoint}/search.json", params=params)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; `error` with status 200 means no results, or that the search itself failed."""
    list_keys = {"web": "organic_results", "image": "images_results", "news": "news_results"}
    body = require_keys(body, list_keys[query.mode], "search_metadata", "error", name="SerpApi")
    error = body.get("error")
    if error and not NO_RESULTS.search(str(error)):
        raise build_failure("unavailable", f"SerpApi: {error}")
    return [
        {
            "title": item.get("title"),
            "url": item.get("link"),
            "snippet": item.get("snippet"),
            "published": item.get("date"),
            "image_url": item.get("original"),
            "thumbnail_url": item.get("thumbnail"),
            "width": item.get("original_width"),
            "height": item.get("original_height"),
        }
        for item in list_items(body, list_keys[query.mode], name="SerpApi")
    ]


provider = SearchProvider(
    name="serpapi",
    title="SerpApi",
    remedy="get a key at serpapi.com/manage-api-key and set SERPAPI_API_KEY",
    endpoint="https://serpapi.com",
    credentials=(Credential(aliases=("token",), env=("SERPAPI_API_KEY", "DUST_MANAGED_SERP_API_KEY", "SERPAPI_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    missing_features={"image": frozenset({"page"}), "news": frozenset({"freshness", "safe", "page"})},
    site_operator=True,
    max_count=10,
    rate=CallRate(5, 1.0),
    weight=1.1,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(
        ErrorRule(429, "quota", pattern="run out|searches left"),
        ErrorRule(403, "auth", pattern="key|account"),
    ),
)
