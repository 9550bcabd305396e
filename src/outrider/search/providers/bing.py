"""The shape of Bing's Web Search API v7: learn.microsoft.com/bing/search-apis.

Microsoft switched its own endpoint off on 11 August 2025; gateways that speak the shape go on.
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

FRESHNESS = {"day": "Day", "week": "Week", "month": "Month"}
SAFE = {"off": "Off", "moderate": "Moderate", "strict": "Strict"}


def ask(query: Query, access: ProviderAccess) -> ProviderRequest:
    """A market is a language and a region; alone each has a parameter of its own."""
    market = f"{query.language_code}-{query.country_code}" if query.language_code and query.country_code else None
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.offset or None,
        "freshness": _freshness(query, access.today),
        "safeSearch": SAFE[query.safe],
        "mkt": market,
        "setLang": query.language_code if not market else None,
        "cc": query.country_code if not market else None,
    }
    path = "images/search" if query.mode == "image" else "search"
    return ProviderRequest(
        f"{access.endpoint}/{path}", params=params, headers={"Ocp-Apim-Subscription-Key": access.api_key}
    )


def _freshness(query: Query, today: date) -> str | None:
    """There is no word for a year, but a range of days."""
    if query.freshness == "year":
        return f"{(today - timedelta(days=366)).isoformat()}..{today.isoformat()}"
    return FRESHNESS.get(query.freshness or "")


def read(body: Any, query: Query) -> list[ResultItem]:
    """`webPages` is missing when there are no results."""
    body = require_keys(body, "_type", "webPages", "value", "queryContext", name="Bing")
    if query.mode == "image":
        return [_image(item) for item in list_items(body, "value", name="Bing")]
    return [
        {
            "title": item.get("name"),
            "url": item.get("url"),
            "snippet": item.get("snippet"),
            "published": item.get("datePublished") or item.get("dateLastCrawled"),
        }
        for item in list_items(body, "webPages", "value", name="Bing")
    ]


def _image(item: ResultItem) -> ResultItem:
    return {
        "title": item.get("name"),
        "image_url": item.get("contentUrl"),
        "page_url": item.get("hostPageUrl"),
        "thumbnail_url": item.get("thumbnailUrl"),
        "width": item.get("width"),
        "height": item.get("height"),
    }


provider = SearchProvider(
    name="bing",
    title="Bing",
    remedy="set `endpoint` to a gateway that speaks Bing v7, or use webiq, its successor",
    endpoint="https://api.bing.microsoft.com/v7.0",
    credentials=(Credential(aliases=("subscription_key",), env=("BING_API_KEY", "BING_SUBSCRIPTION_KEY")),),
    modes=frozenset({"web", "image"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    max_count=20,
    rate=CallRate(3, 1.0),
    sunset_date=date(2025, 8, 11),
    build_request=ask,
    parse_results=read,
    error_rules=(ErrorRule(403, "quota", pattern="quota|volume"),),
)
