"""Bing Web Search API v7 (learn.microsoft.com/bing/search-apis).

Microsoft ended the API in August 2025. The provider stays for gateways that speak its format.
"""

from datetime import date, timedelta
from typing import Any

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
    """Map the query; language and region together are a market, alone each has its own parameter."""
    freshness: str | None = {"day": "Day", "week": "Week", "month": "Month"}.get(query.freshness or "")
    if query.freshness == "year":  # has no name, but a range of days is allowed
        freshness = f"{(access.today - timedelta(days=366)).isoformat()}..{access.today.isoformat()}"
    market = f"{query.language_code}-{query.country_code}" if query.language_code and query.country_code else None
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.offset or None,
        "freshness": freshness,
        "safeSearch": query.safe.capitalize(),
        "mkt": market,
        "setLang": query.language_code if not market else None,
        "cc": query.country_code if not market else None,
    }
    path = "images/search" if query.mode == "image" else "search"
    return ProviderRequest(
        f"{access.endpoint}/{path}", params=params, headers={"Ocp-Apim-Subscription-Key": access.api_key}
    )


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer, in which `webPages` is missing if there are no results."""
    body = require_keys(body, "_type", "webPages", "value", "queryContext", name="Bing")
    if query.mode == "image":
        return [
            {
                "title": item.get("name"),
                "image_url": item.get("contentUrl"),
                "page_url": item.get("hostPageUrl"),
                "thumbnail_url": item.get("thumbnailUrl"),
                "width": item.get("width"),
                "height": item.get("height"),
            }
            for item in list_items(body, "value", name="Bing")
        ]
    return [
        {
            "title": item.get("name"),
            "url": item.get("url"),
            "snippet": item.get("snippet"),
            "published": item.get("datePublished") or item.get("dateLastCrawled"),
        }
        for item in list_items(body, "webPages", "value", name="Bing")
    ]


provider = SearchProvider(
    name="bing",
    title="Bing",
    remedy="Microsoft ended this API in August 2025; set `endpoint` to a gateway that speaks Bing v7, or use webiq",
    endpoint="https://api.bing.microsoft.com/v7.0",
    credentials=(Credential(aliases=("subscription_key",), env=("BING_API_KEY", "BING_SUBSCRIPTION_KEY")),),
    modes=frozenset({"web", "image"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    max_count=20,
    rate=CallRate(3, 1.0),
    sunset_date=date(2025, 8, 11),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(403, "quota", pattern="quota|volume"),),
)
