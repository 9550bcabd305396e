"""Issues and pull requests on GitHub.

"Search issues and pull requests" (docs.github.com/rest/search/search), read on 2026-11-22; the limits are those of
`github`.
"""

from typing import Any

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
from outrider.search.sources.github import (
    GITHUB_ERRORS,
    MAX_QUERY_CHARS,
    MAX_RESULTS_OF_A_SEARCH,
    build_search_request,
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query; the words name the kinds, because a search without a kind may be refused."""
    kinds = () if "is:" in query.text else ("(is:issue OR is:pull-request)",)
    request = build_search_request("issues", query, access, day_field="updated", qualifiers=kinds)
    return ProviderRequest(
        request.url, params={**request.params, "advanced_search": "true"}, headers=request.headers, notes=request.notes
    )


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "items", name="GitHub")
    results: list[ResultItem] = []
    for item in list_items(body, "items", name="GitHub"):
        repository = "/".join(str(item.get("html_url")).split("/")[3:5])
        facts = f"{repository} #{item.get('number')}, {item.get('state')}, {item.get('comments')} comments"
        result = {
            "title": item.get("title"),
            "url": item.get("html_url"),
            "snippet": [facts, item.get("body")],
            "published": item.get("updated_at"),
        }
        results.append(result)
    return results


source = SearchProvider(
    name="github_issues",
    title="GitHub Issues",
    remedy="search the web with site=github.com; an operator can set search.providers.github_issues.api_key",
    endpoint="https://api.github.com",
    credentials=(Credential(aliases=("token",)),),
    keyless_rank=1,
    features=frozenset({"freshness", "dates", "site", "page"}),
    max_offset=MAX_RESULTS_OF_A_SEARCH - 1,
    max_chars=MAX_QUERY_CHARS,
    rate=CallRate(30, 60.0),
    keyless_rate=CallRate(10, 60.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=GITHUB_ERRORS,
)
