"""Questions on Stack Overflow and the other sites of Stack Exchange.

"Usage of /search/advanced" and "Throttles" (api.stackexchange.com/docs/advanced-search, /docs/throttle), read on
2026-11-22: 300 calls a day without a key, and a pause of `backoff` seconds if an answer requests it.
"""

import calendar
import json
from datetime import UTC, date, datetime
from typing import Any

from outrider.core.http import HttpResponse
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
    """Map the query; the first of its sites is the one that is searched, otherwise Stack Overflow."""
    hosts = query.site_hosts or ["stackoverflow.com"]
    since = query.find_first_day(access.today)
    last_second_of_a_day = 86_399
    params = {
        "q": query.text,
        "site": hosts[0],
        "pagesize": query.count,
        "page": query.page,
        "order": "desc",
        "sort": "relevance",
        "filter": "withbody",
        "fromdate": _to_timestamp(since) if since else None,
        "todate": _to_timestamp(query.until) + last_second_of_a_day if query.until else None,
        "key": access.api_key or None,
    }
    notes = (f"Stack Exchange searches one site at a time: {hosts[0]}",) if len(hosts) > 1 else ()
    return ProviderRequest(f"{access.endpoint}/search/advanced", params=params, notes=notes)


def _to_timestamp(day: date) -> int:
    return calendar.timegm(day.timetuple())


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "items", name="Stack Exchange")
    results: list[ResultItem] = []
    for item in list_items(body, "items", name="Stack Exchange"):
        answered = "accepted answer" if item.get("accepted_answer_id") else "no accepted answer"
        facts = f"{item.get('answer_count')} answers, {answered}, score {item.get('score')}"
        created = item.get("creation_date")
        result = {
            "title": item.get("title"),
            "url": item.get("link"),
            "snippet": [facts, item.get("body")],
            "published": f"{datetime.fromtimestamp(created, UTC):%Y-%m-%d}" if isinstance(created, int) else None,
        }
        results.append(result)
    return results


def read_quota(reply: HttpResponse) -> int | None:
    """Return the calls left today."""
    remaining = _read_number(reply, "quota_remaining")
    return None if remaining is None else int(remaining)


def read_pause(reply: HttpResponse) -> float | None:
    """Return the seconds that the answer asks to wait before the next call."""
    return _read_number(reply, "backoff")


def _read_number(reply: HttpResponse, name: str) -> float | None:
    body = json.loads(reply.body)
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


source = SearchProvider(
    name="stackexchange",
    title="Stack Exchange",
    remedy="search the web with site=stackoverflow.com; an operator can set search.providers.stackexchange.api_key",
    endpoint="https://api.stackexchange.com/2.3",
    credentials=(Credential(aliases=("key",)),),
    keyless_rank=1,
    features=frozenset({"freshness", "dates", "site", "page"}),
    max_page=25,
    rate=CallRate(2, 1.0),
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(400, "rate_limited", pattern="throttle|too many requests"),),
    read_quota=read_quota,
    read_pause=read_pause,
)
