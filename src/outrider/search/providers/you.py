"""You.com; another address serves about 100 calls a day without a key.

"Search" (you.com/docs/api-reference/search/v1-search.md) and the enumerations of github.com/youdotcom-oss/
youdotcom-python-sdk, read on 2026-11-22. Only one of the two lists of domains may be sent.
"""

from typing import Any

from outrider.search.locales import choose_language, describe_missing
from outrider.search.provider import (
    CallRate,
    Credential,
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
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it ja kn ko lv lt ms ml mr "
    "nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; the endpoint is the whole address, and news are a section of the same answer."""
    language = choose_language(query, LANGUAGES.split())
    country = query.country_code if query.country_code in COUNTRIES.split() else None
    dates = f"{query.since or '1970-01-01'}to{query.until or access.today}" if query.since or query.until else None
    params = {
        "query": query.text,
        "count": query.count,
        "offset": query.page - 1 if query.page > 1 else None,
        "freshness": query.freshness or dates,
        "country": country,
        "language": language.upper() if language else None,
        "safesearch": query.safe if query.safe != "moderate" else None,
        "include_domains": ",".join(query.site_hosts) if query.site_hosts else None,
        "exclude_domains": ",".join(query.excluded_hosts) if query.excluded_hosts and not query.sites else None,
    }
    headers = {} if access.keyless else {"X-API-Key": access.api_key}
    notes = describe_missing("You.com", query, language, country)
    return ProviderRequest(access.endpoint, params=params, headers=headers, notes=notes)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", name="You.com")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description") or item.get("snippets"),
            "published": item.get("page_age"),
        }
        for item in list_items(body, "results", query.mode, name="You.com")
    ]


provider = SearchProvider(
    name="you",
    title="You.com",
    remedy="get a key at you.com/platform and set YDC_API_KEY",
    endpoint="https://ydc-index.io/v1/search",
    keyless_endpoint="https://api.you.com/v1/agents/search",
    credentials=(Credential(aliases=("token",), env=("YDC_API_KEY", "YOU_API_KEY", "YOUDOTCOM_API_KEY")),),
    keyless_rank=2,
    modes=frozenset({"web", "news"}),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "site", "exclude", "page"}),
    keyless_features=frozenset({"freshness", "dates", "region"}),
    site_operator=True,
    max_count=20,
    max_page=10,
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
)
