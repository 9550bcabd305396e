"""Every page of an app with data is reachable, small and accessible in all layouts."""

import gzip
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import browser_site
from outrider.app import open_app
from outrider.browser.devtools import accessibility_audit
from outrider.browser.process.browser import Browser
from outrider.settings import load
from support.apps import dashboard_calls, flow_pages
from support.apps.dashboard_app import HTML_HEADERS, crawl_dashboard_pages, fill_app, iter_get_routes
from support.apps.dashboard_browser import (
    NARROW_VIEWPORT,
    WIDE_VIEWPORT,
    DashboardSession,
    DashboardTab,
    open_dashboard,
)
from support.apps.dashboard_checks import MAX_PAGE_BYTES
from support.fakes import http_servers

pytestmark = pytest.mark.anyio
AXE = gzip.decompress(Path(accessibility_audit.__file__).with_name("axe.min.js.gz").read_bytes()).decode()
# Deque's rules for WCAG 2.0 to 2.2, A and AA, and its best practices.
CHECK = """async () => {
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    const where = (each) => each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" … ");
    return violations.map((each) => `${each.id}: ${where(each)}`);
}"""
ROUTES_WITHOUT_PAGE = {"feed", "live_health", "live_socket"}  # data for pages, not for people
# axe takes a second per page. By day, half of the pages are wide and light, half narrow and dark; at night all both.
EVERY_LOOK = "OUTRIDER_EVERY_LOOK" in os.environ


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[DashboardSession]:
    home: Path = tmp_path_factory.mktemp("pages")
    async with http_servers.serve_app(browser_site.build_site()) as site:
        egress = {"allow": [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]}
        values = {"toolsets": ["all"], "egress": egress}
        async with open_app(load(values, environ={}, home=home, workspace=home)) as app:
            await fill_app(app)
            await app.call("createSession", url=f"{site}/form")
            await flow_pages.run_flows(app, site)
            await app.call("web_watch", action="add", url=f"{site}/article", every="1d")
            async with open_dashboard(home, chromium, app) as found:
                yield found


@pytest.fixture(scope="module")
async def page_paths(office: DashboardSession) -> dict[str, str]:
    """Return one path of each page."""
    async with office.open_http_client() as client:
        return await crawl_dashboard_pages(client, office.asgi_app)


async def test_every_page_can_be_reached_by_links_and_is_small(office: DashboardSession, page_paths: dict[str, str]):
    async with office.open_http_client() as client:
        for name, path in page_paths.items():
            answer = await client.get(path, headers=HTML_HEADERS)
            assert len(answer.content) < MAX_PAGE_BYTES, name
    names = {route.name for route in iter_get_routes(office.asgi_app.routes)} - ROUTES_WITHOUT_PAGE - {"static"}
    plain = {name for name in names if not name.endswith(("_raw", "_json", "_text"))}
    # These are a redirection, a form's answer, a download, and a page that this app lacks.
    assert plain - page_paths.keys() <= {"root", "run_step", "runs_compare", "file", "evaluation"}


@pytest.mark.parametrize(
    ("turn", "size", "dark"), [(0, WIDE_VIEWPORT, False), (1, NARROW_VIEWPORT, True)], ids=["wide light", "narrow dark"]
)
@pytest.mark.nightly
async def test_every_page_is_accessible(
    office: DashboardSession, page_paths: dict[str, str], turn: int, size: tuple[int, int], dark: bool
):
    pages = sorted(page_paths.items()) if EVERY_LOOK else sorted(page_paths.items())[turn::2]
    view = await office.open_tab("/", size=size, dark=dark)
    await view.page.install_script("axe", AXE)
    wrong = {name: await find_problems(view, path, size[0]) for name, path in pages}
    assert {name: each for name, each in wrong.items() if each} == {}
    assert view.page_errors == []
    await office.close_tabs()


async def find_problems(view: DashboardTab, path: str, width: int) -> list[str]:
    """Lists axe's findings on a page, and whether it is wider than the window."""
    await view.open_path(path)
    told = await view.page.evaluate_in("axe", CHECK, timeout=60)
    wide = await view.evaluate_js("document.documentElement.scrollWidth")
    return [*told, *([f"{wide} pixels wide"] if wide > width else [])]


@pytest.mark.nightly
async def test_ten_thousand_calls_are_paged_as_quickly_as_a_hundred(office: DashboardSession):
    await dashboard_calls.record_calls(office.app.database, dashboard_calls.generate_calls(10_000, seed=11))
    async with office.open_http_client() as client:
        for path in ("/calls", "/calls?q=words", "/calls/speed", "/calls/errors"):
            assert len((await client.get(path, headers=HTML_HEADERS)).content) < MAX_PAGE_BYTES
    view = await office.open_tab("/calls")
    await view.wait_until("document.querySelectorAll('tbody tr').length === 100")
    seen = set(await read_row_ids(view))
    for _ in range(3):
        before = await view.evaluate_js("location.href")
        await view.wait_until("document.querySelector('a[rel=next]')")
        await view.evaluate_js("document.querySelector('a[rel=next]').click()")
        await view.wait_until(f"location.href !== {before!r} && document.querySelectorAll('tbody tr').length === 100")
        fresh = await read_row_ids(view)
        assert not seen & set(fresh)
        seen |= set(fresh)
    assert len(seen) == 400
    await office.close_tabs()


async def read_row_ids(view: DashboardTab) -> list[str]:
    return await view.evaluate_js("[...document.querySelectorAll('tbody tr')].map((row) => row.id)")
