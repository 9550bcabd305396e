"""One Chromium for all tests of this folder, and one page for each."""

from collections.abc import AsyncGenerator

import pytest

from outrider.browser.act import Hands
from outrider.browser.browser import Browser
from outrider.browser.fill import Fields
from outrider.browser.launch import launch
from outrider.browser.page import Page
from outrider.browser.scripts import Scripts
from outrider.browser.snapshot import Eyes
from support.fakes import http_servers
from zoo.visiting import Visit, Visiting, Zoo


@pytest.fixture(scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    running = await launch(proxy=None)
    browser = Browser(running.connection)
    await browser.start()
    yield browser
    await running.aclose()


@pytest.fixture(scope="session")
async def zoo() -> AsyncGenerator[tuple[Zoo, str]]:
    site = Zoo()
    async with http_servers.serve(site) as base:
        yield site, base


@pytest.fixture
async def visit(chromium: Browser, zoo: tuple[Zoo, str]) -> AsyncGenerator[Visiting]:
    """`await visit("fields.html")` or `await visit("<p>HTML of its own")`: a page that shows it."""
    opened: list[Page] = []

    async def show(name: str) -> Visit:
        page = await chromium.new_page()
        opened.append(page)
        metrics = {"width": 1000, "height": 700, "deviceScaleFactor": 1, "mobile": False}
        await page.send("Emulation.setDeviceMetricsOverride", metrics)
        scripts = Scripts(page)
        eyes = Eyes(page, scripts)
        hands = Hands(eyes)
        seen = Visit(page, eyes, hands, Fields(hands), scripts, zoo[1])
        if "<" in name:
            zoo[0].pages["own.html"] = name
        await seen.go("own.html" if "<" in name else name)
        return seen

    yield show
    for page in opened:
        await chromium.connection.send("Target.closeTarget", {"targetId": page.target_id})
