"""Visit an address in a separate session that is closed afterwards."""

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
    """Return an address as HTML after its scripts have run.

    Shadow trees and frames are in place.

    Raises:
        NotConfigured: No browser is installed.
        NotFound, Refused: The site answered with an error, or with a file.
        Unavailable: It did not load in time, or there are too many sessions.
    """
    async with _limit_time(url, seconds), visit_url(browsers, url) as page:
        status = page.loading.get_load(page.main.loader).status or 200
        if status in (404, 410):
            raise NotFound(f"{page.url} does not exist (HTTP {status})", details={"status": status})
        if status >= 400:
            message = f"{page.url} did not return the page (HTTP {status})"
            raise Refused(message, code="http_status", details={"status": status}, hint="choose another source")
        return (await read_rendered_html(Snapshotter(page))).html


async def screenshot_url(browsers: Browsers, url: str, *, full: bool, seconds: float = VISIT_TIMEOUT_S) -> "Screenshot":
    """Return a PNG of an address: the viewport, or the whole page. Raises as `render_url`."""
    async with _limit_time(url, seconds), visit_url(browsers, url) as page:
        return await take_screenshot(page, full=full)


@asynccontextmanager
async def visit_url(browsers: Browsers, url: str) -> "AsyncGenerator[BrowserPage]":
    """Yield the page of an address once it is quiet; its session ends with the context."""
    settle_timeout_s = 6.0
    quiet_s = 0.4  # scripts that fill a page often wait a moment before they start
    owner = f"visit {secrets.token_hex(8)}"
    try:
        session, arrival = await browsers.open_session(owner, BLANK_URL)
        arrival = await session.goto(url)
        if arrival.download:
            raise Refused(f"{url} is a file, not a page", code="download", hint="fetch it without a browser")
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
