"""SerpApi, Google's results as JSON (serpapi.com/search-api).

News come from its Google News API (serpapi.com/google-news-api, read on 2026-11-22): one answer without pages, whose
`q` takes the operators `site:`, `when:`, `after:` and `before:`, and in which several articles on one event are a
group with `highlight` and `stories` in place of an address.

Its errors: serpapi.com/api-status-and-error-codes.
"""

import re
from datetime import timedelta
from typing import Any

from outrider.search.failures import build_failure
from outrider.search.locales import (
    build_google_time_filter,
    choose_google_country,
    choose_google_language,
    choose_google_restriction,
)
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
    engine_names = {"web": "google", "image": "google_images", "news": "google_news"}
    params: dict[str, Any] = {
        "engine": engine_names[query.mode],
        "q": query.text,
        "gl": choose_google_country(query),
        "hl": choose_google_language(query),
        "api_key": access.api_key,
    }
    if query.mode == "news":
        ages = {"day": "1d", "week": "7d", "month": "31d", "year": "1y"}
        operators = [f"when:{ages[query.freshness]}"] if query.freshness else []
        operators += [f"after:{query.since - timedelta(days=1)}"] if query.since else []
        operators += [f"before:{query.until + timedelta(days=1)}"] if query.until else []
        params["q"] = " ".join((query.text, *operators))
    else:
        params |= {
            "start": query.offset or None,
            "tbs": build_google_time_filter(query),
            "safe": "off" if query.safe == "off" else "active",
            "lr": choose_google_restriction(query) if query.mode == "web" else None,
        }
    return ProviderRequest(f"{access.endpoint}/search.json", params=params)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; `error` with status 200 means no results, or that the search itself failed."""
    list_keys = {"web": "organic_results", "image": "images_results", "news": "news_results"}
    body = require_keys(body, list_keys[query.mode], "search_metadata", "error", name="SerpApi")
    error = body.get("error")
    if error and not NO_RESULTS.search(str(error)):
        raise build_failure("unavailable", f"SerpApi: {error}")
    items = list_items(body, list_keys[query.mode], name="SerpApi")
    return [
        {
            "title": item.get("title"),
            "url": item.get("link"),
            "snippet": item.get("snippet"),
            "published": item.get("iso_date") or item.get("date"),
            "image_url": item.get("original"),
            "thumbnail_url": item.get("thumbnail"),
            "width": item.get("original_width"),
            "height": item.get("original_height"),
        }
        for item in (article for entry in items for article in _list_articles(entry))
    ]


def _list_articles(entry: ResultItem) -> list[ResultItem]:
    """Return the articles of a group of news on one event, the best first; any other result unchanged."""
    if entry.get("link"):
        return [entry]
    stories = entry.get("stories")
    articles = [entry.get("highlight"), *(stories if isinstance(stories, list) else [])]
    return [article for article in articles if isinstance(article, dict)] or [entry]


provider = SearchProvider(
    name="serpapi",
    title="SerpApi",
    remedy="get a key at serpapi.com/manage-api-key and set SERPAPI_API_KEY",
    endpoint="https://serpapi.com",
    credentials=(Credential(aliases=("token",), env=("SERPAPI_API_KEY", "DUST_MANAGED_SERP_API_KEY", "SERPAPI_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "page"}),
    missing_features={"image": frozenset({"page"}), "news": frozenset({"safe", "page"})},
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
