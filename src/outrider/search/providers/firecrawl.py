"""Firecrawl search, version 2: docs.firecrawl.dev/features/search. Works without a key up to a daily cap."""

from typing import Any

from outrider.search.failures import failure
from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

SOURCES = {"web": "web", "image": "images", "news": "news"}
FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def ask(query: Query, access: Access) -> Ask:
    """Without `scrapeOptions`: addresses and descriptions only, which is what costs least."""
    body = {
        "query": query.text,
        "limit": query.count,
        "sources": [SOURCES[query.mode]],
        "tbs": FRESHNESS[query.freshness] if query.freshness else None,
        "country": query.country,
        "includeDomains": [query.site] if query.site else None,
    }
    auth = {} if access.keyless else {"Authorization": f"Bearer {access.key}"}
    return Ask(f"{access.endpoint}/v2/search", "POST", json=body, headers=auth)


def read(body: Any, query: Query) -> list[Item]:
    """A failure may come with status 200: then `success` is false."""
    body = expect(body, "data", "success", name="Firecrawl")
    if body.get("success") is False:
        raise failure("unavailable", f"Firecrawl: {body.get('error') or 'failed'}")
    body = expect(body, "data", name="Firecrawl")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("snippet"),
            "published": item.get("date"),
            "image_url": item.get("imageUrl"),
            "page_url": item.get("url"),
            "width": item.get("imageWidth"),
            "height": item.get("imageHeight"),
        }
        for item in items(body, "data", SOURCES[query.mode], name="Firecrawl")
    ]


provider = Provider(
    name="firecrawl",
    title="Firecrawl",
    remedy="get a key at firecrawl.dev and set FIRECRAWL_API_KEY",
    endpoint="https://api.firecrawl.dev",
    credentials=(Credential(aliases=("token",), env=("FIRECRAWL_API_KEY",)),),
    keyless=3,
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "region", "site"}),
    max_count=100,
    max_chars=500,
    rate=Rate(10, 10.0),
    keyless_rate=Rate(5, 60.0),
    ask=ask,
    read=read,
    rules=(Rule(402, "quota"),),
)
