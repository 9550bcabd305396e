"""SerpApi, Google's results as JSON: serpapi.com/search-api, serpapi.com/api-status-and-error-codes."""

import re
from typing import Any

from outrider.search.failures import failure
from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

ENGINES = {"web": "google", "image": "google_images", "news": "google_news"}
LISTS = {"web": "organic_results", "image": "images_results", "news": "news_results"}
FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
NOTHING = re.compile(r"(?:no|n't) .{0,20}results|returned any results", re.IGNORECASE)


def ask(query: Query, access: Access) -> Ask:
    """`start` counts results; the key can only be sent in the query."""
    params = {
        "engine": ENGINES[query.mode],
        "q": query.text,
        "start": query.start or None,
        "tbs": FRESHNESS[query.freshness] if query.freshness else None,
        "safe": ("off" if query.safe == "off" else "active") if query.mode != "news" else None,
        "gl": query.region.lower() if query.region else None,
        "hl": query.lang,
        "api_key": access.key,
    }
    return Ask(f"{access.endpoint}/search.json", params=params)


def read(body: Any, query: Query) -> list[Item]:
    """`error` with status 200 means that there are no results, or that the search itself failed."""
    body = expect(body, LISTS[query.mode], "search_metadata", "error", name="SerpApi")
    said = body.get("error")
    if said and not NOTHING.search(str(said)):
        raise failure("unavailable", f"SerpApi: {said}")
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
        for item in items(body, LISTS[query.mode], name="SerpApi")
    ]


provider = Provider(
    name="serpapi",
    title="SerpApi",
    remedy="get a key at serpapi.com/manage-api-key and set SERPAPI_API_KEY",
    endpoint="https://serpapi.com",
    credentials=(Credential(aliases=("token",), env=("SERPAPI_API_KEY", "DUST_MANAGED_SERP_API_KEY", "SERPAPI_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    lacks={"image": frozenset({"page"}), "news": frozenset({"freshness", "safe", "page"})},
    site_operator=True,
    max_count=10,
    rate=Rate(5, 1.0),
    weight=1.1,
    ask=ask,
    read=read,
    rules=(
        Rule(429, "quota", words="run out|searches left"),
        Rule(403, "auth", words="key|account"),
    ),
)
