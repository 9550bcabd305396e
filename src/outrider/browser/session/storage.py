"""Taking a session's cookies and local storage out, and putting them back."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from outrider.browser.process.context import BrowserContext
from outrider.browser.protocol.cdp import ProtocolError, TargetChannel
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.session.states import select_usable_cookies
from outrider.core.errors import OutriderError

MAX_ORIGINS = 50  # whose local storage is kept
MAX_ITEM_CHARS = 1_000_000
READ_STORAGE_SCRIPT = """(limit) => Object.entries(localStorage).filter(([, value]) => value.length <= limit)
  .map(([name, value]) => ({name, value}))"""
WRITE_STORAGE_SCRIPT = (
    """(items) => { for (const {name, value} of items) try { localStorage.setItem(name, value) } catch {} }"""
)


async def capture_state(context: BrowserContext, origins: Iterable[str]) -> dict[str, Any]:
    """The cookies of a context, and the local storage of those origins.

    Args:
        context: Whose.
        origins: The sites it has been to, as `https://host`.
    """
    visited = list(origins)
    found = await _visit_origins(context, dict.fromkeys(visited[:MAX_ORIGINS]))
    return {"cookies": await _fetch_cookies(context, visited), "origins": _format_origins(found)}


async def peek_state(context: BrowserContext, pages: Iterable[BrowserPage], known: dict[str, Any]) -> dict[str, Any]:
    """The same without opening a page for it, as far as it can be seen from the pages that are open.

    Args:
        context: Whose.
        pages: Its open pages.
        known: Origin to items; what is seen now is added to it.
    """
    for page in pages:
        parts = urlsplit(page.url if page.frames.main else "")
        if parts.scheme in ("http", "https") and page.lost is None:
            seen = await _read_local_storage(page)
            known |= {} if seen is None else {f"{parts.scheme}://{parts.netloc}": seen}
    return {"cookies": await _fetch_cookies(context, list(known)), "origins": _format_origins(known)}


async def _read_local_storage(page: BrowserPage) -> Any:
    try:
        return await page.evaluate_in("outrider", READ_STORAGE_SCRIPT, MAX_ITEM_CHARS, timeout=2.0)
    except (OutriderError, ProtocolError):
        return None  # on its way elsewhere, or a site that may not have storage


def _format_origins(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"origin": origin, "localStorage": items} for origin, items in found.items() if items]


async def _fetch_cookies(context: BrowserContext, origins: list[str]) -> list[dict[str, Any]]:
    """The context's cookies; of a browser's own context only those of the sites that the session has been to."""
    scope = {"browserContextId": context.id} if context.id else {}
    cookies = (await context.browser.connection.send("Storage.getCookies", scope))["cookies"]
    if context.id is None:
        hosts = [urlsplit(origin).hostname or "" for origin in origins]
        cookies = [each for each in cookies if any(_is_cookie_sent_to(each["domain"], host) for host in hosts)]
    kept = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
    return [{name: cookie[name] for name in kept if name in cookie} for cookie in cookies]


def _is_cookie_sent_to(domain: str, host: str) -> bool:
    """Whether a cookie of that domain is sent to the host (RFC 6265 section 5.1.3)."""
    bare = domain.removeprefix(".")
    return host == bare or (domain.startswith(".") and host.endswith(f".{bare}"))


async def restore_state(context: BrowserContext, state: dict[str, Any]) -> None:
    """Gives a context what `take_state` took, before its pages go anywhere."""
    scope = {"browserContextId": context.id} if context.id else {}
    if cookies := select_usable_cookies(state):
        await context.browser.connection.send("Storage.setCookies", {"cookies": cookies} | scope)
    wanted = {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])[:MAX_ORIGINS]}
    await _visit_origins(context, {origin: items for origin, items in wanted.items() if items})


async def _visit_origins(context: BrowserContext, origins: dict[str, Any]) -> dict[str, Any]:
    """Reads (None) or writes local storage at each origin, in a page that loads nothing: we answer for the site."""
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
            return await page.evaluate_in("outrider", READ_STORAGE_SCRIPT, MAX_ITEM_CHARS, timeout=timeout_s)
        return await page.evaluate_in("outrider", WRITE_STORAGE_SCRIPT, items, timeout=timeout_s)
    except OutriderError:
        if page.lost is not None:
            raise
        return None  # a site that the browser does not let have storage


def _serve_empty_page(channel: TargetChannel, event: dict[str, Any]) -> None:
    empty_page = "PCFkb2N0eXBlIGh0bWw+"  # <!doctype html>, in base64
    headers = [{"name": "content-type", "value": "text/html"}]
    answer = {"requestId": event["requestId"], "responseCode": 200, "responseHeaders": headers, "body": empty_page}
    channel.send_and_forget("Fetch.fulfillRequest", answer)
