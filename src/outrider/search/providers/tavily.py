"""Tavily; a header replaces the key in keyless mode.

"Tavily Search" (docs.tavily.com/documentation/api-reference/endpoint/search) and Tavily's own clients
(github.com/tavily-ai/tavily-mcp, tavily-python), read on 2026-11-22: an age and a range of days exclude one another, a
country is only taken with the topic `general`, and a language cannot be chosen.
"""

from typing import Any

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

# `country` takes English names in lower case; a note says that any other region is ignored.
COUNTRY_NAMES = {
    "AR": "argentina",
    "AT": "austria",
    "AU": "australia",
    "BE": "belgium",
    "BR": "brazil",
    "CA": "canada",
    "CH": "switzerland",
    "CL": "chile",
    "CN": "china",
    "CO": "colombia",
    "CZ": "czech republic",
    "DE": "germany",
    "DK": "denmark",
    "EG": "egypt",
    "ES": "spain",
    "FI": "finland",
    "FR": "france",
    "GB": "united kingdom",
    "GR": "greece",
    "HU": "hungary",
    "ID": "indonesia",
    "IE": "ireland",
    "IL": "israel",
    "IN": "india",
    "IT": "italy",
    "JP": "japan",
    "KR": "south korea",
    "MX": "mexico",
    "NL": "netherlands",
    "NO": "norway",
    "NZ": "new zealand",
    "PL": "poland",
    "PT": "portugal",
    "RO": "romania",
    "SE": "sweden",
    "SG": "singapore",
    "TH": "thailand",
    "TR": "turkey",
    "TW": "taiwan",
    "UA": "ukraine",
    "US": "united states",
    "VN": "vietnam",
    "ZA": "south africa",
}


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; `country` works in general searches only."""
    is_general = query.mode == "web"
    country = COUNTRY_NAMES.get(query.country_code or "") if is_general else None
    body = {
        "query": query.text,
        "max_results": query.count,
        "search_depth": "basic",
        "topic": "general" if is_general else "news",
        "time_range": query.freshness,
        "country": country,
        "start_date": query.since.isoformat() if query.since else None,
        "end_date": query.until.isoformat() if query.until else None,
        "include_domains": query.site_hosts,
        "exclude_domains": query.excluded_hosts,
    }
    auth = {"X-Tavily-Access-Mode": "keyless"} if access.keyless else {"Authorization": f"Bearer {access.api_key}"}
    is_unsupported = query.country_code and not country
    notes = (f"Tavily cannot choose the region {query.country_code} here",) if is_unsupported else ()
    return ProviderRequest(f"{access.endpoint}/search", "POST", json=body, headers=auth, notes=notes)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", name="Tavily")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("content"),
            "published": item.get("published_date"),
            "score": item.get("score"),
        }
        for item in list_items(body, "results", name="Tavily")
    ]


provider = SearchProvider(
    name="tavily",
    title="Tavily",
    remedy="get a key at app.tavily.com and set TAVILY_API_KEY",
    endpoint="https://api.tavily.com",
    credentials=(Credential(aliases=("token",), env=("TAVILY_API_KEY",)),),
    keyless_rank=1,
    modes=frozenset({"web", "news"}),
    features=frozenset({"freshness", "dates", "region", "site", "exclude"}),
    max_count=20,
    max_chars=400,
    rate=CallRate(10, 10.0),
    keyless_rate=CallRate(2, 2.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(
        ErrorRule(432, "quota"),
        ErrorRule(433, "quota"),
        ErrorRule(403, "quota", pattern="limit|quota|credit"),
        ErrorRule(400, "bad_request"),
    ),
)
