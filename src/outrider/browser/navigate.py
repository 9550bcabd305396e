"""Going somewhere, and knowing when one is there."""

import asyncio
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind

from outrider.browser.cdp import ContextGone, Hung
from outrider.browser.loading import SHOWN, Load
from outrider.browser.page import Page
from outrider.core.egress import Guard
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable
from outrider.core.tracing import span

BLANK = "about:blank"
UNAUTHORIZED = 401  # of a site that asks in a way that browsers do not understand: others show their page
SEEN = "() => Boolean(document.body && document.body.innerText.trim())"
AFTER_CONTENT = 5.0  # seconds that `load` may come later than the content did
STEP_SECONDS = 0.25  # in which a step through the history must show
FORGOTTEN = "ERR_INVALID_AUTH_CREDENTIALS"  # to the proxy: sites that ask for a password show a page instead
# Chromium's net error list (net/base/net_error_list.h), as what it means for whoever asked.
REASONS = {
    "ERR_NAME_NOT_RESOLVED": ("dns", "the name does not exist"),
    "ERR_CONNECTION_REFUSED": ("connect", "nothing answers there"),
    "ERR_CONNECTION_RESET": ("connect", "the connection broke"),
    "ERR_CONNECTION_CLOSED": ("connect", "the connection broke"),
    "ERR_EMPTY_RESPONSE": ("protocol", "it answered nothing"),
    "ERR_TIMED_OUT": ("timeout", "it did not answer in time"),
    "ERR_CONNECTION_TIMED_OUT": ("timeout", "it did not answer in time"),
    "ERR_TOO_MANY_REDIRECTS": ("redirects", "it redirects in a circle"),
    "ERR_UNSAFE_REDIRECT": ("redirects", "it redirects to an address that browsers do not open"),
    "ERR_CONTENT_DECODING_FAILED": ("protocol", "its answer is not in its own Content-Encoding"),
    "ERR_INCOMPLETE_CHUNKED_ENCODING": ("protocol", "it broke off its answer"),
    "ERR_CONTENT_LENGTH_MISMATCH": ("protocol", "it broke off its answer"),
    "ERR_INVALID_CHUNKED_ENCODING": ("protocol", "its answer does not keep to HTTP"),
    "ERR_INVALID_HTTP_RESPONSE": ("protocol", "its answer does not keep to HTTP"),
    "ERR_TUNNEL_CONNECTION_FAILED": ("connect", "no connection to it could be made"),
    "ERR_PROXY_CONNECTION_FAILED": ("connect", "the way out is closed"),
    "ERR_INTERNET_DISCONNECTED": ("connect", "there is no network"),
    "ERR_BLOCKED_BY_RESPONSE": ("blocked", "the site forbids to show it here"),
    "ERR_BLOCKED_BY_CLIENT": ("blocked", "the browser refused it"),
    "ERR_UNSAFE_PORT": ("blocked", "browsers do not open that port"),
}


class Why(Protocol):
    """Tells why the egress proxy knew no way to an address; the browser only says that there is none."""

    def failure(self, url: str) -> OutriderError | None:
        """The reason, if there was none the last time."""


@dataclass(frozen=True)
class Arrival:
    """Where a page is after a navigation.

    Attributes:
        url: The address now.
        title: The document's title.
        status: The HTTP status; None where there is none (about:blank, a cached step back).
        ready: How far it got: `load`, `DOMContentLoaded` or `commit`.
        moved: False when there was nowhere to go (the end of the history).
        download: The page stayed, because the address is a file that is being downloaded.
        notes: What else a reader should know.
    """

    url: str
    title: str
    status: int | None = None
    ready: str = "load"
    moved: bool = True
    download: bool = False
    notes: tuple[str, ...] = field(default=())


def read_address(url: str, guard: Guard | None) -> str:
    """The address to go to; a bare host gets https. Only http(s) and about:blank are let through.

    Raises:
        InvalidInput: code `bad_url`.
        Refused: code `egress`.
    """
    text = url.strip()
    if text.lower() == BLANK:
        return BLANK
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d+(/|$|\?|#))", text):
        text = f"https://{text.removeprefix('//')}"
    if guard is None:
        if not text.lower().startswith(("http://", "https://")):
            raise InvalidInput(f"url: {text.partition(':')[0]}: is not opened", code="bad_url", hint="use https://")
        return text
    target = guard.check(text)
    _, hash_mark, fragment = text.partition("#")
    return f"{target.url}{hash_mark}{fragment}"


async def navigate(
    page: Page, url: str, *, guard: Guard | None = None, seconds: float = 30.0, why: Why | None = None
) -> Arrival:
    """Goes to an address and waits until the document is loaded, or as good as.

    Args:
        page: The page.
        url: As somebody wrote it.
        guard: Refuses an address before the browser hears of it.
        seconds: For everything; when only the last images are missing, `ready` says so instead.
        why: Tells why the proxy knew no way to an address.

    Raises:
        InvalidInput, Refused: The address may not be opened.
        Unavailable: It cannot be opened; `code` is `dns`, `connect`, `timeout`, `tls` …
    """
    address = read_address(url, guard)
    started = time.monotonic()
    with (
        _stopped_when_left(page),
        span("browser navigate", {"server.address": urlsplit(address).hostname or ""}, kind=SpanKind.CLIENT),
    ):
        answer = await _sent(page, address, seconds)
    if answer.get("isDownload"):
        return await arrival(page, ready="commit", download=True)
    if error := answer.get("errorText"):
        there = page.loading.load(answer.get("loaderId", ""))
        if there.status == UNAUTHORIZED:
            host = urlsplit(there.url).hostname
            raise Refused(f"{host} asks for a password (HTTP 401)", code="forbidden", hint="choose another source")
        raise failure(there.url or address, error, why)
    loader = answer.get("loaderId")
    if not loader:  # only the fragment changed
        return await arrival(page)
    ready = await loaded(page, loader, seconds - (time.monotonic() - started))
    load = page.loading.load(page.main.loader if SHOWN in page.loading.load(loader).marks else loader)
    if load.broken:
        return await _in_part(page, load, why, ready)
    if ready == "commit" and SHOWN not in load.marks:
        raise Unavailable(f"{address} did not answer within {seconds:g} s", code="timeout", hint="try later")
    made = await arrival(page, ready=ready)
    last = page.loading.load(page.main.loader)  # it may have gone on by itself meanwhile
    if load.refused or last.refused:
        raise _unreached((last if last.refused else load).url or address, why)
    return replace(made, status=last.status)


async def _in_part(page: Page, load: Load, why: Why | None, ready: str) -> Arrival:
    """What came of a document that broke off. Raises Unavailable if there is nothing to see."""
    error = failure(load.url, load.broken, why)
    try:
        seen = SHOWN in load.marks and await page.evaluate_in("outrider", SEEN, timeout=2.0)
    except (ContextGone, OutriderError):
        seen = False
    if not seen:
        raise error
    return await arrival(page, status=load.status, ready=ready, notes=(f"the page is not whole: {error.message}",))


@contextmanager
def _stopped_when_left(page: Page) -> Generator[None]:
    """A navigation that its caller waits for no longer goes on no longer either."""
    try:
        yield
    except asyncio.CancelledError:
        page.stop()
        raise


async def _sent(page: Page, address: str, seconds: float) -> dict[str, Any]:
    """Asks the browser to go there; again when the page went elsewhere by itself at the same moment."""
    deadline = time.monotonic() + seconds
    while True:
        commits = page.loading.commits
        try:
            answer = await page.send("Page.navigate", {"url": address}, timeout=max(deadline - time.monotonic(), 0.1))
        except Hung:
            page.stop()
            message = f"{address} did not answer within {seconds:g} s"
            raise Unavailable(message, code="timeout", hint="try later") from None
        crossed = page.loading.commits > commits or page.loading.navigating not in (None, address)
        if answer.get("errorText") != "net::ERR_ABORTED" or answer.get("isDownload") or not crossed:
            return answer
        if time.monotonic() > deadline - seconds / 2:
            message = f"{address}: the page before it goes elsewhere by itself again and again"
            raise Unavailable(message, code="aborted", hint="closeSession and open the address in a new one")


async def reload(page: Page, *, ignore_cache: bool = False, seconds: float = 30.0) -> Arrival:
    """Loads the page again and waits for it."""
    before = page.loading.commits
    with _stopped_when_left(page):
        await page.send("Page.reload", {"ignoreCache": ignore_cache}, timeout=seconds)
        return await _after(page, before, seconds)


async def step(page: Page, by: int, *, seconds: float = 30.0) -> Arrival:
    """Goes back (-1) or forward (1) in the history; `moved` is False at its end."""
    history = await page.send("Page.getNavigationHistory")
    index = history["currentIndex"] + by
    entries = history["entries"]
    # A page's first entry is the empty one that it was opened with.
    if not 0 <= index < len(entries) or (index == 0 and entries[0]["url"] == BLANK):
        return await arrival(page, moved=False)
    with _stopped_when_left(page):
        return await _stepped(page, entries[index]["id"], seconds)


async def _stepped(page: Page, entry: int, seconds: float) -> Arrival:
    commits, url = page.loading.commits, page.url
    await page.send("Page.navigateToHistoryEntry", {"entryId": entry}, timeout=seconds)
    moved = lambda: page.loading.commits > commits or page.url != url  # noqa: E731
    if not await page.loading.until(moved, seconds):
        page.stop()
        raise Unavailable("the page did not move", code="timeout", hint="navigate to the address instead")
    if page.loading.commits > commits:
        return await _after(page, commits, seconds)
    return await arrival(page)


async def loaded(page: Page, loader: str, seconds: float) -> str:
    """Waits for a document: `load`; else what it had reached when patience ended. Raises Unavailable."""
    load = page.loading.load(loader)
    marks = load.marks

    def there(name: str) -> bool:
        followed = SHOWN in marks and page.main.loader != loader
        return name in marks or page.lost is not None or bool(load.broken) or followed

    deadline = time.monotonic() + max(seconds, 0.1)
    if not await page.loading.until(lambda: there("DOMContentLoaded"), seconds):
        page.stop()
        return "commit"
    if page.lost is not None:
        raise page.lost
    left = min(AFTER_CONTENT, max(deadline - time.monotonic(), 0.1))
    whole = await page.loading.until(lambda: there("load"), left)
    return "load" if whole else "DOMContentLoaded"


async def arrival(page: Page, **facts: Any) -> Arrival:
    """Where the page is now."""
    title = ""
    try:
        patience = 1.0 if facts.get("ready") == "commit" else 5.0
        title = await page.evaluate_in("outrider", "() => document.title.slice(0, 1000)", timeout=patience)
    except ContextGone:
        pass  # it is on its way elsewhere by itself
    except OutriderError:
        if page.lost is not None:
            raise
    return Arrival(page.url, str(title or ""), **facts)


async def _after(page: Page, commits: int, seconds: float) -> Arrival:
    started = time.monotonic()
    if not await page.loading.until(lambda: page.loading.commits > commits, seconds):
        page.stop()
        raise Unavailable("the page did not load again", code="timeout", hint="navigate to the address instead")
    loader = page.main.loader
    ready = await loaded(page, loader, seconds - (time.monotonic() - started))
    return await arrival(page, status=page.loading.load(loader).status, ready=ready)


def failure(url: str, error: str, why: Why | None) -> OutriderError:
    """The browser's network error as one that says what to do."""
    name = error.removeprefix("net::")
    host = urlsplit(url).hostname or url
    if name in ("ERR_TUNNEL_CONNECTION_FAILED", "ERR_BLOCKED_BY_CLIENT") and why and why.failure(url):
        return _unreached(url, why)
    if name == FORGOTTEN:
        return Unavailable(f"{host}: the browser has forgotten its way out", code="proxy_auth", hint="try again")
    if name.startswith(("ERR_CERT", "ERR_SSL")):
        return Unavailable(f"no secure connection to {host} ({name})", code="tls", hint="check the address")
    if name == "ERR_ABORTED":
        return Unavailable(f"{url} shows no page ({name})", code="aborted", hint="it may be a download or a 204")
    code, words = REASONS.get(name, ("network", f"the browser says {name}"))
    return Unavailable(f"{host}: {words}", code=code, hint="check the address, or try later")


def _unreached(url: str, why: Why | None) -> OutriderError:
    """What the egress proxy knows of a site that it let nobody through to: its refusal, or why there is no way.

    Args:
        url: The address at which it ended, which a redirect may have named.
        why: Who knows.
    """
    host = urlsplit(url).hostname or ""
    known = why.failure(url) if why else None
    if known is None:
        return Unavailable(f"{host} cannot be reached", code="connect", hint="check the address, or try later")
    return type(known)(known.message, code=known.code, hint=known.hint)


async def wait_for_navigation(page: Page, commits: int, seconds: float) -> bool:
    """Waits for a navigation of the page itself that is under way, if there is one."""
    if page.loading.navigating is None and page.loading.commits == commits:
        return False
    await page.loading.until(lambda: page.loading.commits > commits or page.loading.navigating is None, seconds)
    if page.loading.commits > commits:
        await loaded(page, page.main.loader, seconds)
        return True
    await asyncio.sleep(0)
    return False
