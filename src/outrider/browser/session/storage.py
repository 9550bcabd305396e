"""Capture and restore the cookies and local storage of a context."""

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


async def capture_state(context: BrowserContext, origins: Iterable[str]) -> dict[str, Any]:
    """Return the cookies of a context and the local storage of some origins.

    Args:
        context: The context.
        origins: The sites that it has visited, as `https://host`.
    """
    visited = list(origins)
    found = await _visit_origins(context, dict.fromkeys(visited[:MAX_ORIGINS]))
    return {"cookies": await _fetch_cookies(context, visited), "origins": _format_origins(found)}


async def peek_state(context: BrowserContext, pages: Iterable[BrowserPage], known: dict[str, Any]) -> dict[str, Any]:
    """Return the state as far as the open pages show it, without opening another one.

    Args:
        context: The context.
        pages: The context's open pages.
        known: Origin to items, from earlier calls; new ones are added to it.
    """
    for page in pages:
        parts = urlsplit(page.url if page.frames.main else "")
        if parts.scheme in ("http", "https") and page.lost is None:
            with suppress(OutriderError, ProtocolError):  # the page is navigating, or its site must not have storage
                items = await page.evaluate_in(ISOLATED_WORLD, READ_STORAGE_SCRIPT, MAX_ITEM_CHARS, timeout=2.0)
                known[f"{parts.scheme}://{parts.netloc}"] = items
    return {"cookies": await _fetch_cookies(context, list(known)), "origins": _format_origins(known)}


def _format_origins(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"origin": origin, "localStorage": items} for origin, items in found.items() if items]


async def _fetch_cookies(context: BrowserContext, origins: list[str]) -> list[dict[str, Any]]:
    """Return the context's cookies; in the default context only those of the given origins."""
    scope = {"browserContextId": context.id} if context.id else {}
    cookies = (await context.browser.connection.send("Storage.getCookies", scope))["cookies"]
    if context.id is None:
        hosts = [urlsplit(origin).hostname or "" for origin in origins]
        cookies = [cookie for cookie in cookies if any(_is_cookie_sent_to(cookie["domain"], host) for host in hosts)]
    fields = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
    return [{name: cookie[name] for name in fields if name in cookie} for cookie in cookies]


def _is_cookie_sent_to(domain: str, host: str) -> bool:
    """Return whether a cookie of that domain is sent to the host (RFC 6265 section 5.1.3)."""
    bare = domain.removeprefix(".")
    return host == bare or (domain.startswith(".") and host.endswith(f".{bare}"))


async def restore_state(context: BrowserContext, state: dict[str, Any]) -> None:
    """Restore a captured state in a context before its pages navigate."""
    scope = {"browserContextId": context.id} if context.id else {}
    if cookies := select_usable_cookies(state):
        await context.browser.connection.send("Storage.setCookies", {"cookies": cookies} | scope)
    storage = {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])[:MAX_ORIGINS]}
    await _visit_origins(context, {origin: items for origin, items in storage.items() if items})


async def _visit_origins(context: BrowserContext, origins: dict[str, Any]) -> dict[str, Any]:
    """Read (items None) or write local storage at each origin.

    The page loads nothing from the sites: an empty page is served in their place.
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
