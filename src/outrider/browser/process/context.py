"""Open browser contexts with their own cookies, storage, cache and egress proxy."""

from dataclasses import dataclass, field
from typing import Any

from outrider.browser.process.browser import TARGET_TIMEOUT_S, Browser, PageOwner
from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.egress import EgressGuard
from outrider.core.egress.proxy import PROXY_USER, EgressProxy
from outrider.core.errors import OutriderError, Unavailable


@dataclass
class BrowserContext:
    """One browser context.

    Attributes:
        id: The CDP context id; None for the browser's default context.
        pages: The pages that were opened here, in the default context.
        owner: The owner of its pages.
        proxy: Its egress proxy; None in an attached browser.
    """

    browser: Browser
    id: str | None
    proxy: EgressProxy | None
    pages: list[BrowserPage] = field(default_factory=list)
    owner: PageOwner | None = None

    def set_owner(self, owner: PageOwner) -> None:
        """Set the owner, which takes over pop-ups of this context."""
        self.owner = owner
        if self.id is None:
            self.browser.default_context_owners.append(owner)
        else:
            self.browser.owners[self.id] = owner

    def explain_failure(self, url: str) -> OutriderError | None:
        """Return the proxy's error for an address as the browser writes it; None if there was none."""
        return self.proxy.find_failure(url) if self.proxy else None

    async def new_page(self) -> BrowserPage:
        """Open an empty page."""
        page = await self.browser.new_page(self.id)
        if self.id is None:
            self.pages.append(page)
        return page

    async def aclose(self) -> None:
        """Close its pages, delete its data and always close its proxy."""
        try:
            if self.id is None:  # the user's own pages in the default context stay
                owners = self.browser.default_context_owners
                owners[:] = [owner for owner in owners if owner is not self.owner]
                for page in self.pages:
                    if page.lost is None:
                        await self.browser.close_page(page)
            else:
                self.browser.owners.pop(self.id, None)
                if self.browser.connection.lost is None:
                    params = {"browserContextId": self.id}
                    await self.browser.connection.send("Target.disposeBrowserContext", params, timeout=TARGET_TIMEOUT_S)
        finally:
            if self.proxy is not None:
                await self.proxy.close()


async def open_context(browser: Browser, guard: EgressGuard | None) -> tuple[BrowserContext, BrowserPage]:
    """Open a new context with an empty page in it.

    Args:
        browser: The browser.
        guard: Decides what may be reached; None leaves the browser on its own network.
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
    """Give a context the proxy's credential, which the browser remembers for the whole context.

    The browser asks for it at the first request. Answering needs interception, which would slow down every later
    request, so a single request is made for this purpose, and interception ends with it.
    """
    # The guard always refuses this address, so the request does not leave.
    rejected_url = "http://255.255.255.255/"
    unsubscribes = [
        page.channel.on("Fetch.authRequired", lambda event: _answer_auth_challenge(page.channel, proxy, event)),
        page.channel.on(
            "Fetch.requestPaused",
            lambda event: page.channel.send_and_forget("Fetch.continueRequest", {"requestId": event["requestId"]}),
        ),
    ]
    try:
        await page.send("Fetch.enable", {"handleAuthRequests": True})
        script = "(url) => fetch(url, {mode: 'no-cors'}).then(() => true, () => false)"
        if not await page.evaluate_in(ISOLATED_WORLD, script, rejected_url, timeout=TARGET_TIMEOUT_S):
            raise Unavailable("the browser does not accept the egress proxy", code="browser_start")
    finally:
        for unsubscribe in unsubscribes:
            unsubscribe()
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
