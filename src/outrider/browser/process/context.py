"""A browser context: cookies, storage and cache of its own, and its own way out through the egress guard."""

from dataclasses import dataclass, field
from typing import Any

from outrider.browser.process.browser import TARGET_TIMEOUT_S, Browser, PageOwner
from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.page import BrowserPage
from outrider.core.egress import EgressGuard
from outrider.core.egress.proxy import PROXY_USER, EgressProxy
from outrider.core.errors import OutriderError, Unavailable


@dataclass
class BrowserContext:
    """One context.

    Attributes:
        id: The browser's name of it; None for a browser's own context.
        pages: Those that it has made in a browser's own context.
        owner: Whose it is.
        proxy: Its way out; None where the guard does not hold (somebody else's browser).
    """

    browser: Browser
    id: str | None
    proxy: EgressProxy | None
    pages: list[BrowserPage] = field(default_factory=list)
    owner: PageOwner | None = None

    def set_owner(self, owner: PageOwner) -> None:
        """Whoever takes the pop-ups that open here."""
        self.owner = owner
        if self.id is None:
            self.browser.default_context_owners.append(owner)
        else:
            self.browser.owners[self.id] = owner

    def explain_failure(self, url: str) -> OutriderError | None:
        """Why the proxy knew no way to an address as the browser writes it, if it knew none."""
        return self.proxy.find_failure(url) if self.proxy else None

    async def new_page(self) -> BrowserPage:
        """An empty page."""
        page = await self.browser.new_page(self.id)
        if self.id is None:
            self.pages.append(page)
        return page

    async def aclose(self) -> None:
        """Closes its pages and forgets all that it stored; its way out is shut whatever happens."""
        try:
            await self._dispose_context()
        finally:
            if self.proxy is not None:
                await self.proxy.close()

    async def _dispose_context(self) -> None:
        if self.id is None:
            await self._close_guests()
            return
        self.browser.owners.pop(self.id, None)
        if self.browser.connection.lost is None:
            params = {"browserContextId": self.id}
            await self.browser.connection.send("Target.disposeBrowserContext", params, timeout=TARGET_TIMEOUT_S)

    async def _close_guests(self) -> None:
        """In somebody else's context only our own pages are closed."""
        self.browser.default_context_owners[:] = [
            each for each in self.browser.default_context_owners if each is not self.owner
        ]
        for page in self.pages:
            if page.lost is None:
                await self.browser.close_page(page)


async def open_context(browser: Browser, guard: EgressGuard | None) -> tuple[BrowserContext, BrowserPage]:
    """A new context with an empty page in it.

    Args:
        browser: The browser.
        guard: What may be reached; None leaves the browser its own way out.
    """
    proxy = EgressProxy(guard) if guard else None
    context = BrowserContext(browser, None, proxy)
    try:
        if proxy:
            await proxy.start()
        params = {"proxyServer": proxy.url, "proxyBypassList": "<-loopback>"} if proxy else {}
        answer = await browser.connection.send("Target.createBrowserContext", params, timeout=TARGET_TIMEOUT_S)
        context.id = answer["browserContextId"]
        page = await context.new_page()
        if proxy:
            await authenticate_proxy(page, proxy)
    except BaseException:
        await context.aclose()
        raise
    return context, page


async def authenticate_proxy(page: BrowserPage, proxy: EgressProxy) -> None:
    """Teaches the context the proxy's credential; the browser remembers it for everything in the context.

    The browser asks for it at the first request. Answering needs interception, which would hold up
    every later request too; so one request is made for the purpose, and interception ends with it.
    """
    # Always refused by the guard, so the request that teaches the browser its credential goes nowhere.
    rejected_url = "http://255.255.255.255/"
    forget = [
        page.channel.on("Fetch.authRequired", lambda event: _answer_auth_challenge(page.channel, proxy, event)),
        page.channel.on("Fetch.requestPaused", lambda event: _let_go(page.channel, event)),
    ]
    try:
        await page.send("Fetch.enable", {"handleAuthRequests": True})
        script = "(url) => fetch(url, {mode: 'no-cors'}).then(() => true, () => false)"
        if not await page.evaluate_in("outrider", script, rejected_url, timeout=TARGET_TIMEOUT_S):
            raise Unavailable("the browser does not accept its way out", code="browser_start")
    finally:
        for each in forget:
            each()
        page.channel.send_and_forget("Fetch.disable")
        page.channel.send_and_forget("Log.clear")


def _answer_auth_challenge(channel: TargetChannel, proxy: EgressProxy, event: dict[str, Any]) -> None:
    challenge = event["authChallenge"]
    ours = challenge.get("source") == "Proxy" and challenge.get("origin") == proxy.url
    answer = {"response": "CancelAuth"}
    if ours:
        answer = {"response": "ProvideCredentials", "username": PROXY_USER, "password": proxy.token}
    channel.send_and_forget(
        "Fetch.continueWithAuth", {"requestId": event["requestId"], "authChallengeResponse": answer}
    )


def _let_go(channel: TargetChannel, event: dict[str, Any]) -> None:
    channel.send_and_forget("Fetch.continueRequest", {"requestId": event["requestId"]})
