"""One browser that sessions live in: started when first needed, with empty contexts kept warm."""

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
    """A running browser of ours.

    Args:
        running: The process and its connection.
        guard: What its contexts may reach.
        warm: How many empty contexts it keeps ready.

    Attributes:
        user_agent: What it calls itself.
        clipboard: What keeps the sessions' clipboards apart; None with windows, where a person shares it.
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
        """Its protocol connection."""
        return self.browser.connection

    @property
    def staging(self) -> Path:
        """A folder that goes with it, for downloads on their way."""
        return self.running.profile.path / "coming"

    async def start(self, user_agent: str = "") -> None:
        """Makes it ready for contexts."""
        await self.browser.start()
        told = (await self.connection.send("Browser.getVersion"))["userAgent"]
        self.user_agent = user_agent or strip_headless_marker(told)
        self.refill_warm()

    async def acquire_context(self) -> tuple[BrowserContext, BrowserPage]:
        """An empty context with its page: a warm one, or a new one."""
        while self._warm_contexts:
            context, page = self._warm_contexts.popleft()
            if page.lost is None:
                self.refill_warm()
                return context, page
            await context.aclose()
        self.refill_warm()
        return await open_context(self.browser, self._guard)

    def refill_warm(self) -> None:
        """Makes warm contexts in the background until there are enough."""
        while (
            len(self._warm_contexts) + self._contexts_pending < self._warm
            and not self._closing
            and self.connection.lost is None
        ):
            self._contexts_pending += 1
            self.connection.spawn_task(self._add_warm_context(), "keeping a page warm")

    def start_cleanup(self) -> None:
        """Clears up after a browser that ended by itself; `aclose` waits for it."""
        self._closing = True
        if self._cleanup_task is None:
            self._cleanup_task = asyncio.get_running_loop().create_task(self._clean_up())

    async def aclose(self) -> None:
        """Ends the browser."""
        self.start_cleanup()
        assert self._cleanup_task is not None
        await asyncio.shield(self._cleanup_task)

    async def _clean_up(self) -> None:
        await self.running.aclose()
        while self._warm_contexts:
            await self._warm_contexts.popleft()[0].aclose()

    async def _add_warm_context(self) -> None:
        # A moment later, so that whoever has just opened a session goes first.
        await asyncio.sleep(0.3)
        try:
            made = await open_context(self.browser, self._guard)
        except (OutriderError, TimeoutError):
            return
        finally:
            self._contexts_pending -= 1
        if self._closing:
            await made[0].aclose()
        else:
            self._warm_contexts.append(made)


async def start_engine(settings: BrowserSettings, guard: EgressGuard, *, headless: bool) -> BrowserEngine:
    """Starts a browser as the settings want it. Raises NotConfigured or Unavailable."""
    running = await launch_browser(
        settings.executable, headless=headless, sandbox=settings.sandbox, extra=tuple(settings.flags)
    )
    engine = BrowserEngine(running, guard, warm=settings.warm if headless else 0)
    engine.clipboard = Clipboard(engine.browser) if headless else None
    try:
        await engine.start(settings.user_agent)
    except BaseException:
        await engine.aclose()
        raise
    return engine
