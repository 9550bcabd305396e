"""DuckDuckGo and others through the `ddgs` library: github.com/deedy5/ddgs. The last resort without a key.

The library opens sockets by itself, past the egress guard. So it is only offered when the app has a
guarded proxy for it, and everything that it does goes through that.
"""

import re
from functools import lru_cache
from importlib.util import find_spec
from math import ceil
from typing import Any

import anyio

from outrider.core.errors import OutriderError
from outrider.search.failures import failure
from outrider.search.provider import Access, Item, Powers, Provider, Query, Rate

METHODS = {"web": "text", "image": "images", "news": "news"}
SAFE = {"off": "off", "moderate": "moderate", "strict": "on"}
LIMITED = re.compile(r"\b(?:202|429)\b|rate ?limit", re.IGNORECASE)
NOTHING = re.compile(r"no results found", re.IGNORECASE)


async def run(query: Query, access: Access, powers: Powers) -> list[Item]:
    """Asks in a thread, which is left behind when the search is cancelled: the library cannot be stopped."""
    proxy = powers.proxy_url() if powers.proxy_url else None
    if not proxy:
        raise failure("not_configured", "DuckDuckGo needs the guarded proxy", hint=provider.remedy)
    return await anyio.to_thread.run_sync(_search, query, access.timeout, proxy, abandon_on_cancel=True)


def _search(query: Query, timeout: float, proxy: str) -> list[Item]:
    from ddgs import DDGS

    method = getattr(DDGS(proxy=proxy, timeout=max(1, ceil(timeout))), METHODS[query.mode])
    try:
        found = method(
            query.text,
            region=f"{query.country or 'us'}-{query.lang or 'en'}".lower(),
            safesearch=SAFE[query.safe],
            timelimit=query.freshness[0] if query.freshness else None,
            max_results=query.count,
            page=query.page,
        )
    except Exception as error:  # noqa: BLE001 - the library lets its transport's own exceptions through
        raise _typed(error) from None
    return [_item(item) for item in found if isinstance(item, dict)]


def _typed(error: Exception) -> OutriderError:
    """The library has one exception for nothing found, CAPTCHA and broken parsing; texts hold the proxy's token."""
    name, said = type(error).__name__, str(error)
    if "Timeout" in name or "timed out" in said:
        return failure("timeout", "DuckDuckGo did not answer in time")
    if "Ratelimit" in name or LIMITED.search(said):
        return failure("rate_limited", "DuckDuckGo limits this network", hint=provider.remedy)
    if NOTHING.search(said):
        return failure("blocked", "DuckDuckGo gave nothing, as it does behind a CAPTCHA", hint=provider.remedy)
    return failure("unavailable", f"DuckDuckGo failed with {name}", hint=provider.remedy)


def _item(item: dict[str, Any]) -> Item:
    return {
        "title": item.get("title"),
        "url": item.get("href") or item.get("url"),
        "snippet": item.get("body"),
        "published": item.get("date"),
        "image_url": item.get("image"),
        "thumbnail_url": item.get("thumbnail"),
        "width": item.get("width"),
        "height": item.get("height"),
    }


@lru_cache(maxsize=1)
def _installed() -> bool:
    return find_spec("ddgs") is not None


def missing(powers: Powers) -> str:
    if not _installed():
        return "the ddgs library is not installed (pip install 'outrider[ddgs]')"
    return "" if powers.proxy_url and powers.proxy_url() else "there is no guarded proxy for it"


provider = Provider(
    name="ddgs",
    title="DuckDuckGo",
    remedy="set a key for another provider, for instance BRAVE_API_KEY",
    keyless=5,
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    keyless_rate=Rate(1, 2.0),
    weight=0.8,
    run=run,
    missing=missing,
)
