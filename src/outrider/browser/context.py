"""A browser context: cookies, storage and cache of its own, and its own way out through the egress guard."""

from dataclasses import dataclass, field
from typing import Any

from outrider.browser.browser import OPEN_SECONDS, Browser, Host
from outrider.browser.cdp import Channel
from outrider.browser.page import Page
from outrider.core.egress import Guard
from outrider.core.egress.proxy import USER, EgressProxy
from outrider.core.errors import OutriderError, Unavailable

# Always refused by the guard, so the request that teaches the browser its credential goes nowhere.
NOWHERE = "http://255.255.255.255/"


@dataclass
class Context:
    """One context.

    Attributes:
        id: The browser's name of it; None for a browser's own context.
        pages: Those that it has made in a browser's own context.
        host: Whose it is.
        proxy: Its way out; None where the guard does not hold (somebody else's browser).
    """

    browser: Browser
    id: str | None
    proxy: EgressProxy | None
    pages: list[Page] = field(default_factory=list)
    host: Host | None = None

    def belongs_to(self, host: Host) -> None:
        """Whoever takes the pop-ups that open here."""
        self.host = host
        if self.id is None:
            self.browser.guests.append(host)
        else:
            self.browser.hosts[self.id] = host

    def failure(self, url: str) -> OutriderError | None:
        """Why the proxy knew no way to an address as the browser writes it, if it knew none."""
        return self.proxy.failure(url) if self.proxy else None

    async def new_page(self) -> Page:
        """An empty page."""
        page = await self.browser.new_page(self.id)
        if self.id is None:
            self.pages.append(page)
        return page

    async def aclose(self) -> None:
        """Closes its pages and forgets all that it stored; its way out is shut whatever happens."""
        try:
            await self._dispose()
        finally:
            if self.proxy is not None:
                await self.proxy.close()

    async def _dispose(self) -> None:
        if self.id is None:
            await self._close_guests()
            return
        self.browser.hosts.pop(self.id, None)
        if self.browser.connection.lost is None:
            params = {"browserContextId": self.id}
            await self.browser.connection.send("Target.disposeBrowserContext", params, timeout=OPEN_SECONDS)

    async def _close_guests(self) -> None:
        """In somebody else's context only our own pages are closed."""
        self.browser.guests[:] = [each for each in self.browser.guests if each is not self.host]
        for page in self.pages:
            if page.lost is None:
                await self.browser.close_page(page)


async def open_context(browser: Browser, guard: Guard | None) -> tuple[Context, Page]:
    """A new context with an empty page in it.

    Args:
        browser: The browser.
        guard: What may be reached; None leaves the browser its own way out.
    """
    proxy = EgressProxy(guard) if guard else None
    context = Context(browser, None, proxy)
    try:
        if proxy:
            await proxy.start()
        params = {"proxyServer": proxy.url, "proxyBypassList": "<-loopback>"} if proxy else {}
        answer = await browser.connection.send("Target.createBrowserContext", params, timeout=OPEN_SECONDS)
        context.id = answer["browserContextId"]
        page = await context.new_page()
        if proxy:
            await introduce(page, proxy)
    except BaseException:
        await context.aclose()
        raise
    return context, page


async def introduce(page: Page, proxy: EgressProxy) -> None:
    """Teaches the context the proxy's credential; the browser remembers it for everything in the context.

    The browser asks for it at the first request. Answering needs interception, which would hold up
    every later request too; so one request is made for the purpose, and interception ends with it.
    """
    forget = [
        page.channel.on("Fetch.authRequired", lambda event: _answer(page.channel, proxy, event)),
        page.channel.on("Fetch.requestPaused", lambda event: _let_go(page.channel, event)),
    ]
    try:
        await page.send("Fetch.enable", {"handleAuthRequests": True})
        script = "(url) => fetch(url, {mode: 'no-cors'}).then(() => true, () => false)"
        if not await page.evaluate_in("outrider", script, NOWHERE, timeout=OPEN_SECONDS):
            raise Unavailable("the browser does not accept its way out", code="browser_start")
    finally:
        for each in forget:
            each()
        page.channel.tell("Fetch.disable")
        page.channel.tell("Log.clear")


def _answer(channel: Channel, proxy: EgressProxy, event: dict[str, Any]) -> None:
    challenge = event["authChallenge"]
    ours = challenge.get("source") == "Proxy" and challenge.get("origin") == proxy.url
    answer = {"response": "CancelAuth"}
    if ours:
        answer = {"response": "ProvideCredentials", "username": USER, "password": proxy.token}
    channel.tell("Fetch.continueWithAuth", {"requestId": event["requestId"], "authChallengeResponse": answer})


def _let_go(channel: Channel, event: dict[str, Any]) -> None:
    channel.tell("Fetch.continueRequest", {"requestId": event["requestId"]})
