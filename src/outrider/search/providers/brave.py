"""Brave Search API.

"Web Search API, Query Parameters" (api.search.brave.com/app/documentation/web-search/query) and the parameters of
Brave's own MCP server (github.com/brave/brave-search-mcp-server, src/tools/web/params.ts), read on 2026-11-22.
"""

from typing import Any

from outrider.core.http import HttpResponse
from outrider.search.locales import choose_language, describe_missing
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

COUNTRIES = (
    "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
)
LANGUAGES = (
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb "
    "pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; `offset` counts pages from 0, and image search lacks `moderate`."""
    freshness_codes = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
    folders = {"web": "web", "image": "images", "news": "news"}
    image = query.mode == "image"
    language = choose_language(query, LANGUAGES.split(), {"ja": "jp"})
    country = query.country_code if query.country_code in COUNTRIES.split() else None
    dates = f"{query.since or '1970-01-01'}to{query.until or access.today}" if query.since or query.until else None
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.page - 1 if query.page > 1 else None,
        "freshness": freshness_codes[query.freshness] if query.freshness else dates,
        "safesearch": "strict" if image and query.safe == "moderate" else query.safe,
        "country": country or ("ALL" if query.region else None),
        "search_lang": language,
    }
    url = f"{access.endpoint}/{folders[query.mode]}/search"
    notes = describe_missing("Brave", query, language, country)
    return ProviderRequest(url, params=params, headers={"X-Subscription-Token": access.api_key}, notes=notes)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; web results are one level deeper than others, and `web` is missing if there are none."""
    body = require_keys(body, "type", "results", "web", name="Brave")
    if query.mode == "image":
        return [_parse_image(item) for item in list_items(body, "results", name="Brave")]
    path = ("web", "results") if query.mode == "web" else ("results",)
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("extra_snippets"),
            "published": item.get("page_age") or item.get("age"),
        }
        for item in list_items(body, *path, name="Brave")
    ]


def _parse_image(item: ResultItem) -> ResultItem:
    properties = item.get("properties")
    full = properties if isinstance(properties, dict) else {}
    return {
        "title": item.get("title"),
        "image_url": full.get("url"),
        "page_url": item.get("url"),
        "thumbnail_url": item.get("thumbnail"),
        "width": full.get("width"),
        "height": full.get("height"),
    }


def read_quota(reply: HttpResponse) -> int | None:
    """Return the calls left this month: `X-RateLimit-Remaining: 0, 14523` is for this second and for the month."""
    remaining = reply.headers.get("x-ratelimit-remaining", "").split(",")[-1].strip()
    return int(remaining) if remaining.isascii() and remaining.isdigit() else None


provider = SearchProvider(
    name="brave",
    title="Brave",
    remedy="get a key at api-dashboard.search.brave.com and set BRAVE_API_KEY",
    endpoint="https://api.search.brave.com/res/v1",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "page"}),
    missing_features={"image": frozenset({"freshness", "dates", "page"})},
    site_operator=True,
    max_count=20,
    max_page=10,
    max_chars=400,
    max_words=50,
    rate=CallRate(1, 1.0),
    weight=1.1,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(
        ErrorRule(422, "auth", pattern="token|subscription"),
        ErrorRule(429, "quota", pattern="quota"),
    ),
    read_quota=read_quota,
)
