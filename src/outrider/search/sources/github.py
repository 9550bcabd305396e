"""Repositories on GitHub.

"REST API endpoints for search" (docs.github.com/rest/search/search), read on 2026-11-22: ten searches a minute without
a token and 30 with one, queries of at most 256 characters, and the first 1,000 results.
"""

from datetime import date
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
from outrider.search.urls import split_site

MAX_RESULTS_OF_A_SEARCH = 1_000
MAX_QUERY_CHARS = 256
GITHUB_ERRORS = (
    ErrorRule(403, "rate_limited", pattern="rate limit"),
    ErrorRule(429, "rate_limited"),
    ErrorRule(403, "auth"),
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    return build_search_request("repositories", query, access, day_field="pushed")


def build_search_request(
    kind: str, query: Query, access: ProviderAccess, *, day_field: str, qualifiers: tuple[str, ...] = ()
) -> ProviderRequest:
    """Map the query; an owner or a repository in `sites`, and days, are qualifiers in the words."""
    since = query.find_first_day(access.today)
    paths = [path.strip("/").split("/") for host, path in map(split_site, query.sites) if host == "github.com"]
    owners = [f"repo:{path[0]}/{path[1]}" if len(path) > 1 else f"user:{path[0]}" for path in paths if path[0]]
    terms = [query.text, *qualifiers, *owners]
    if since or query.until:
        terms.append(f"{day_field}:{since or date(2008, 1, 1)}..{query.until or '*'}")
    params = {"q": " ".join(terms), "per_page": query.count, "page": query.page if query.page > 1 else None}
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    if not access.keyless:
        headers["Authorization"] = f"Bearer {access.api_key}"
    return ProviderRequest(f"{access.endpoint}/search/{kind}", params=params, headers=headers)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "items", name="GitHub")
    return [
        {
            "title": item.get("full_name"),
            "url": item.get("html_url"),
            "snippet": _describe_repository(item),
            "published": item.get("pushed_at"),
        }
        for item in list_items(body, "items", name="GitHub")
    ]


def _describe_repository(item: ResultItem) -> str:
    topics = item.get("topics")
    facts = [
        item.get("description"),
        item.get("language"),
        f"{item.get('stargazers_count')} stars",
        "archived" if item.get("archived") else None,
        ", ".join(topic for topic in topics if isinstance(topic, str)) if isinstance(topics, list) else None,
    ]
    return " · ".join(str(fact) for fact in facts if fact)


source = SearchProvider(
    name="github",
    title="GitHub",
    remedy="search the web with site=github.com; an operator can set search.providers.github.api_key for more searches",
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
