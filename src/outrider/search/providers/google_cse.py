"""Google's Custom Search JSON API: developers.google.com/custom-search/v1. Ends on 1 January 2027."""

from datetime import date
from typing import Any

from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

FRESHNESS = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}


def ask(query: Query, access: Access) -> Ask:
    """`start` is the number of the first result, from 1 to 91; the endpoint is the whole address."""
    params = {
        "key": access.key,
        "cx": access.credentials["cse_id"],
        "q": query.text,
        "num": query.count,
        "start": query.start + 1 if query.start else None,
        "dateRestrict": FRESHNESS[query.freshness] if query.freshness else None,
        "safe": "off" if query.safe == "off" else "active",
        "gl": query.region.lower() if query.region else None,
        "lr": f"lang_{query.lang}" if query.lang else None,
        "siteSearch": query.site,
        "siteSearchFilter": "i" if query.site else None,
        "searchType": "image" if query.mode == "image" else None,
    }
    return Ask(access.endpoint, params=params)


def read(body: Any, query: Query) -> list[Item]:
    """An answer without `items` is an honest "nothing"."""
    body = expect(body, "items", "kind", "searchInformation", "queries", name="Google")
    found = items(body, "items", name="Google")
    if query.mode == "image":
        return [_image(item) for item in found]
    return [{"title": item.get("title"), "url": item.get("link"), "snippet": item.get("snippet")} for item in found]


def _image(item: Item) -> Item:
    told = item.get("image")
    facts = told if isinstance(told, dict) else {}
    return {
        "title": item.get("title"),
        "image_url": item.get("link"),
        "page_url": facts.get("contextLink"),
        "thumbnail_url": facts.get("thumbnailLink"),
        "width": facts.get("width"),
        "height": facts.get("height"),
    }


provider = Provider(
    name="google_cse",
    title="Google Custom Search",
    remedy="move to another provider, for instance Brave or Serper",
    endpoint="https://www.googleapis.com/customsearch/v1",
    credentials=(
        Credential(aliases=("key",), env=("GOOGLE_API_KEY",)),
        Credential("cse_id", aliases=("cx",), env=("GOOGLE_CSE_ID", "GOOGLE_CX"), secret=False),
    ),
    modes=frozenset({"web", "image"}),
    features=frozenset({"freshness", "language", "region", "site", "safe", "page"}),
    max_count=10,
    max_offset=90,
    rate=Rate(1, 0.6),
    sunset=date(2027, 1, 1),
    ask=ask,
    read=read,
    rules=(
        Rule(400, "auth", words="api.?key"),
        Rule(403, "quota", words="quota|rate.?limit|daily"),
        Rule(429, "quota", words="per day|daily"),
        Rule(429, "rate_limited"),
    ),
)
