"""One browser that sessions live in: started when first needed, with empty contexts kept warm."""

import asyncio
from collections import deque
from pathlib import Path

from outrider.browser.browser import Browser
from outrider.browser.cdp import Connection
from outrider.browser.clipboard import Clipboard
from outrider.browser.context import Context, open_context
from outrider.browser.emulate import without_windows_word
from outrider.browser.launch import Running, launch
from outrider.browser.page import Page
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import Guard
from outrider.core.errors import OutriderError


class Engine:
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

    def __init__(self, running: Running, guard: Guard, *, warm: int) -> None:
        self.browser = Browser(running.connection)
        self.running = running
        self.version = running.version
        self.user_agent = ""
        self.clipboard: Clipboard | None = None
        self._guard = guard
        self._warm = warm
        self._ready: deque[tuple[Context, Page]] = deque()
        self._filling = 0
        self._closing = False
        self._cleaning: asyncio.Task[None] | None = None
        self.connection.on_lost(lambda _: self.forget())

    @property
    def connection(self) -> Connection:
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
        self.user_agent = user_agent or without_windows_word(told)
        self.fill()

    async def take(self) -> tuple[Context, Page]:
        """An empty context with its page: a warm one, or a new one."""
        while self._ready:
            context, page = self._ready.popleft()
            if page.lost is None:
                self.fill()
                return context, page
            await context.aclose()
        self.fill()
        return await open_context(self.browser, self._guard)

    def fill(self) -> None:
        """Makes warm contexts in the background until there are enough."""
        while len(self._ready) + self._filling < self._warm and not self._closing and self.connection.lost is None:
            self._filling += 1
            self.connection.spawn(self._one_more(), "keeping a page warm")

    def forget(self) -> None:
        """Clears up after a browser that ended by itself; `aclose` waits for it."""
        self._closing = True
        if self._cleaning is None:
            self._cleaning = asyncio.get_running_loop().create_task(self._clean())

    async def aclose(self) -> None:
        """Ends the browser."""
        self.forget()
        assert self._cleaning is not None
        await asyncio.shield(self._cleaning)

    async def _clean(self) -> None:
        await self.running.aclose()
        while self._ready:
            await self._ready.popleft()[0].aclose()

    async def _one_more(self) -> None:
        # A moment later, so that whoever has just opened a session goes first.
        await asyncio.sleep(0.3)
        try:
            made = await open_context(self.browser, self._guard)
        except (OutriderError, TimeoutError):
            return
        finally:
            self._filling -= 1
        if self._closing:
            await made[0].aclose()
        else:
            self._ready.append(made)


async def start_engine(settings: BrowserSettings, guard: Guard, *, headless: bool) -> Engine:
    """Starts a browser as the settings want it. Raises NotConfigured or Unavailable."""
    running = await launch(
        settings.executable, headless=headless, sandbox=settings.sandbox, extra=tuple(settings.flags)
    )
    engine = Engine(running, guard, warm=settings.warm if headless else 0)
    engine.clipboard = Clipboard(engine.browser) if headless else None
    try:
        await engine.start(settings.user_agent)
    except BaseException:
        await engine.aclose()
        raise
    return engine
