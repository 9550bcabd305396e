"""Brave Search API: api-dashboard.search.brave.com/app/documentation."""

from typing import Any

from outrider.core.http import Reply
from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, expect, items

FOLDERS = {"web": "web", "image": "images", "news": "news"}
FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


def ask(query: Query, access: Access) -> Ask:
    """`offset` counts pages from 0; the image search knows no `moderate`."""
    image = query.mode == "image"
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.page - 1 if query.page > 1 else None,
        "freshness": FRESHNESS[query.freshness] if query.freshness else None,
        "safesearch": "strict" if image and query.safe == "moderate" else query.safe,
        "country": query.country,
        "search_lang": query.lang,
    }
    url = f"{access.endpoint}/{FOLDERS[query.mode]}/search"
    return Ask(url, params=params, headers={"X-Subscription-Token": access.key})


def read(body: Any, query: Query) -> list[Item]:
    """Web results lie one level deeper than images and news; `web` is missing when there are none."""
    body = expect(body, "type", "results", "web", name="Brave")
    if query.mode == "image":
        return [_image(item) for item in items(body, "results", name="Brave")]
    path = ("web", "results") if query.mode == "web" else ("results",)
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("extra_snippets"),
            "published": item.get("page_age") or item.get("age"),
        }
        for item in items(body, *path, name="Brave")
    ]


def _image(item: Item) -> Item:
    found = item.get("properties")
    full = found if isinstance(found, dict) else {}
    return {
        "title": item.get("title"),
        "image_url": full.get("url"),
        "page_url": item.get("url"),
        "thumbnail_url": item.get("thumbnail"),
        "width": full.get("width"),
        "height": full.get("height"),
    }


def quota(reply: "Reply") -> int | None:
    """`X-RateLimit-Remaining: 0, 14523` is what is left of this second and of the month."""
    left = reply.headers.get("x-ratelimit-remaining", "").split(",")[-1].strip()
    return int(left) if left.isascii() and left.isdigit() else None


provider = Provider(
    name="brave",
    title="Brave",
    remedy="get a key at api-dashboard.search.brave.com and set BRAVE_API_KEY",
    endpoint="https://api.search.brave.com/res/v1",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    lacks={"image": frozenset({"freshness", "page"})},
    site_operator=True,
    max_count=20,
    max_offset=199,
    max_chars=400,
    max_words=50,
    rate=Rate(1, 1.0),
    weight=1.1,
    ask=ask,
    read=read,
    rules=(
        Rule(422, "auth", words="token|subscription"),
        Rule(429, "quota", words="quota"),
    ),
    quota=quota,
)
