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

from outrider.browser.protocol.cdp import CommandTimeout, ContextGone
from outrider.browser.protocol.loading import COMMITTED_MILESTONE, DocumentLoad
from outrider.browser.protocol.page import BrowserPage
from outrider.core.egress import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable
from outrider.core.tracing import start_span

BLANK_URL = "about:blank"
HISTORY_STEP_TIMEOUT_S = 0.25  # in which a step through the history must show
# Chromium's net error list (net/base/net_error_list.h), as what it means for whoever asked.
NET_ERROR_REASONS = {
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


class FailureExplainer(Protocol):
    """Tells why the egress proxy knew no way to an address; the browser only says that there is none."""

    def explain_failure(self, url: str) -> OutriderError | None:
        """The reason, if there was none the last time."""


@dataclass(frozen=True)
class NavigationResult:
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


def resolve_address(url: str, guard: EgressGuard | None) -> str:
    """The address to go to; a bare host gets https. Only http(s) and about:blank are let through.

    Raises:
        InvalidInput: code `bad_url`.
        Refused: code `egress`.
    """
    text = url.strip()
    if text.lower() == BLANK_URL:
        return BLANK_URL
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d+(/|$|\?|#))", text):
        text = f"https://{text.removeprefix('//')}"
    if guard is None:
        if not text.lower().startswith(("http://", "https://")):
            raise InvalidInput(f"url: {text.partition(':')[0]}: is not opened", code="bad_url", hint="use https://")
        return text
    target = guard.check_url(text)
    _, hash_mark, fragment = text.partition("#")
    return f"{target.url}{hash_mark}{fragment}"


async def navigate_page(
    page: BrowserPage,
    url: str,
    *,
    guard: EgressGuard | None = None,
    seconds: float = 30.0,
    explainer: FailureExplainer | None = None,
) -> NavigationResult:
    """Goes to an address and waits until the document is loaded, or as good as.

    Args:
        page: The page.
        url: As somebody wrote it.
        guard: Refuses an address before the browser hears of it.
        seconds: For everything; when only the last images are missing, `ready` says so instead.
        explainer: Tells why the proxy knew no way to an address.

    Raises:
        InvalidInput, Refused: The address may not be opened.
        Unavailable: It cannot be opened; `code` is `dns`, `connect`, `timeout`, `tls` …
    """
    unauthorized = 401  # of a site that asks in a way that browsers do not understand: others show their page
    address = resolve_address(url, guard)
    started = time.monotonic()
    with (
        _stop_on_cancel(page),
        start_span("browser navigate", {"server.address": urlsplit(address).hostname or ""}, kind=SpanKind.CLIENT),
    ):
        answer = await _send_navigation(page, address, seconds)
    if answer.get("isDownload"):
        return await build_navigation_result(page, ready="commit", download=True)
    if error := answer.get("errorText"):
        there = page.loading.get_load(answer.get("loaderId", ""))
        if there.status == unauthorized:
            host = urlsplit(there.url).hostname
            raise Refused(f"{host} asks for a password (HTTP 401)", code="forbidden", hint="choose another source")
        raise build_network_error(there.url or address, error, explainer)
    loader = answer.get("loaderId")
    if not loader:  # only the fragment changed
        return await build_navigation_result(page)
    ready = await wait_until_loaded(page, loader, seconds - (time.monotonic() - started))
    load = page.loading.get_load(
        page.main.loader if COMMITTED_MILESTONE in page.loading.get_load(loader).milestones else loader
    )
    if load.error:
        return await _accept_partial(page, load, explainer, ready)
    if ready == "commit" and COMMITTED_MILESTONE not in load.milestones:
        raise Unavailable(f"{address} did not answer within {seconds:g} s", code="timeout", hint="try later")
    made = await build_navigation_result(page, ready=ready)
    last = page.loading.get_load(page.main.loader)  # it may have gone on by itself meanwhile
    if load.refused or last.refused:
        raise _build_unreached_error((last if last.refused else load).url or address, explainer)
    return replace(made, status=last.status)


async def _accept_partial(
    page: BrowserPage, load: DocumentLoad, explainer: FailureExplainer | None, ready: str
) -> NavigationResult:
    """What came of a document that broke off. Raises Unavailable if there is nothing to see."""
    has_text_script = "() => Boolean(document.body && document.body.innerText.trim())"
    error = build_network_error(load.url, load.error, explainer)
    try:
        seen = COMMITTED_MILESTONE in load.milestones and await page.evaluate_in(
            "outrider", has_text_script, timeout=2.0
        )
    except (ContextGone, OutriderError):
        seen = False
    if not seen:
        raise error
    return await build_navigation_result(
        page, status=load.status, ready=ready, notes=(f"the page is not whole: {error.message}",)
    )


@contextmanager
def _stop_on_cancel(page: BrowserPage) -> Generator[None]:
    """A navigation that its caller waits for no longer goes on no longer either."""
    try:
        yield
    except asyncio.CancelledError:
        page.stop_loading()
        raise


async def _send_navigation(page: BrowserPage, address: str, seconds: float) -> dict[str, Any]:
    """Asks the browser to go there; again when the page went elsewhere by itself at the same moment."""
    deadline = time.monotonic() + seconds
    while True:
        commits = page.loading.commits
        try:
            answer = await page.send("Page.navigate", {"url": address}, timeout=max(deadline - time.monotonic(), 0.1))
        except CommandTimeout:
            page.stop_loading()
            message = f"{address} did not answer within {seconds:g} s"
            raise Unavailable(message, code="timeout", hint="try later") from None
        crossed = page.loading.commits > commits or page.loading.navigating not in (None, address)
        if answer.get("errorText") != "net::ERR_ABORTED" or answer.get("isDownload") or not crossed:
            return answer
        if time.monotonic() > deadline - seconds / 2:
            message = f"{address}: the page before it goes elsewhere by itself again and again"
            raise Unavailable(message, code="aborted", hint="closeSession and open the address in a new one")


async def reload_page(page: BrowserPage, *, ignore_cache: bool = False, seconds: float = 30.0) -> NavigationResult:
    """Loads the page again and waits for it."""
    before = page.loading.commits
    with _stop_on_cancel(page):
        await page.send("Page.reload", {"ignoreCache": ignore_cache}, timeout=seconds)
        return await _wait_for_commit(page, before, seconds)


async def step_history(page: BrowserPage, offset: int, *, seconds: float = 30.0) -> NavigationResult:
    """Goes back (-1) or forward (1) in the history; `moved` is False at its end."""
    history = await page.send("Page.getNavigationHistory")
    index = history["currentIndex"] + offset
    entries = history["entries"]
    # A page's first entry is the empty one that it was opened with.
    if not 0 <= index < len(entries) or (index == 0 and entries[0]["url"] == BLANK_URL):
        return await build_navigation_result(page, moved=False)
    with _stop_on_cancel(page):
        return await _navigate_to_entry(page, entries[index]["id"], seconds)


async def _navigate_to_entry(page: BrowserPage, entry: int, seconds: float) -> NavigationResult:
    commits, url = page.loading.commits, page.url
    await page.send("Page.navigateToHistoryEntry", {"entryId": entry}, timeout=seconds)
    moved = lambda: page.loading.commits > commits or page.url != url  # noqa: E731
    if not await page.loading.wait_until(moved, seconds):
        page.stop_loading()
        raise Unavailable("the page did not move", code="timeout", hint="navigate to the address instead")
    if page.loading.commits > commits:
        return await _wait_for_commit(page, commits, seconds)
    return await build_navigation_result(page)


async def wait_until_loaded(page: BrowserPage, loader: str, seconds: float) -> str:
    """Waits for a document: `load`; else what it had reached when patience ended. Raises Unavailable."""
    load_grace_s = 5.0  # seconds that `load` may come later than the content did
    load = page.loading.get_load(loader)
    marks = load.milestones

    def has_reached(name: str) -> bool:
        followed = COMMITTED_MILESTONE in marks and page.main.loader != loader
        return name in marks or page.lost is not None or bool(load.error) or followed

    deadline = time.monotonic() + max(seconds, 0.1)
    if not await page.loading.wait_until(lambda: has_reached("DOMContentLoaded"), seconds):
        page.stop_loading()
        return "commit"
    if page.lost is not None:
        raise page.lost
    left = min(load_grace_s, max(deadline - time.monotonic(), 0.1))
    whole = await page.loading.wait_until(lambda: has_reached("load"), left)
    return "load" if whole else "DOMContentLoaded"


async def build_navigation_result(page: BrowserPage, **facts: Any) -> NavigationResult:
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
    return NavigationResult(page.url, str(title or ""), **facts)


async def _wait_for_commit(page: BrowserPage, commits: int, seconds: float) -> NavigationResult:
    started = time.monotonic()
    if not await page.loading.wait_until(lambda: page.loading.commits > commits, seconds):
        page.stop_loading()
        raise Unavailable("the page did not load again", code="timeout", hint="navigate to the address instead")
    loader = page.main.loader
    ready = await wait_until_loaded(page, loader, seconds - (time.monotonic() - started))
    return await build_navigation_result(page, status=page.loading.get_load(loader).status, ready=ready)


def build_network_error(url: str, error: str, explainer: FailureExplainer | None) -> OutriderError:
    """The browser's network error as one that says what to do."""
    lost_credential_error = (
        "ERR_INVALID_AUTH_CREDENTIALS"  # to the proxy: sites that ask for a password show a page instead
    )
    name = error.removeprefix("net::")
    host = urlsplit(url).hostname or url
    if (
        name in ("ERR_TUNNEL_CONNECTION_FAILED", "ERR_BLOCKED_BY_CLIENT")
        and explainer
        and explainer.explain_failure(url)
    ):
        return _build_unreached_error(url, explainer)
    if name == lost_credential_error:
        return Unavailable(f"{host}: the browser has forgotten its way out", code="proxy_auth", hint="try again")
    if name.startswith(("ERR_CERT", "ERR_SSL")):
        return Unavailable(f"no secure connection to {host} ({name})", code="tls", hint="check the address")
    if name == "ERR_ABORTED":
        return Unavailable(f"{url} shows no page ({name})", code="aborted", hint="it may be a download or a 204")
    code, words = NET_ERROR_REASONS.get(name, ("network", f"the browser says {name}"))
    return Unavailable(f"{host}: {words}", code=code, hint="check the address, or try later")


def _build_unreached_error(url: str, explainer: FailureExplainer | None) -> OutriderError:
    """What the egress proxy knows of a site that it let nobody through to: its refusal, or why there is no way.

    Args:
        url: The address at which it ended, which a redirect may have named.
        explainer: Who knows.
    """
    host = urlsplit(url).hostname or ""
    known = explainer.explain_failure(url) if explainer else None
    if known is None:
        return Unavailable(f"{host} cannot be reached", code="connect", hint="check the address, or try later")
    return type(known)(known.message, code=known.code, hint=known.hint)


async def wait_for_navigation(page: BrowserPage, commits: int, seconds: float) -> bool:
    """Waits for a navigation of the page itself that is under way, if there is one."""
    if page.loading.navigating is None and page.loading.commits == commits:
        return False
    await page.loading.wait_until(lambda: page.loading.commits > commits or page.loading.navigating is None, seconds)
    if page.loading.commits > commits:
        await wait_until_loaded(page, page.main.loader, seconds)
        return True
    await asyncio.sleep(0)
    return False
