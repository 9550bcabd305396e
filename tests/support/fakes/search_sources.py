"""Services with their own search on loopback; each uses its real protocol below its own name.

async with http_servers.serve_app(search_sources.build_source_app(behaviour)) as url:
    settings = SearchSettings(providers=search_sources.build_source_settings(url))
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from support.fakes.search_providers import ProviderRequest

RESULTS = 12  # for any query
Reply = tuple[int, dict[str, str], str]


@dataclass
class SourceBehaviour:
    """The requests, and replies that replace a source's own."""

    requests: list[ProviderRequest] = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    backoff: int | None = None


def build_source_settings(url: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Build the `providers` part of the search settings with all sources on loopback."""
    return {name: {"endpoint": f"{url}/{name}", "rate": 1000, **more} for name in ANSWERS}


def build_source_app(behaviour: SourceBehaviour) -> Any:
    """Build the ASGI application of all sources."""

    async def serve_request(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
            return
        name = scope["path"].split("/")[1]
        query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        request = ProviderRequest(name, scope["method"], scope["path"].removeprefix(f"/{name}"), query, headers, None)
        behaviour.requests.append(request)
        status, kinds, text = behaviour.replies.get(name) or ANSWERS[name](request, behaviour)
        raw = [(key.encode(), value.encode()) for key, value in kinds.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": text.encode()})

    return serve_request


def build_json_reply(body: Any, status: int = 200) -> Reply:
    return status, {"content-type": "application/json; charset=utf-8"}, json.dumps(body)


def _number_page(request: ProviderRequest, count: str, *, page: str = "", start: str = "") -> range:
    """Return the numbers of the results on the requested page."""
    size = int(request.query[count])
    first = (int(request.query.get(page, 1)) - 1) * size if page else int(request.query.get(start, 0))
    return range(first + 1, min(first + size, RESULTS) + 1)


def answer_as_github(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/search/repositories"
    items = [
        {
            "full_name": f"tea/pot{number}",
            "html_url": f"https://github.com/tea/pot{number}",
            "description": "Brews tea",
            "language": "Rust",
            "stargazers_count": 42,
            "topics": ["tea", "cli"],
            "archived": number == 2,
            "pushed_at": "2026-03-05T10:00:00Z",
        }
        for number in _number_page(request, "per_page", page="page")
    ]
    return build_json_reply({"total_count": RESULTS, "incomplete_results": False, "items": items})


def answer_as_github_issues(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/search/issues"
    if "is:" not in request.query["q"]:
        return build_json_reply({"message": "Query must include 'is:issue' or 'is:pull-request'"}, 422)
    items = [
        {
            "title": f"Leak {number}",
            "html_url": f"https://github.com/tea/pot/issues/{number}",
            "number": number,
            "state": "open",
            "comments": 3,
            "body": "It <b>drips</b>.",
            "updated_at": "2026-03-05T10:00:00Z",
        }
        for number in _number_page(request, "per_page", page="page")
    ]
    return build_json_reply({"total_count": RESULTS, "items": items})


def answer_as_stackexchange(request: ProviderRequest, behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/search/advanced"
    site = request.query["site"]
    items = [
        {
            "title": f"Why does tea &quot;{number}&quot; leak?",
            "link": f"https://{site}/questions/{number}/tea",
            "body": "<p>My pot drips.</p>\n<pre><code>pour()</code></pre>",
            "score": 7,
            "answer_count": 2,
            "accepted_answer_id": 99,
            "creation_date": 1_772_668_800,
        }
        for number in _number_page(request, "pagesize", page="page")
    ]
    pause = {"backoff": behaviour.backoff} if behaviour.backoff else {}
    return build_json_reply({"items": items, "has_more": False, "quota_max": 300, "quota_remaining": 297, **pause})


def answer_as_arxiv(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/api/query"
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/2603.0000{number}v1</id><published>2026-03-05T10:00:00Z</published>"
        f"<title>Tea &amp;\n  steam {number}</title><summary>We pour tea.</summary>"
        "<author><name>A. Leaf</name></author><author><name>B. Pot</name></author></entry>"
        for number in _number_page(request, "max_results", start="start")
    )
    feed = f'<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'
    return 200, {"content-type": "application/atom+xml; charset=UTF-8"}, feed


def answer_as_wikipedia(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert (request.path, request.query["list"]) == ("/w/api.php", "search")
    rows = [
        {
            "title": f"Tea (drink {number})",
            "snippet": '<span class="searchmatch">Tea</span> is a drink',
            "timestamp": "2026-03-05T10:00:00Z",
        }
        for number in _number_page(request, "srlimit", start="sroffset")
    ]
    return build_json_reply({"batchcomplete": True, "query": {"searchinfo": {"totalhits": RESULTS}, "search": rows}})


def answer_as_pypi(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    name = request.path.split("/")[2]
    if name not in {"tea", "pot"}:
        return build_json_reply({"message": "Not Found"}, 404)
    info = {
        "name": name,
        "version": "2.1",
        "summary": "Brews",
        "requires_python": ">=3.10",
        "package_url": f"https://index.example/project/{name}/",
    }
    return build_json_reply({"info": info, "urls": [{"upload_time_iso_8601": "2026-03-05T10:00:00Z"}]})


def answer_as_npm(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/-/v1/search"
    objects = [
        {
            "package": {
                "name": f"@tea/pot{number}",
                "version": "1.0.0",
                "description": "Brews",
                "keywords": ["tea"],
                "date": "2026-03-05T10:00:00Z",
            },
            "score": {},
        }
        for number in _number_page(request, "size", start="from")
    ]
    return build_json_reply({"objects": objects, "total": RESULTS, "time": "now"})


def answer_as_crates(request: ProviderRequest, _behaviour: SourceBehaviour) -> Reply:
    assert request.path == "/api/v1/crates"
    crates = [
        {
            "name": f"tea-{number}",
            "max_version": "2.0.0-rc.1",
            "max_stable_version": "1.4.0",
            "description": "Brews",
            "downloads": 1234,
            "updated_at": "2026-03-05T10:00:00Z",
        }
        for number in _number_page(request, "per_page", page="page")
    ]
    return build_json_reply({"crates": crates, "meta": {"total": RESULTS}})


ANSWERS: dict[str, Callable[[ProviderRequest, SourceBehaviour], Reply]] = {
    "arxiv": answer_as_arxiv,
    "crates": answer_as_crates,
    "github": answer_as_github,
    "github_issues": answer_as_github_issues,
    "npm": answer_as_npm,
    "pypi": answer_as_pypi,
    "stackexchange": answer_as_stackexchange,
    "wikipedia": answer_as_wikipedia,
}
