"""A short visit: an address is opened in a session of its own, looked at, and closed again."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from outrider.browser.browsers import BLANK, Browsers
from outrider.browser.extract_dom import rendered_html
from outrider.browser.page import Page
from outrider.browser.screenshot import Picture, screenshot
from outrider.browser.snapshot import Eyes
from outrider.core.errors import NotFound, Refused, Unavailable

SECONDS = 20.0
QUIET = 0.4  # seconds without a change; scripts that fill a page often wait a moment before they begin
LIMIT = 6.0  # seconds after which a page that never rests is taken as it is
GONE = (404, 410)


async def render(browsers: Browsers, url: str, *, seconds: float = SECONDS) -> str:
    """The HTML of an address after its scripts have run, with shadow trees and frames in their places.

    Raises:
        NotConfigured: There is no browser.
        NotFound, Refused: The site's answer was an error, or a file.
        Unavailable: It did not load in time, or there is no room for another session.
    """
    async with _in_time(url, seconds), visit(browsers, url) as page:
        _check(page)
        return (await rendered_html(Eyes(page))).html


async def picture(browsers: Browsers, url: str, *, full: bool, seconds: float = SECONDS) -> "Picture":
    """A PNG of an address: the viewport, or the whole page. Raises as `render`."""
    async with _in_time(url, seconds), visit(browsers, url) as page:
        return await screenshot(page, full=full)


@asynccontextmanager
async def visit(browsers: Browsers, url: str) -> "AsyncGenerator[Page]":
    """The page of an address once it has come to rest; its session belongs to nobody and ends with the context."""
    owner = f"visit {secrets.token_hex(8)}"
    try:
        session, arrival = await browsers.open(owner, BLANK)
        arrival = await session.goto(url)
        if arrival.download:
            raise Refused(f"{url} is a file and no page", code="download", hint="fetch it without a browser")
        async with session.use() as page:
            from outrider.browser.settle import Mark, settle

            await settle(page, Mark(0.0, page.loading.commits, page.url), quiet=QUIET, limit=LIMIT)
            yield page
    finally:
        with anyio.CancelScope(shield=True):
            await browsers.close_all(owner)


@asynccontextmanager
async def _in_time(url: str, seconds: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        message = f"{url} was not rendered within {seconds:g} s"
        raise Unavailable(message, code="timeout", hint="try later, or without a browser") from None


def _check(page: "Page") -> None:
    status = page.loading.load(page.main.loader).status or 200
    if status in GONE:
        raise NotFound(f"{page.url} does not exist (HTTP {status})", details={"status": status})
    if status >= 400:
        message = f"{page.url} did not give the page (HTTP {status})"
        raise Refused(message, code="http_status", details={"status": status}, hint="choose another source")
