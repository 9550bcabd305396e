"""Serper, Google's results as JSON.

Its reference is behind a login (serper.dev/playground); the fields were checked on 2026-11-22 against the adapters of
LiteLLM and LangChain (docs.litellm.ai/docs/search/serper): `q`, `num`, `page`, `gl`, `hl`, `tbs`, and no safe search.

A call for more than ten results costs two credits, therefore ten are the most that one call asks for.
"""

from typing import Any

from outrider.search.locales import build_google_time_filter, choose_google_language
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
    paths = {"web": "search", "image": "images", "news": "news"}
    body = {
        "q": query.text,
        "num": query.count,
        "page": query.page if query.page > 1 else None,
        "tbs": build_google_time_filter(query),
        "gl": query.country_code.lower() if query.country_code else None,
        "hl": choose_google_language(query),
    }
    return ProviderRequest(
        f"{access.endpoint}/{paths[query.mode]}", "POST", json=body, headers={"X-API-KEY": access.api_key}
    )


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    list_keys = {"web": "organic", "image": "images", "news": "news"}
    body = require_keys(body, list_keys[query.mode], "searchParameters", name="Serper")
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
        for item in list_items(body, list_keys[query.mode], name="Serper")
    ]


provider = SearchProvider(
    name="serper",
    title="Serper",
    remedy="get a key at serper.dev and set SERPER_API_KEY",
    endpoint="https://google.serper.dev",
    credentials=(Credential(aliases=("token",), env=("SERPER_API_KEY",)),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "dates", "language", "region", "page"}),
    site_operator=True,
    max_count=10,
    rate=CallRate(5, 1.0),
    weight=1.1,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(400, "quota", pattern="credits"), ErrorRule(403, "auth")),
)
