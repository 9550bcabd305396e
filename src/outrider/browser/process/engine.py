"""Run a browser with a stock of warm contexts for sessions."""

import asyncio
from collections import deque
from pathlib import Path

from outrider.browser.process.browser import Browser
from outrider.browser.process.clipboard import Clipboard
from outrider.browser.process.context import BrowserContext, open_context
from outrider.browser.process.emulate import strip_headless_marker
from outrider.browser.process.launch import RunningBrowser, launch_browser
from outrider.browser.protocol.cdp import CdpConnection
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard
from outrider.core.errors import OutriderError


class BrowserEngine:
    """A browser that this process launched.

    Args:
        running: The browser's process and connection.
        guard: Decides what its contexts may reach.
        warm: The number of empty contexts to keep ready.

    Attributes:
        user_agent: Its user agent string.
        clipboard: Separates the sessions' clipboards; None with windows, because a person then uses it too.
        guarded: Whether all its traffic passes the egress guard.
    """

    guarded = True

    def __init__(self, running: RunningBrowser, guard: EgressGuard, *, warm: int) -> None:
        self.browser = Browser(running.connection)
        self.running = running
        self.version = running.version
        self.user_agent = ""
        self.clipboard: Clipboard | None = None
        self._guard = guard
        self._warm = warm
        self._warm_contexts: deque[tuple[BrowserContext, BrowserPage]] = deque()
        self._contexts_pending = 0
        self._closing = False
        self._cleanup_task: asyncio.Task[None] | None = None
        self.connection.on_lost(lambda _: self.start_cleanup())

    @property
    def connection(self) -> CdpConnection:
        """The CDP connection."""
        return self.browser.connection

    @property
    def staging(self) -> Path:
        """A folder inside its profile for unfinished downloads."""
        return self.running.profile.path / "coming"

    async def start(self) -> None:
        """Start following pages and fill the stock of warm contexts."""
        await self.browser.start()
        own_user_agent = (await self.connection.send("Browser.getVersion"))["userAgent"]
        self.user_agent = strip_headless_marker(own_user_agent)
        self.refill_warm()

    async def acquire_context(self) -> tuple[BrowserContext, BrowserPage]:
        """Return an empty context with its page: a warm one if there is one, or a new one."""
        while self._warm_contexts:
            context, page = self._warm_contexts.popleft()
            if page.lost is None:
                self.refill_warm()
                return context, page
            await context.aclose()
        self.refill_warm()
        return await open_context(self.browser, self._guard)

    def refill_warm(self) -> None:
        """Open warm contexts in the background up to the wanted number."""
        if self._closing or self.connection.lost is not None:
            return
        while len(self._warm_contexts) + self._contexts_pending < self._warm:
            self._contexts_pending += 1
            self.connection.spawn_task(self._add_warm_context(), "keeping a page warm")

    def start_cleanup(self) -> None:
        """End the browser and its contexts in the background; `aclose` waits for it."""
        self._closing = True
        if self._cleanup_task is None:
            self._cleanup_task = asyncio.get_running_loop().create_task(self._end_browser())

    async def aclose(self) -> None:
        """End the browser."""
        self.start_cleanup()
        assert self._cleanup_task is not None
        await asyncio.shield(self._cleanup_task)

    async def _end_browser(self) -> None:
        await self.running.aclose()
        while self._warm_contexts:
            await self._warm_contexts.popleft()[0].aclose()

    async def _add_warm_context(self) -> None:
        # Delayed, so that a session being opened now goes first.
        await asyncio.sleep(0.3)
        try:
            context, page = await open_context(self.browser, self._guard)
        except (OutriderError, TimeoutError):
            return
        finally:
            self._contexts_pending -= 1
        if self._closing:
            await context.aclose()
        else:
            self._warm_contexts.append((context, page))


async def start_engine(settings: BrowserSettings, guard: EgressGuard, *, headless: bool, warm: int) -> BrowserEngine:
    """Launch a browser according to the settings. Raises NotConfigured or Unavailable."""
    web_mcp = ("--enable-blink-features=WebMCP",) if settings.web_mcp else ()
    running = await launch_browser(
        settings.executable, headless=headless, sandbox=settings.sandbox, extra=(*web_mcp, *settings.flags)
    )
    engine = BrowserEngine(running, guard, warm=warm if headless else 0)
    engine.clipboard = Clipboard(engine.browser) if headless else None
    try:
        await engine.start()
    except BaseException:
        await engine.aclose()
        raise
    return engine
