"""One Chromium for all tests of this folder, and one page for each."""

from collections.abc import AsyncGenerator, Awaitable, Callable

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
from support.timeouts import EVENT_TIMEOUT_S

OpenTab = Callable[[], Awaitable[BrowserPage]]
IDLE_TABS: list[BrowserPage] = []  # of the one Chromium of this process


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
async def tabs(chromium: Browser) -> AsyncGenerator[OpenTab]:
    """Open tabs; most are reused from other tests, which costs a third of new ones.

    Only a tab that can be emptied is reused, so that no test sees another test's page.
    """
    opened: list[BrowserPage] = []

    async def open_tab() -> BrowserPage:
        opened.append(IDLE_TABS.pop() if IDLE_TABS else await open_new_tab(chromium))
        await opened[-1].send("Page.bringToFront")
        return opened[-1]

    yield open_tab
    for page in opened:
        try:
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await page.send("Page.bringToFront")  # in a background tab, no input is answered after a wheel turn
                await page.dispatch_mouse("move", 0, 0)
                await load_url(page, "about:blank")
            IDLE_TABS.append(page)
        except Exception:  # noqa: BLE001 - whatever became of it, the next test opens another
            await chromium.connection.send("Target.closeTarget", {"targetId": page.target_id})


@pytest.fixture
def visit(tabs: OpenTab, failures: tuple[FailureSite, str]) -> OpenFailurePage:
    """Open a page in a tab: `await visit("fields.html")` or `await visit("<p>some HTML")`."""

    async def show(name: str) -> FailurePage:
        return await show_in_tab(await tabs(), failures, name)

    return show


@pytest.fixture
async def revisit(tabs: OpenTab, failures: tuple[FailureSite, str]) -> OpenFailurePage:
    """Like `visit`, with all pages of the test in one tab."""
    page = await tabs()
    return lambda name: show_in_tab(page, failures, name)


async def open_new_tab(chromium: Browser) -> BrowserPage:
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
