"""Articles of Wikipedia, in the query's language.

"API:Search" (www.mediawiki.org/wiki/API:Search) and "API:Etiquette", read on 2026-11-22: an error comes with status
200, and a program should say who it is, which the setting `user_agent` can do.
"""

from typing import Any
from urllib.parse import quote

from outrider.search.failures import build_failure
from outrider.search.provider import (
    CallRate,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; each language has its own host, unless the operator has set an endpoint."""
    params = {
        "action": "query",
        "format": "json",
        "formatversion": 2,
        "list": "search",
        "srsearch": query.text,
        "srlimit": query.count,
        "sroffset": query.offset or None,
        "srprop": "snippet|timestamp",
    }
    endpoint = access.endpoint if access.trusted else _build_host(query)
    return ProviderRequest(f"{endpoint}/w/api.php", params=params)


def _build_host(query: Query) -> str:
    return f"https://{query.language_code or 'en'}.wikipedia.org"


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    body = require_keys(body, "query", "error", "batchcomplete", name="Wikipedia")
    if error := body.get("error"):
        info = error.get("info") if isinstance(error, dict) else error
        raise build_failure("bad_request", f"Wikipedia: {info}")
    return [
        {
            "title": item.get("title"),
            "url": f"{_build_host(query)}/wiki/{quote(str(item.get('title')).replace(' ', '_'), safe='/:(),')}",
            "snippet": item.get("snippet"),
            "published": item.get("timestamp"),
        }
        for item in list_items(body, "query", "search", name="Wikipedia")
    ]


source = SearchProvider(
    name="wikipedia",
    title="Wikipedia",
    remedy="search the web with site=wikipedia.org instead",
    endpoint="https://en.wikipedia.org",
    keyless_rank=1,
    features=frozenset({"language", "page"}),
    max_chars=300,
    keyless_rate=CallRate(2, 1.0),
    build_request=build_request,
    parse_results=parse_results,
)
