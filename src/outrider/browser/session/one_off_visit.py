"""A short visit: an address is opened in a session of its own, looked at, and closed again."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from outrider.browser.page.screenshot import Screenshot, take_screenshot
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.session.browsers import BLANK_URL, Browsers
from outrider.browser.snapshot.extract_dom import read_rendered_html
from outrider.browser.snapshot.snapshot import Snapshotter
from outrider.core.errors import NotFound, Refused, Unavailable

VISIT_TIMEOUT_S = 20.0


async def render_url(browsers: Browsers, url: str, *, seconds: float = VISIT_TIMEOUT_S) -> str:
    """The HTML of an address after its scripts have run, with shadow trees and frames in their places.

    Raises:
        NotConfigured: There is no browser.
        NotFound, Refused: The site's answer was an error, or a file.
        Unavailable: It did not load in time, or there is no room for another session.
    """
    async with _limit_time(url, seconds), visit_url(browsers, url) as page:
        _check_status(page)
        return (await read_rendered_html(Snapshotter(page))).html


async def screenshot_url(browsers: Browsers, url: str, *, full: bool, seconds: float = VISIT_TIMEOUT_S) -> "Screenshot":
    """A PNG of an address: the viewport, or the whole page. Raises as `render`."""
    async with _limit_time(url, seconds), visit_url(browsers, url) as page:
        return await take_screenshot(page, full=full)


@asynccontextmanager
async def visit_url(browsers: Browsers, url: str) -> "AsyncGenerator[BrowserPage]":
    """The page of an address once it has come to rest; its session belongs to nobody and ends with the context."""
    settle_timeout_s = 6.0  # seconds after which a page that never rests is taken as it is
    quiet_s = 0.4  # seconds without a change; scripts that fill a page often wait a moment before they begin
    owner = f"visit {secrets.token_hex(8)}"
    try:
        session, arrival = await browsers.open_session(owner, BLANK_URL)
        arrival = await session.goto(url)
        if arrival.download:
            raise Refused(f"{url} is a file and no page", code="download", hint="fetch it without a browser")
        async with session.acquire_page() as page:
            from outrider.browser.page.settle import SettleBaseline, wait_until_settled

            await wait_until_settled(
                page, SettleBaseline(0.0, page.loading.commits, page.url), quiet=quiet_s, limit=settle_timeout_s
            )
            yield page
    finally:
        with anyio.CancelScope(shield=True):
            await browsers.close_owner_sessions(owner)


@asynccontextmanager
async def _limit_time(url: str, seconds: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        message = f"{url} was not rendered within {seconds:g} s"
        raise Unavailable(message, code="timeout", hint="try later, or without a browser") from None


def _check_status(page: "BrowserPage") -> None:
    missing_statuses = (404, 410)
    status = page.loading.get_load(page.main.loader).status or 200
    if status in missing_statuses:
        raise NotFound(f"{page.url} does not exist (HTTP {status})", details={"status": status})
    if status >= 400:
        message = f"{page.url} did not give the page (HTTP {status})"
        raise Refused(message, code="http_status", details={"status": status}, hint="choose another source")
