"""Microsoft Web IQ, the successor of Bing's API.

"What's new" and the reference (learn.microsoft.com/web-iq) and the models and errors of Microsoft's own client (webiq
0.1.8 on PyPI), read on 2026-11-28: a language has two letters, safe search has no moderate level and no news, dates
cannot be limited, and there are no pages. A result's text has up to 10,000 characters unless the request asks for less.
"""

from typing import Any

from outrider.search.locales import describe_missing
from outrider.search.provider import (
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

FOLDERS = {"web": "web", "image": "images", "news": "news"}


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; the server's own language and region are English and the United States."""
    max_text_chars = 2_000
    language = query.language_code if len(query.language_code or "") == 2 else None
    body = {
        "query": query.text,
        "maxResults": query.count,
        "language": language,
        "region": query.country_code,
        "safeSearch": query.safe if query.safe != "moderate" else None,
        "contentFormat": "passage" if query.mode != "image" else None,
        "maxLength": max_text_chars if query.mode != "image" else None,
    }
    notes = describe_missing("Web IQ", query, language, query.country_code)
    url = f"{access.endpoint}/search/{FOLDERS[query.mode]}"
    return ProviderRequest(url, "POST", json=body, headers={"x-apikey": access.api_key}, notes=notes)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; the address of a picture is in `url`, that of its page in `hostPageUrl`."""
    list_keys = {"web": "webResults", "image": "imageResults", "news": "newsResults"}
    is_image = query.mode == "image"
    body = require_keys(body, list_keys[query.mode], "traceId", name="Web IQ")
    return [
        {
            "title": item.get("title"),
            "url": None if is_image else item.get("url"),
            "snippet": item.get("content") or item.get("caption"),
            "published": item.get("lastUpdatedAt"),
            "image_url": item.get("url") if is_image else None,
            "page_url": item.get("hostPageUrl"),
            "thumbnail_url": item.get("thumbnailUrl"),
            "width": item.get("width"),
            "height": item.get("height"),
        }
        for item in list_items(body, list_keys[query.mode], name="Web IQ")
    ]


provider = SearchProvider(
    name="webiq",
    title="Web IQ",
    remedy="get a key at webiq.microsoft.ai and set WEBIQ_API_KEY",
    endpoint="https://api.microsoft.ai/v3",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("WEBIQ_API_KEY",)),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"language", "region", "safe"}),
    missing_features={"news": frozenset({"safe"})},
    site_operator=True,
    max_count=20,
    max_chars=1_000,
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(430, "rate_limited"),),  # too many calls at the same time
)
