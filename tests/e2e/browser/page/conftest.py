"""One Chromium for all tests of this folder, and one page for each."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from failures.failure_site import FailurePage, FailureSite, OpenFailurePage, load_url
from outrider.browser.actions.forms import Forms
from outrider.browser.actions.pointer import Pointer
from outrider.browser.process.browser import Browser
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.snapshot.snapshot import Snapshotter
from support.fakes import http_servers


@pytest.fixture(scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    running = await launch_browser(proxy=None)
    browser = Browser(running.connection)
    await browser.start()
    yield browser
    await running.aclose()


@pytest.fixture(scope="session")
async def failures() -> AsyncGenerator[tuple[FailureSite, str]]:
    site = FailureSite()
    async with http_servers.serve_app(site) as base:
        yield site, base


@pytest.fixture
async def visit(chromium: Browser, failures: tuple[FailureSite, str]) -> AsyncGenerator[OpenFailurePage]:
    """`await visit("fields.html")` or `await visit("<p>HTML of its own")`: a page that shows it."""
    opened: list[BrowserPage] = []

    async def show(name: str) -> FailurePage:
        opened.append(await open_tab(chromium))
        return await show_in_tab(opened[-1], failures, name)

    yield show
    for page in opened:
        await chromium.connection.send("Target.closeTarget", {"targetId": page.target_id})


@pytest.fixture(scope="session")
def idle_tabs() -> list[BrowserPage]:
    """The tab that `revisit` keeps between tests."""
    return []


@pytest.fixture
async def revisit(
    chromium: Browser, failures: tuple[FailureSite, str], idle_tabs: list[BrowserPage]
) -> AsyncGenerator[OpenFailurePage]:
    """As `visit`, in one tab after the other test's page: a third of the cost, for tests of what a page shows.

    Only a tab that can be emptied is kept, so that no test meets what another has left.
    """
    page = idle_tabs.pop() if idle_tabs else await open_tab(chromium)
    yield lambda name: show_in_tab(page, failures, name)
    try:
        with anyio.fail_after(5):
            await page.dispatch_mouse("move", 0, 0)
            await load_url(page, "about:blank")
        idle_tabs.append(page)
    except Exception:  # noqa: BLE001 - whatever became of it, the next test opens another
        await chromium.connection.send("Target.closeTarget", {"targetId": page.target_id})


async def open_tab(chromium: Browser) -> BrowserPage:
    page = await chromium.new_page()
    metrics = {"width": 1000, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    await page.send("Emulation.setDeviceMetricsOverride", metrics)
    return page


async def show_in_tab(page: BrowserPage, failures: tuple[FailureSite, str], name: str) -> FailurePage:
    scripts = PageScripts(page)
    snapshotter = Snapshotter(page, scripts)
    pointer = Pointer(snapshotter)
    failure_page = FailurePage(page, snapshotter, pointer, Forms(pointer), scripts, failures[1])
    if "<" in name:
        failures[0].pages["own.html"] = name
    await failure_page.open_page("own.html" if "<" in name else name)
    return failure_page
