"""Capture and restore the cookies and local storage of a session."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from outrider.browser.process.context import BrowserContext
from outrider.browser.protocol.cdp import ProtocolError, TargetChannel
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.session.states import select_usable_cookies
from outrider.core.errors import OutriderError

MAX_ORIGINS = 50  # whose local storage is captured or restored
MAX_ITEM_CHARS = 1_000_000
READ_STORAGE_SCRIPT = """(limit) => Object.entries(localStorage).filter(([, value]) => value.length <= limit)
  .map(([name, value]) => ({name, value}))"""
WRITE_STORAGE_SCRIPT = """(items) => {
  for (const {name, value} of items) try { localStorage.setItem(name, value) } catch {}
}"""


class StorageTracker:
    """The cookies and local storage of one session.

    They are captured regularly so that they survive the browser.

    Attributes:
        latest_state: The state shortly after the last call; None before the first.
    """

    def __init__(self) -> None:
        self.latest_state: dict[str, Any] | None = None
        self._is_capture_scheduled = False
        self._origins: dict[str, None] = {}
        self._last_seen: dict[str, Any] = {}  # origin to local storage

    def record_visit(self, url: str) -> None:
        """Remember the origin of an address that a page has shown."""
        max_origins = 500
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and len(self._origins) < max_origins:
            self._origins[f"{parts.scheme}://{parts.netloc}"] = None

    async def restore_state(self, context: BrowserContext, state: dict[str, Any]) -> None:
        """Restore a saved state in a context before its pages navigate."""
        self.latest_state = state
        scope = {"browserContextId": context.id} if context.id else {}
        if cookies := select_usable_cookies(state):
            await context.browser.connection.send("Storage.setCookies", {"cookies": cookies} | scope)
        storage = {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])}
        restored = dict(list(storage.items())[:MAX_ORIGINS])
        await _visit_origins(context, {origin: items for origin, items in restored.items() if items})
        self._origins |= dict.fromkeys(storage)
        self._last_seen |= storage

    async def capture_state(self, context: BrowserContext) -> dict[str, Any]:
        """Return a context's cookies and visited sites' local storage.

        The result is for `StateStore.save`.
        """
        visited = list(self._origins)
        found = await _visit_origins(context, dict.fromkeys(visited[:MAX_ORIGINS]))
        return await _build_state(context, visited, found)

    async def peek_state(self, context: BrowserContext, pages: Iterable[BrowserPage]) -> dict[str, Any]:
        """Return the state in the context's open pages, without opening another page."""
        for page in pages:
            parts = urlsplit(page.url if page.frames.main else "")
            if parts.scheme in ("http", "https") and page.lost is None:
                with suppress(OutriderError, ProtocolError):  # it is navigating, or its site must not have storage
                    items = await page.evaluate_in(ISOLATED_WORLD, READ_STORAGE_SCRIPT, MAX_ITEM_CHARS, timeout=2.0)
                    self._last_seen[f"{parts.scheme}://{parts.netloc}"] = items
        return await _build_state(context, list(self._last_seen), self._last_seen)

    def schedule_capture(self, context: BrowserContext, pages: Iterable[BrowserPage]) -> None:
        """Capture the state shortly after a call, in case the browser dies."""
        capture_delay_s = 0.3
        if self._is_capture_scheduled:
            return
        self._is_capture_scheduled = True

        async def capture_later() -> None:
            await asyncio.sleep(capture_delay_s)
            self._is_capture_scheduled = False
            with suppress(OutriderError):  # the session may be closed by now
                self.latest_state = await self.peek_state(context, pages)

        context.browser.connection.spawn_task(capture_later(), "capturing a session's state")


async def _build_state(context: BrowserContext, origins: list[str], found: dict[str, Any]) -> dict[str, Any]:
    """Return the storage that was found, with the context's cookies; in the default context those of the origins."""
    scope = {"browserContextId": context.id} if context.id else {}
    cookies = (await context.browser.connection.send("Storage.getCookies", scope))["cookies"]
    if context.id is None:
        hosts = [urlsplit(origin).hostname or "" for origin in origins]
        cookies = [cookie for cookie in cookies if any(_is_cookie_sent_to(cookie["domain"], host) for host in hosts)]
    fields = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
    return {
        "cookies": [{name: cookie[name] for name in fields if name in cookie} for cookie in cookies],
        "origins": [{"origin": origin, "localStorage": items} for origin, items in found.items() if items],
    }


def _is_cookie_sent_to(domain: str, host: str) -> bool:
    """Return whether a host gets a cookie of that domain.

    See RFC 6265, section 5.1.3.
    """
    bare = domain.removeprefix(".")
    return host == bare or (domain.startswith(".") and host.endswith(f".{bare}"))


async def _visit_origins(context: BrowserContext, origins: dict[str, Any]) -> dict[str, Any]:
    """Read (items None) or write local storage at each origin.

    Nothing is loaded from the sites: they are replaced by an empty page.
    """
    found: dict[str, Any] = {}
    web = {origin: items for origin, items in origins.items() if origin.startswith(("http://", "https://"))}
    if not web:
        return found
    page = await context.new_page()
    try:
        page.channel.on("Fetch.requestPaused", lambda event: _serve_empty_page(page.channel, event))
        await page.send("Fetch.enable")
        for origin, items in web.items():
            found[origin] = await _access_origin(page, origin, items)
    finally:
        await context.browser.close_page(page)
    return found


async def _access_origin(page: BrowserPage, origin: str, items: Any) -> Any:
    timeout_s = 10.0
    try:
        await page.send("Page.navigate", {"url": f"{origin}/"}, timeout=timeout_s)
        if items is None:
            return await page.evaluate_in(ISOLATED_WORLD, READ_STORAGE_SCRIPT, MAX_ITEM_CHARS, timeout=timeout_s)
        return await page.evaluate_in(ISOLATED_WORLD, WRITE_STORAGE_SCRIPT, items, timeout=timeout_s)
    except OutriderError:
        if page.lost is not None:
            raise
        return None  # the browser does not allow the site storage


def _serve_empty_page(channel: TargetChannel, event: dict[str, Any]) -> None:
    empty_page = "PCFkb2N0eXBlIGh0bWw+"  # <!doctype html>, in base64
    headers = [{"name": "content-type", "value": "text/html"}]
    answer = {"requestId": event["requestId"], "responseCode": 200, "responseHeaders": headers, "body": empty_page}
    channel.send_and_forget("Fetch.fulfillRequest", answer)
