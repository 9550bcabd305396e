"""Cookies and web storage of the site that a page shows."""

from dataclasses import dataclass
from typing import Any, Literal

from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import RANDOM_TEXT_PATTERN, REMOVED, is_secret_name
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.errors import InvalidInput, Refused

StorageArea = Literal["cookies", "localStorage", "sessionStorage"]


@dataclass(frozen=True)
class StoredItem:
    """A cookie or a storage item; `value` is a mark if it may be a credential, `facts` only exist for cookies."""

    name: str
    value: str
    size: int
    facts: str = ""


async def list_items(page: BrowserPage, area: StorageArea) -> list[StoredItem]:
    """List the stored items of the page's site by name. Raises Refused if it has no storage."""
    if area == "cookies":
        return sorted(map(_describe_cookie, await _fetch_cookies(page)), key=lambda item: item.name)
    script = (
        "(area) => Object.entries(globalThis[area]).map(([name, value]) => [name, value.slice(0, 300), value.length])"
    )
    found = await page.evaluate_in(ISOLATED_WORLD, script, _check_page(page, area))
    return [StoredItem(name, _hide_secret(name, value), size) for name, value, size in sorted(found)]


async def set_item(page: BrowserPage, area: StorageArea, name: str, value: str, max_age_s: int | None = None) -> None:
    """Set a cookie for the page's host, or an item for its origin. Raises InvalidInput or Refused."""
    _check_page(page, area)
    if area != "cookies":
        await page.evaluate_in(
            ISOLATED_WORLD, "(area, name, value) => { globalThis[area][name] = value }", area, name, value
        )
        return
    params: dict[str, Any] = {"name": name, "value": value, "url": page.url, "path": "/"}
    if max_age_s is not None:
        now = await page.evaluate_in(ISOLATED_WORLD, "() => Date.now() / 1000")
        params["expires"] = now + max_age_s
    if not (await page.send("Network.setCookie", params)).get("success", True):
        raise InvalidInput("name: the browser refused the cookie", hint="no spaces, semicolons or commas in it")


async def remove_items(page: BrowserPage, area: StorageArea, name: str = "") -> int:
    """Remove the items of that name, or all of the page's site; return their number. Raises Refused."""
    before = await list_items(page, area)
    doomed = [item for item in before if not name or item.name == name]
    if area != "cookies":
        script = "(area, names) => names.forEach(name => globalThis[area].removeItem(name))"
        await page.evaluate_in(ISOLATED_WORLD, script, area, [item.name for item in doomed])
        return len(doomed)
    for cookie in await _fetch_cookies(page):
        if not name or cookie["name"] == name:
            scope = {key: cookie[key] for key in ("name", "domain", "path", "partitionKey") if key in cookie}
            await page.send("Network.deleteCookies", scope)
    return len(doomed)


async def _fetch_cookies(page: BrowserPage) -> list[dict[str, Any]]:
    _check_page(page, "cookies")
    return (await page.send("Network.getCookies", {"urls": [page.url]}))["cookies"]


def _check_page(page: BrowserPage, area: StorageArea) -> StorageArea:
    if not page.url.startswith(("http://", "https://")):
        raise Refused(f"the page has no {area}", hint="navigateToUrl opens the site first")
    return area


def _describe_cookie(cookie: dict[str, Any]) -> StoredItem:
    flags = [name for name in ("httpOnly", "secure", "session") if cookie.get(name)]
    facts = ", ".join([f"{cookie['domain']}{cookie['path']}", *flags, *filter(None, [cookie.get("sameSite", "")])])
    value = REMOVED if cookie.get("httpOnly") else _hide_secret(cookie["name"], cookie["value"])
    return StoredItem(cookie["name"], value, len(cookie["value"]), facts)


def _hide_secret(name: str, value: str) -> str:
    return REMOVED if value and (is_secret_name(name) or RANDOM_TEXT_PATTERN.search(value)) else value
