"""Serper, Google's results as JSON: serper.dev."""

from typing import Any

from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

PATHS = {"web": "search", "image": "images", "news": "news"}
LISTS = {"web": "organic", "image": "images", "news": "news"}
FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def ask(query: Query, access: Access) -> Ask:
    body = {
        "q": query.text,
        "num": query.count,
        "page": query.page if query.page > 1 else None,
        "tbs": FRESHNESS[query.freshness] if query.freshness else None,
        "gl": query.region.lower() if query.region else None,
        "hl": query.lang,
    }
    return Ask(f"{access.endpoint}/{PATHS[query.mode]}", "POST", json=body, headers={"X-API-KEY": access.key})


def read(body: Any, query: Query) -> list[Item]:
    body = expect(body, LISTS[query.mode], "searchParameters", name="Serper")
    return [
        {
            "title": item.get("title"),
            "url": item.get("link"),
            "snippet": item.get("snippet"),
            "published": item.get("date"),
            "image_url": item.get("imageUrl"),
            "thumbnail_url": item.get("thumbnailUrl"),
            "width": item.get("imageWidth"),
            "height": item.get("imageHeight"),
        }
        for item in items(body, LISTS[query.mode], name="Serper")
    ]


provider = Provider(
    name="serper",
    title="Serper",
    remedy="get a key at serper.dev and set SERPER_API_KEY",
    endpoint="https://google.serper.dev",
    credentials=(Credential(aliases=("token",), env=("SERPER_API_KEY",)),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "page"}),
    site_operator=True,
    max_count=20,
    rate=Rate(5, 1.0),
    weight=1.1,
    ask=ask,
    read=read,
    rules=(Rule(400, "quota", words="credits"), Rule(403, "auth")),
)
