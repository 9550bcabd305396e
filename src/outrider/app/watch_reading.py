"""Read the targets of watches: pages, searches and values."""

import json
from collections.abc import Callable

import anyio.to_thread

from outrider.core.errors import Unavailable
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from outrider.pages.settings import RobotsMode
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.watches.watch import Reading, ReadTarget, WatchTarget


def build_target_reader(pages: Pages, get_search: Callable[[], Search], robots: RobotsMode) -> ReadTarget:
    """Return the function that reads a watch's target; unchanged pages are not sent again (304)."""
    max_results = 20

    async def read_target(target: WatchTarget) -> Reading:
        if target.query:
            from outrider.watches.results import format_result

            hits = (await get_search().find(Query(target.query, count=max_results))).hits
            return Reading("\n".join(format_result(hit.title or hit.url, hit.url) for hit in hits), target.query)
        page = await pages.read(target.url, ReadOptions(max_age=0, robots=robots, accepts_stale=False))
        if page.is_login_page:
            raise Unavailable(f"{page.url} asks for a login", code="login")
        text = page.document.markdown if target.fields is None else await _read_values(page, target)
        delay_s = await pages.robots_policy.get_crawl_delay(target.url) if robots == "respect" else 0.0
        return Reading(text, page.title, page.url, delay_s)

    return read_target


async def _read_values(page: FetchedPage, target: WatchTarget) -> str:
    """Return one line for each value, or for each row of a list."""
    from outrider.pages.values.extract_values import extract_values
    from outrider.pages.values.value_fields import build_plan

    plan = build_plan(dict(target.fields or {}))
    rows = await anyio.to_thread.run_sync(
        lambda: extract_values(plan, page.html, page.document, page.url), abandon_on_cancel=True
    )
    data = [row.to_data(plan.fields) for row in rows]
    if plan.rows_at is not None:
        return "\n".join(f"- {json.dumps(each, ensure_ascii=False)}" for each in data if each)
    values = {name: value.value for row in rows for name, value in row.values.items()}
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
