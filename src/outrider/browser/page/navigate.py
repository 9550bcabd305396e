"""Navigate a page and wait until the document is loaded."""

import asyncio
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind

from outrider.browser.protocol.cdp import CommandTimeout, ContextGone
from outrider.browser.protocol.loading import COMMITTED_MILESTONE, DocumentLoad
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.egress import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable
from outrider.core.tracing import start_span

BLANK_URL = "about:blank"
# Chromium's net errors (net/base/net_error_list.h): the error code, and the explanation for the caller.
NET_ERROR_REASONS = {
    "ERR_NAME_NOT_RESOLVED": ("dns", "the host name does not exist"),
    "ERR_CONNECTION_REFUSED": ("connect", "nothing listens on that port"),
    "ERR_CONNECTION_RESET": ("connect", "the connection was closed"),
    "ERR_CONNECTION_CLOSED": ("connect", "the connection was closed"),
    "ERR_EMPTY_RESPONSE": ("protocol", "its answer was empty"),
    "ERR_TIMED_OUT": ("timeout", "it did not answer in time"),
    "ERR_CONNECTION_TIMED_OUT": ("timeout", "it did not answer in time"),
    "ERR_TOO_MANY_REDIRECTS": ("redirects", "it redirects in a circle"),
    "ERR_UNSAFE_REDIRECT": ("redirects", "it redirects to an address that browsers do not open"),
    "ERR_CONTENT_DECODING_FAILED": ("protocol", "its answer does not match its Content-Encoding"),
    "ERR_INCOMPLETE_CHUNKED_ENCODING": ("protocol", "its answer ended early"),
    "ERR_CONTENT_LENGTH_MISMATCH": ("protocol", "its answer ended early"),
    "ERR_INVALID_CHUNKED_ENCODING": ("protocol", "its answer is not valid HTTP"),
    "ERR_INVALID_HTTP_RESPONSE": ("protocol", "its answer is not valid HTTP"),
    "ERR_TUNNEL_CONNECTION_FAILED": ("connect", "it could not be reached"),
    "ERR_PROXY_CONNECTION_FAILED": ("connect", "the egress proxy does not accept connections"),
    "ERR_INTERNET_DISCONNECTED": ("connect", "the network is down"),
    "ERR_BLOCKED_BY_RESPONSE": ("blocked", "the site forbids showing it here"),
    "ERR_BLOCKED_BY_CLIENT": ("blocked", "the browser refused it"),
    "ERR_UNSAFE_PORT": ("blocked", "browsers do not open that port"),
}


class FailureExplainer(Protocol):
    """Explains why the egress proxy did not reach an address; the browser only reports that it failed."""

    def explain_failure(self, url: str) -> OutriderError | None:
        """Return the error of the last attempt, if it failed."""


@dataclass(frozen=True)
class NavigationResult:
    """The state of a page after a navigation.

    Attributes:
        url: The address now.
        title: The document's title.
        status: The HTTP status; None if there is none (about:blank, a cached step back).
        ready: How far it got: `load`, `DOMContentLoaded` or `commit`.
        moved: False at the end of the history.
        download: The page did not change, because the address is a file, which is downloaded.
        notes: Anything else worth knowing.
    """

    url: str
    title: str
    status: int | None = None
    ready: str = "load"
    moved: bool = True
    download: bool = False
    notes: tuple[str, ...] = field(default=())


def resolve_address(url: str, guard: EgressGuard | None) -> str:
    """Return the address to open; a bare host gets https. Only http(s) and about:blank are allowed.

    Raises:
        InvalidInput: It is not such an address (code `bad_url`).
        Refused: The egress guard does not allow it (code `egress`).
    """
    text = url.strip()
    if text.lower() == BLANK_URL:
        return BLANK_URL
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d+(/|$|\?|#))", text):
        text = f"https://{text.removeprefix('//')}"
    if guard is None:
        if not text.lower().startswith(("http://", "https://")):
            scheme = text.partition(":")[0]
            raise InvalidInput(f"url: {scheme}: addresses are not opened", code="bad_url", hint="use https://")
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
    """Open an address and wait until the document is loaded, or nearly so.

    Args:
        page: The page.
        url: The address as the caller wrote it.
        guard: Refuses an address before the browser gets it.
        seconds: The time limit; a page that only lacks its last images is returned with another `ready`.
        explainer: Explains why the egress proxy did not reach an address.

    Raises:
        InvalidInput, Refused: The address may not be opened.
        Unavailable: It cannot be opened; the code is `dns`, `connect`, `timeout`, `tls` …
    """
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
        failed = page.loading.get_load(answer.get("loaderId", ""))
        # Only for authentication schemes unknown to the browser; for others it shows the site's page.
        if failed.status == 401:
            host = urlsplit(failed.url).hostname
            raise Refused(f"{host} asks for a password (HTTP 401)", code="forbidden", hint="choose another source")
        raise build_network_error(failed.url or address, error, explainer)
    loader = answer.get("loaderId")
    if not loader:  # only the fragment has changed
        return await build_navigation_result(page)
    ready = await wait_until_loaded(page, loader, seconds - (time.monotonic() - started))
    load = page.loading.get_load(
        page.main.loader if COMMITTED_MILESTONE in page.loading.get_load(loader).milestones else loader
    )
    if load.error:
        return await _accept_partial(page, load, explainer, ready)
    if ready == "commit" and COMMITTED_MILESTONE not in load.milestones:
        raise Unavailable(f"{address} did not answer within {seconds:g} s", code="timeout", hint="try later")
    result = await build_navigation_result(page, ready=ready)
    current = page.loading.get_load(page.main.loader)  # the page may have navigated itself in the meantime
    if load.refused or current.refused:
        raise _build_unreached_error((current if current.refused else load).url or address, explainer)
    return replace(result, status=current.status)


async def _accept_partial(
    page: BrowserPage, load: DocumentLoad, explainer: FailureExplainer | None, ready: str
) -> NavigationResult:
    """Return the result for a document that ended early. Raises Unavailable if it shows no text."""
    has_text_script = "() => Boolean(document.body && document.body.innerText.trim())"
    error = build_network_error(load.url, load.error, explainer)
    has_text = False
    if COMMITTED_MILESTONE in load.milestones:
        with suppress(ContextGone, OutriderError):
            has_text = await page.evaluate_in(ISOLATED_WORLD, has_text_script, timeout=2.0)
    if not has_text:
        raise error
    notes = (f"the page is incomplete: {error.message}",)
    return await build_navigation_result(page, status=load.status, ready=ready, notes=notes)


@contextmanager
def _stop_on_cancel(page: BrowserPage) -> Generator[None]:
    """Stop loading the page when the caller is cancelled."""
    try:
        yield
    except asyncio.CancelledError:
        page.stop_loading()
        raise


async def _send_navigation(page: BrowserPage, address: str, seconds: float) -> dict[str, Any]:
    """Send `Page.navigate`; again when the page navigated itself at the same moment."""
    deadline = time.monotonic() + seconds
    loading = page.loading
    while True:
        before = (loading.commits, loading.page_navigations)
        is_moving = loading.navigating is not None
        try:
            answer = await page.send("Page.navigate", {"url": address}, timeout=max(deadline - time.monotonic(), 0.1))
        except CommandTimeout:
            page.stop_loading()
            message = f"{address} did not answer within {seconds:g} s"
            raise Unavailable(message, code="timeout", hint="try later") from None
        # The page may itself load the same address, so the address proves nothing.
        is_redirected = loading.navigating not in (None, address)
        crossed = is_moving or is_redirected or (loading.commits, loading.page_navigations) != before
        if answer.get("isDownload") or not await _is_aborted(page, answer, deadline, crossed=crossed):
            return answer
        if time.monotonic() > deadline - seconds / 2:
            message = f"{address} cannot be opened: the current page keeps navigating away"
            raise Unavailable(message, code="aborted", hint="closeSession and open the address in a new one")


async def _is_aborted(page: BrowserPage, answer: dict[str, Any], deadline: float, *, crossed: bool) -> bool:
    """Return whether the page's own navigation replaced the one that was answered."""
    if answer.get("errorText"):
        return crossed and answer["errorText"] == "net::ERR_ABORTED"
    if not (loader := answer.get("loaderId")):
        return False
    load = page.loading.get_load(loader)

    def is_decided() -> bool:
        return load.canceled or bool(load.error) or COMMITTED_MILESTONE in load.milestones or page.lost is not None

    await page.loading.wait_until(is_decided, deadline - time.monotonic())
    return load.canceled and COMMITTED_MILESTONE not in load.milestones


async def reload_page(page: BrowserPage, *, ignore_cache: bool = False, seconds: float = 30.0) -> NavigationResult:
    """Reload the page and wait for it."""
    commits = page.loading.commits
    with _stop_on_cancel(page):
        await page.send("Page.reload", {"ignoreCache": ignore_cache}, timeout=seconds)
        return await _wait_for_commit(page, commits, seconds)


async def step_history(page: BrowserPage, offset: int, *, seconds: float = 30.0) -> NavigationResult:
    """Go back (-1) or forward (1) in the history; `moved` is False at its end."""
    history = await page.send("Page.getNavigationHistory")
    index = history["currentIndex"] + offset
    entries = history["entries"]
    # A page's first history entry is the blank page that it was opened with.
    if not 0 <= index < len(entries) or (index == 0 and entries[0]["url"] == BLANK_URL):
        return await build_navigation_result(page, moved=False)
    commits, url = page.loading.commits, page.url
    with _stop_on_cancel(page):
        await page.send("Page.navigateToHistoryEntry", {"entryId": entries[index]["id"]}, timeout=seconds)
        if not await page.loading.wait_until(lambda: page.loading.commits > commits or page.url != url, seconds):
            page.stop_loading()
            hint = "navigate to the address instead"
            raise Unavailable("the browser did not go back or forward", code="timeout", hint=hint)
        if page.loading.commits > commits:
            return await _wait_for_commit(page, commits, seconds)
        return await build_navigation_result(page)


async def wait_until_loaded(page: BrowserPage, loader: str, seconds: float) -> str:
    """Wait for a document and return how far it got: `load`, `DOMContentLoaded` or `commit`. Raises Unavailable."""
    load_grace_s = 5.0  # between DOMContentLoaded and `load`
    load = page.loading.get_load(loader)
    milestones = load.milestones

    def has_reached(name: str) -> bool:
        is_replaced = COMMITTED_MILESTONE in milestones and page.main.loader != loader
        return name in milestones or page.lost is not None or bool(load.error) or is_replaced

    deadline = time.monotonic() + max(seconds, 0.1)
    if not await page.loading.wait_until(lambda: has_reached("DOMContentLoaded"), seconds):
        page.stop_loading()
        return "commit"
    if page.lost is not None:
        raise page.lost
    remaining = min(load_grace_s, max(deadline - time.monotonic(), 0.1))
    is_loaded = await page.loading.wait_until(lambda: has_reached("load"), remaining)
    return "load" if is_loaded else "DOMContentLoaded"


async def build_navigation_result(page: BrowserPage, **facts: Any) -> NavigationResult:
    """Build the result from the page's present address and title."""
    title = ""
    try:
        timeout_s = 1.0 if facts.get("ready") == "commit" else 5.0
        script = "() => document.title.slice(0, 1000)"
        title = await page.evaluate_in(ISOLATED_WORLD, script, timeout=timeout_s)
    except ContextGone:
        pass  # the page is navigating by itself
    except OutriderError:
        if page.lost is not None:
            raise
    return NavigationResult(page.url, str(title or ""), **facts)


async def _wait_for_commit(page: BrowserPage, commits: int, seconds: float) -> NavigationResult:
    started = time.monotonic()
    if not await page.loading.wait_until(lambda: page.loading.commits > commits, seconds):
        page.stop_loading()
        raise Unavailable("the page did not load", code="timeout", hint="navigate to the address instead")
    loader = page.main.loader
    ready = await wait_until_loaded(page, loader, seconds - (time.monotonic() - started))
    return await build_navigation_result(page, status=page.loading.get_load(loader).status, ready=ready)


def build_network_error(url: str, error: str, explainer: FailureExplainer | None) -> OutriderError:
    """Build the error for one of Chromium's network errors, with the next step."""
    name = error.removeprefix("net::")
    host = urlsplit(url).hostname or url
    if (
        name in ("ERR_TUNNEL_CONNECTION_FAILED", "ERR_BLOCKED_BY_CLIENT")
        and explainer
        and explainer.explain_failure(url)
    ):
        return _build_unreached_error(url, explainer)
    # This concerns the proxy: a site that asks for a password shows its page instead.
    if name == "ERR_INVALID_AUTH_CREDENTIALS":
        message = f"{host}: the browser lost the egress proxy's credential"
        return Unavailable(message, code="proxy_auth", hint="try again")
    if name.startswith(("ERR_CERT", "ERR_SSL")):
        # Suggest plain HTTP only if TLS itself fails: with a bad certificate it would be less safe.
        http_url = url.replace("https:", "http:", 1)
        hint = (
            f"check the address; if the site has no TLS, write {http_url}"[:300]
            if "SSL" in name
            else "check the address"
        )
        return Unavailable(f"no secure connection to {host} ({name})", code="tls", hint=hint)
    if name == "ERR_ABORTED":
        return Unavailable(
            f"{url} did not return a page ({name})", code="aborted", hint="it may be a download or a 204"
        )
    code, explanation = NET_ERROR_REASONS.get(name, ("network", f"the browser reports {name}"))
    return Unavailable(f"{host}: {explanation}", code=code, hint="check the address, or try later")


def _build_unreached_error(url: str, explainer: FailureExplainer | None) -> OutriderError:
    """Build the error for an address that the egress proxy refused or did not reach.

    `url` is the last address, which a redirect may have named.
    """
    host = urlsplit(url).hostname or ""
    cause = explainer.explain_failure(url) if explainer else None
    if cause is None:
        return Unavailable(f"{host} cannot be reached", code="connect", hint="check the address, or try later")
    return type(cause)(cause.message, code=cause.code, hint=cause.hint)


async def wait_for_navigation(page: BrowserPage, commits: int, seconds: float) -> bool:
    """Wait for a navigation of the main frame, if one is in progress; return whether there was one."""
    if page.loading.navigating is None and page.loading.commits == commits:
        return False
    await page.loading.wait_until(lambda: page.loading.commits > commits or page.loading.navigating is None, seconds)
    if page.loading.commits > commits:
        await wait_until_loaded(page, page.main.loader, seconds)
        return True
    await asyncio.sleep(0)
    return False
