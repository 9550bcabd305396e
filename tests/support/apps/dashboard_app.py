"""Fill an app with data, and find all pages of its dashboard by their links."""

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
from selectolax.lexbor import LexborHTMLParser
from starlette.routing import BaseRoute, Match, Mount, Route

from outrider.app import App
from support.apps import dashboard_calls, library_app, run_rows

MAX_VISITS_PER_ROUTE = 3  # pages per route whose links are followed
HTML_HEADERS = {"accept": "text/html"}


async def fill_app(app: App, calls: int = 400) -> None:
    """Fill an app with calls, providers, runs, questions, and everything in the library."""
    await run_rows.insert_busy_month(app.database)
    await library_app.fill_library(app)
    await dashboard_calls.record_calls(app.database, dashboard_calls.generate_calls(calls))
    await dashboard_calls.record_provider_health(app.database)


def iter_get_routes(routes: list[BaseRoute]) -> Iterator[Route]:
    """Yield the GET routes of the application and of mounted applications."""
    for route in routes:
        if isinstance(route, Mount):
            yield from iter_get_routes(list(route.routes))
        elif isinstance(route, Route) and "GET" in (route.methods or ()):
            yield route


async def crawl_dashboard_pages(client: httpx2.AsyncClient, app: Any, start: str = "/") -> dict[str, str]:
    """Return one path by route name for each page that links lead to."""
    found: dict[str, str] = {}
    waiting, seen, visits = deque([start, *_list_entry_paths(app)]), set[str](), Counter[str]()
    while waiting:
        path = waiting.popleft()
        name = find_route_name(app, path)
        if path in seen or not name or visits[name] == MAX_VISITS_PER_ROUTE:
            continue
        seen.add(path)
        visits[name] += 1
        answer = await client.get(path, headers=HTML_HEADERS, follow_redirects=True)
        if "text/html" not in answer.headers.get("content-type", "") or answer.status_code != 200:
            continue
        if not answer.history:
            found.setdefault(name, path)
        base = str(answer.url)
        for link in LexborHTMLParser(answer.text).css("a[href]"):
            there = urldefrag(urljoin(base, link.attributes["href"] or "")).url
            if urlsplit(there).netloc == urlsplit(base).netloc:
                waiting.append(urlsplit(there)._replace(scheme="", netloc="").geturl())
    return found


def find_route_name(app: Any, path: str) -> str:
    """Return the name of the GET route for a path."""
    scope = {"type": "http", "path": urlsplit(path).path, "method": "GET", "root_path": "", "headers": []}
    return next((r.name for r in iter_get_routes(app.routes) if r.matches(scope)[0] == Match.FULL), "")


def _list_entry_paths(app: Any) -> list[str]:
    return [str(app.url_path_for(page.name)) for page in app.state.pages]
