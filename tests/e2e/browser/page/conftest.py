"""One Chromium for all tests of this folder, and one page for each."""

from collections.abc import AsyncGenerator

import pytest

from outrider.browser.actions.forms import Forms
from outrider.browser.actions.pointer import Pointer
from outrider.browser.process.browser import Browser
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.snapshot.snapshot import Snapshotter
from support.fakes import http_servers
from zoo.zoo_site import OpenZooPage, ZooPage, ZooSite


@pytest.fixture(scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    running = await launch_browser(proxy=None)
    browser = Browser(running.connection)
    await browser.start()
    yield browser
    await running.aclose()


@pytest.fixture(scope="session")
async def zoo() -> AsyncGenerator[tuple[ZooSite, str]]:
    site = ZooSite()
    async with http_servers.serve_app(site) as base:
        yield site, base


@pytest.fixture
async def visit(chromium: Browser, zoo: tuple[ZooSite, str]) -> AsyncGenerator[OpenZooPage]:
    """`await visit("fields.html")` or `await visit("<p>HTML of its own")`: a page that shows it."""
    opened: list[BrowserPage] = []

    async def show(name: str) -> ZooPage:
        page = await chromium.new_page()
        opened.append(page)
        metrics = {"width": 1000, "height": 700, "deviceScaleFactor": 1, "mobile": False}
        await page.send("Emulation.setDeviceMetricsOverride", metrics)
        scripts = PageScripts(page)
        snapshotter = Snapshotter(page, scripts)
        pointer = Pointer(snapshotter)
        zoo_page = ZooPage(page, snapshotter, pointer, Forms(pointer), scripts, zoo[1])
        if "<" in name:
            zoo[0].pages["own.html"] = name
        await zoo_page.open_page("own.html" if "<" in name else name)
        return zoo_page

    yield show
    for page in opened:
        await chromium.connection.send("Target.closeTarget", {"targetId": page.target_id})
