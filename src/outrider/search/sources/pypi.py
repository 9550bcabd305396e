"""Python packages by exact name, because PyPI has no search API.

"JSON API" (docs.pypi.org/api/json), read on 2026-11-22. The words of the query are tried as names, together and one by
one; an index that does not know a name answers 404.
"""

import json
import re
from dataclasses import replace
from typing import Any

from outrider.core.http import Headers, HttpResponse
from outrider.search.provider import (
    CallRate,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    SendRequest,
    list_items,
    require_keys,
)

PACKAGE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Return the request for the likeliest name."""
    return _build_name_request(_list_names(query.text)[0], access)


def _build_name_request(name: str, access: ProviderAccess) -> ProviderRequest:
    note = "PyPI has no search: these are the packages with exactly these names"
    return ProviderRequest(f"{access.endpoint}/pypi/{name}/json", notes=(note,))


def _list_names(text: str) -> list[str]:
    """Return at most three names to try: all words joined, then each of them."""
    max_names = 3
    words = PACKAGE_NAME.findall(text) or ["-"]
    names = ["-".join(words), *words] if len(words) <= max_names else words
    return list(dict.fromkeys(re.sub(r"[-_.]+", "-", name).lower() for name in names))[:max_names]


async def send_requests(send: SendRequest, query: Query, access: ProviderAccess) -> HttpResponse:
    """Ask for each name, and return what is known as one list; a failure other than 404 is returned unchanged."""
    not_found = 404
    packages: list[Any] = []
    for name in _list_names(query.text):
        reply = await send(_build_name_request(name, access))
        if 200 <= reply.status < 300:
            packages.append(reply.json())
        elif reply.status != not_found:
            return reply
    headers = Headers([("content-type", "application/json")])
    return replace(reply, status=200, headers=headers, body=json.dumps({"packages": packages}).encode())


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "packages", name="PyPI")
    results: list[ResultItem] = []
    for item in list_items(body, "packages", name="PyPI"):
        info = require_keys(item.get("info"), "name", name="PyPI")
        files = list_items(item, "urls", name="PyPI")
        facts = [
            info.get("summary"),
            f"Python {info.get('requires_python')}" if info.get("requires_python") else None,
            info.get("license_expression") or info.get("license"),
            "yanked" if info.get("yanked") else None,
        ]
        result = {
            "title": f"{info.get('name')} {info.get('version')}",
            "url": info.get("package_url") or info.get("project_url"),
            "snippet": " · ".join(str(fact) for fact in facts if fact),
            "published": files[0].get("upload_time_iso_8601") if files else None,
        }
        results.append(result)
    return results


source = SearchProvider(
    name="pypi",
    title="PyPI",
    remedy="search the web with site=pypi.org instead",
    endpoint="https://pypi.org",
    keyless_rank=1,
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    send_requests=send_requests,
)
