"""Google Custom Search JSON API.

"Method: cse.list" (developers.google.com/custom-search/v1/reference/rest/v1/cse/list) and the API's overview, read on
2026-11-22: ten results a call, 100 in all, `lr` in 35 languages, `safe` without a moderate level.

The overview says that it is closed to new customers, and that existing customers have until 1 January 2027 to
move to another solution. `sort=date:r:` is its way to a range of dates, of the days that Google has found on a page.
"""

from datetime import date
from typing import Any

from outrider.search.locales import choose_google_country, choose_google_language, choose_google_restriction
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
    """Map the query; `start` is the number of the first result, from 1 to 91, and the endpoint is the whole address."""
    freshness_codes = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}
    first, last = f"{query.since or '1970-01-01'}".replace("-", ""), f"{query.until or access.today}".replace("-", "")
    params = {
        "key": access.api_key,
        "cx": access.credentials["cse_id"],
        "q": query.text,
        "num": query.count,
        "start": query.offset + 1 if query.offset else None,
        "dateRestrict": freshness_codes[query.freshness] if query.freshness else None,
        "safe": "off" if query.safe == "off" else "active",
        "gl": choose_google_country(query),
        "hl": choose_google_language(query),
        "lr": choose_google_restriction(query),
        "sort": f"date:r:{first}:{last}" if query.since or query.until else None,
        "searchType": "image" if query.mode == "image" else None,
    }
    return ProviderRequest(access.endpoint, params=params)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; without results, `items` is missing."""
    body = require_keys(body, "items", "kind", "searchInformation", "queries", name="Google")
    items = list_items(body, "items", name="Google")
    if query.mode != "image":
        return [{"title": item.get("title"), "url": item.get("link"), "snippet": item.get("snippet")} for item in items]
    results: list[ResultItem] = []
    for item in items:
        image = item.get("image")
        facts = image if isinstance(image, dict) else {}
        result = {
            "title": item.get("title"),
            "image_url": item.get("link"),
            "page_url": facts.get("contextLink"),
            "thumbnail_url": facts.get("thumbnailLink"),
            "width": facts.get("width"),
            "height": facts.get("height"),
        }
        results.append(result)
    return results


provider = SearchProvider(
    name="google_cse",
    title="Google Custom Search",
    remedy="Google takes no new customers, and existing ones have until 1 January 2027; use Brave or Serper instead",
    endpoint="https://www.googleapis.com/customsearch/v1",
    credentials=(
        Credential(aliases=("key",), env=("GOOGLE_API_KEY",)),
        Credential("cse_id", aliases=("cx",), env=("GOOGLE_CSE_ID", "GOOGLE_CX"), secret=False),
    ),
    modes=frozenset({"web", "image"}),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "page"}),
    site_operator=True,
    max_count=10,
    max_offset=90,
    rate=CallRate(1, 0.6),
    sunset_date=date(2027, 1, 1),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(
        ErrorRule(400, "auth", pattern="api.?key"),
        ErrorRule(403, "quota", pattern="quota|rate.?limit|daily"),
        ErrorRule(429, "quota", pattern="per day|daily"),
        ErrorRule(429, "rate_limited"),
    ),
)
