"""Bing Web Search API v7.

"Web Search API v7 query parameters" and "Market and language codes used by Bing Web Search API" (learn.microsoft.com/
bing/search-apis/bing-web-search/reference, source github.com/MicrosoftDocs/bing-docs), read on 2026-11-22.

Microsoft ended the API in August 2025. The provider stays for gateways that speak its format.
"""

from datetime import date, timedelta
from typing import Any

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

# The first market of a country is that of its main language, and the first of a language that of its main country.
MARKETS = (
    "es-ES es-AR es-CL es-MX en-US en-GB en-AU en-CA en-IN en-ID en-MY en-NZ en-PH en-ZA de-DE de-AT de-CH nl-NL nl-BE "
    "fr-FR fr-BE fr-CA fr-CH pt-BR da-DK fi-FI zh-CN zh-HK zh-TW it-IT ja-JP ko-KR no-NO pl-PL ru-RU sv-SE tr-TR es-US"
)
LANGUAGES = (
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb "
    "pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; a market decides whose results come, `setLang` only the language of a few labels."""
    language = choose_language(query, LANGUAGES.split(), {"ja": "jp"})
    # A range of days; an age has a name, but for a year.
    since = access.today - timedelta(days=366) if query.freshness == "year" else query.since
    freshness = query.freshness.capitalize() if query.freshness else None
    if since or query.until:
        freshness = f"{since or date(1970, 1, 1)}..{query.until or access.today}"
    # The market of the language and the country, of the language alone, or of the country alone.
    spoken = {"nb": "no", "nn": "no"}.get(query.language_code or "", query.language_code)
    any_country = "zh-TW" if language == "zh-hant" else f"{spoken}-"
    market_choices = (f"{spoken}-{query.country_code}", any_country, f"-{query.country_code}")
    market = next((each for part in market_choices for each in MARKETS.split() if part in f"{each}-"), None)
    params = {
        "q": query.text,
        "count": query.count,
        "offset": query.offset or None,
        "freshness": freshness,
        "safeSearch": query.safe.capitalize(),
        "mkt": market,
        "setLang": language,
    }
    path = "images/search" if query.mode == "image" else "search"
    headers = {"Ocp-Apim-Subscription-Key": access.api_key}
    country = market if market and market.endswith(f"-{query.country_code}") else None
    notes = describe_missing("Bing", query, market if language else None, country)
    return ProviderRequest(f"{access.endpoint}/{path}", params=params, headers=headers, notes=notes)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; without results, `webPages` is missing."""
    body = require_keys(body, "_type", "webPages", "value", "queryContext", name="Bing")
    if query.mode == "image":
        return [
            {
                "title": item.get("name"),
                "image_url": item.get("contentUrl"),
                "page_url": item.get("hostPageUrl"),
                "thumbnail_url": item.get("thumbnailUrl"),
                "width": item.get("width"),
                "height": item.get("height"),
            }
            for item in list_items(body, "value", name="Bing")
        ]
    return [
        {
            "title": item.get("name"),
            "url": item.get("url"),
            "snippet": item.get("snippet"),
            "published": item.get("datePublished") or item.get("dateLastCrawled"),
        }
        for item in list_items(body, "webPages", "value", name="Bing")
    ]


provider = SearchProvider(
    name="bing",
    title="Bing",
    remedy="Microsoft ended this API in August 2025; set `endpoint` to a gateway that speaks Bing v7, or use webiq",
    endpoint="https://api.bing.microsoft.com/v7.0",
    credentials=(Credential(aliases=("subscription_key",), env=("BING_API_KEY", "BING_SUBSCRIPTION_KEY")),),
    modes=frozenset({"web", "image"}),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "page"}),
    missing_features={"image": frozenset({"dates"})},
    site_operator=True,
    max_count=20,
    rate=CallRate(3, 1.0),
    sunset_date=date(2025, 8, 11),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(403, "quota", pattern="quota|volume"),),
)
