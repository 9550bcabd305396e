"""A session: one isolated browser window of one caller, with its tabs, its logs and its way back after a crash."""

import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from outrider.browser.belongings import Belongings
from outrider.browser.cdp import BrowserGone, PageGone, ProtocolError
from outrider.browser.console import Console
from outrider.browser.context import Context, introduce
from outrider.browser.control import Control
from outrider.browser.dialogs import Dialogs
from outrider.browser.downloads import Downloads
from outrider.browser.emulate import Look, fit_window
from outrider.browser.gate import Gate, Turns
from outrider.browser.grip import forget
from outrider.browser.navigate import BLANK, Arrival, navigate, reload, step
from outrider.browser.network import Network
from outrider.browser.options import Options
from outrider.browser.page import Clip, Page
from outrider.browser.parking import Parked, kept, woken
from outrider.browser.pulse import REOPEN, Pulse, browser_gone
from outrider.browser.screencast import Screencast
from outrider.browser.settings import BrowserSettings
from outrider.browser.tabs import Tabs
from outrider.core.egress import Guard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError, Unavailable

Status = Literal["active", "parked", "crashed", "closed"]
HANDED_BACK = "a person had control of this session meanwhile: the page may be different from what you saw before"


class Session:
    """One session. Made by `Browsers.open`.

    Attributes:
        id: Its name, a UUID.
        owner: The conversation that it belongs to.
        tabs: Its pages.
        console: What its pages have said.
        network: What they have requested.
        dialogs: What they have asked.
        downloads: What they have handed out.
        notes: What happened without being asked for, newest last; whoever reports them clears them.
        clipboard: Keeps what it copies apart from other sessions.
        control: Who acts in it: its agent, or a person.
        screencast: Shows it to people.
    """

    def __init__(self, owner: str, options: Options, look: Look, settings: BrowserSettings, guard: Guard) -> None:
        self.id = str(uuid.uuid4())
        self.owner = owner
        self.options = options
        self.look = look
        self.created_at = self.used_at = time.time()
        self.tabs = Tabs(settings.max_tabs)
        self.clipboard: Clip | None = None
        self.tabs.on_crash = self._crashed
        self.console = Console()
        self.network = Network(lambda url: self._context.failure(url) if self._context else None)
        self.dialogs = Dialogs(options.dialogs or settings.dialogs)
        self.notes: list[str] = []
        self.lost: OutriderError | None = None
        self.closed = False
        self._settings, self._guard = settings, guard
        self._context: Context | None = None
        self._parked: Parked | None = None
        self._pulse = Pulse(self.dialogs, self._note)
        self._belongings = Belongings()
        self._title = options.title
        self._turns = Turns(Gate(settings.paused_seconds))
        self.control = Control(self._turns.gate, lambda: self.tabs.lively, self._handed_back)
        self.screencast = Screencast(self.tabs, lambda: not self.look.window)
        self.dialogs.person = lambda: self.control.holder is not None
        self._forget: Callable[[], None] = lambda: None
        self.downloads = Downloads(Path(), options.download_folder or Path.cwd() / "downloads", 0)

    async def start(self, context: Context, page: Page, staging: Path, state: dict[str, Any] | None = None) -> None:
        """Moves into a context, after the first start or after a crash."""
        await self.leave()
        self._context, self.lost = context, None
        context.belongs_to(self)
        if state:
            await self._belongings.put(context, state)
        self.downloads.stop()
        self.downloads = Downloads(staging / self.id, self.downloads.folder, self._settings.download_bytes)
        await self.downloads.start(context.browser.connection, context.id, self._is_mine)
        self._forget = context.browser.connection.on_lost(self._browser_lost)
        await self.prepare(page)
        if self.look.window and context.id is not None:
            await fit_window(page.channel, self.look.size)
        self.tabs.add(page, front=True)

    @property
    def status(self) -> Status:
        """`active`, `parked`, `crashed` or `closed`."""
        if self.closed:
            return "closed"
        if self.lost is not None or self._pulse.is_gone(self.tabs.current):
            return "crashed"
        return "parked" if self._parked else "active"

    @property
    def url(self) -> str:
        """Where it is, or was."""
        return self._parked.url if self._parked else self.tabs.url

    @property
    def known_title(self) -> str:
        """Its title when it was last asked for."""
        return self._title

    @property
    def memory(self) -> dict[str, Any] | None:
        """What it had stored a moment after the last call; a browser that dies takes the rest with it."""
        return self._belongings.memory

    def left_behind(self, session_id: str, url: str, memory: dict[str, Any] | None) -> None:
        """Becomes a session of a process that has died: with nothing but its name, address and what it had stored."""
        self.id, self._belongings.memory, self._parked = session_id, memory, Parked((url,), 0)
        self.lost = browser_gone("the process that it was in has ended", url)

    @property
    def browser_gone(self) -> bool:
        """Whether not only its page but its browser is lost."""
        return isinstance(self.lost, BrowserGone)

    @property
    def way(self) -> EgressProxy | None:
        """Its own way out; None while it has none, or in a browser that is not ours."""
        return self._context.proxy if self._context else None

    @property
    def left(self) -> bool:
        """Whether a person has closed its window."""
        here = self.look.window and self._context is not None and self.lost is None
        return here and not len(self.tabs) and not self._parked and not self.in_use

    @property
    def in_use(self) -> bool:
        return self._turns.taken

    async def title(self) -> str:
        """The page's title; the session's own while there is no page to ask."""
        page = self.tabs.current
        if page is None or page.lost or self._parked or self.in_use:
            return self._title
        with suppress(OutriderError):
            self._title = str(await page.evaluate_in("outrider", "() => document.title", timeout=1.0) or self._title)
        return self._title

    @asynccontextmanager
    async def use(self, *, gated: bool = True) -> AsyncGenerator[Page]:
        """The page in front, awake, for one call at a time.

        Args:
            gated: Waits while a person has paused the session; False for those who only look, and for the person.

        Raises Unavailable (code `page_crashed`, `page_hangs`, `browser_gone`) naming the address, until `reopen`
        or `goto`; `paused` when a person needs very long.
        """
        async with self._turns.take(gated=gated):
            self._begin()
            try:
                yield await self._pulse.lively(await self._page())
            finally:
                self._end()

    async def goto(self, url: str, *, gated: bool = True) -> Arrival:
        """Goes to an address in the current tab; one that has crashed or hangs is replaced first. See `navigate`."""
        async with self._turns.take(gated=gated):
            self._begin()
            if self.lost is not None and not self.browser_gone:
                await self._replace_page()
            elif self.tabs.current and (self.dialogs.storm or await self._pulse.hangs(self.tabs.current)):
                self.notes.append("the page did not answer any more and was replaced by a new one, without its history")
                await self._replace_page()
            if self._parked:
                self._parked = self._parked.empty()
            try:
                return await self._navigate(await self._page(), url)
            finally:
                self._end()

    async def back(self, *, gated: bool = True) -> Arrival:
        """One step back; `moved` is False at the beginning."""
        async with self.use(gated=gated) as page:
            return await step(page, -1, seconds=self._settings.navigation_seconds)

    async def forward(self, *, gated: bool = True) -> Arrival:
        """One step forward; `moved` is False at the end."""
        async with self.use(gated=gated) as page:
            return await step(page, 1, seconds=self._settings.navigation_seconds)

    async def reload(self, *, ignore_cache: bool = False, gated: bool = True) -> Arrival:
        """Loads the page again."""
        async with self.use(gated=gated) as page:
            return await reload(page, ignore_cache=ignore_cache, seconds=self._settings.navigation_seconds)

    async def new_tab(self, url: str = BLANK) -> Arrival:
        """Opens a tab, puts it in front and goes there. Raises Unavailable when there are too many."""
        async with self._turns.take():
            await self._page()
            if self.tabs.full:
                raise Unavailable("the session has too many tabs", code="too_many_tabs", hint="close one first")
            await self._new_tab()
        return await self.goto(url)

    async def switch(self, number: int, *, gated: bool = True) -> Page:
        """Puts the tab of that number in front. Raises NotFound."""
        async with self._turns.take(gated=gated):
            await self._page()
            self.tabs.current = page = self.tabs.at(number)
            await page.send("Page.bringToFront")
            return page

    async def close_tab(self, number: int) -> None:
        """Closes a tab; the session keeps at least an empty one. Raises NotFound."""
        async with self._turns.take():
            page = self.tabs.at(number)
            if await self._pulse.hangs(page):
                page.channel.tell("Page.crash")  # one that hangs would not let itself be closed
            await self._context_now().browser.close_page(page)

    async def reopen(self) -> Arrival:
        """Goes back to where it was with a new page, after a crash or when the page hangs."""
        async with self._turns.take():
            url = self.url
            await self._replace_page()
            return await self._navigate(await self._page(), url)

    async def state(self) -> dict[str, Any]:
        """Its cookies and local storage, for `States.save`."""
        async with self._turns.take():
            return await self._belongings.taken(self._context_now())

    async def glimpse(self) -> dict[str, Any]:
        """The same as far as its open pages show it, without opening one for it or waiting for a call to end."""
        return await self._belongings.glimpse(self._context_now(), self.tabs)

    async def park(self) -> bool:
        """Puts the pages away and keeps what they stored; False when something would be lost by it."""
        if self.in_use or self.status != "active" or self.control.paused or self.dialogs.open:
            return False
        async with self._turns.take(gated=False):
            self._parked = await kept(self.tabs)
            for page in self.tabs.clear() if self._parked else ():
                await self._context_now().browser.close_page(page)
            return self._parked is not None

    async def wake(self) -> None:
        """Opens the pages again that were put away, also while it is paused: a person wants to see them."""
        async with self._turns.take(gated=False):
            await self._page()

    async def aclose(self) -> None:
        """Closes it, and forgets all that it stored."""
        self.end()
        self.tabs.clear()
        await self.leave()

    def end(self) -> None:
        """Whoever waits for it or watches it hears that it is closed."""
        self.closed = True
        self.control.close()
        self.screencast.close()

    async def leave(self) -> None:
        """Gives its context up, with all that is stored there."""
        self.downloads.stop()
        self._forget()
        context, self._context = self._context, None
        if context is None:
            return
        with suppress(OutriderError):
            await context.aclose()

    def introduce_as(self, user_agent: str, version: str) -> None:
        """How its pages name their browser."""
        self.look = replace(self.look, user_agent=user_agent, version=version)

    async def prepare(self, page: Page) -> None:
        """Sets up a page before its first document runs."""
        if self.tabs.full:
            return
        page.clipboard, page.patience = self.clipboard, self._settings.arrival_seconds
        page.frames.watch(self._belongings.visited)
        for dress in (self.console.dress, self.network.dress, self.dialogs.dress):
            await page.wear(dress)
        await page.wear(lambda channel: self.look.dress(channel, whole=channel is page.channel))
        page.on_lost(lambda lost: self.dialogs.forget(lost.channel))

    def opened(self, page: Page) -> None:
        """A pop-up has opened: it becomes a tab, behind the current one."""
        self.tabs.count()
        if self.tabs.full:
            self.notes.append("a pop-up was closed: the session has too many tabs")
            browser = self._context_now().browser
            browser.connection.spawn(browser.close_page(page), "closing a pop-up")
            return
        self.tabs.add(page, front=False)

    def has(self, target_id: str | None) -> bool:
        """Whether one of its tabs is that target."""
        return any(page.target_id == target_id for page in self.tabs)

    async def _navigate(self, page: Page, url: str) -> Arrival:
        """Goes there; once more if the browser's network process has died and forgotten its credential."""
        seconds = self._settings.navigation_seconds
        try:
            return await navigate(page, url, guard=self._guard, why=self._context, seconds=seconds)
        except Unavailable as error:
            if error.code != "proxy_auth" or self.way is None:
                raise
        await introduce(page, self.way)
        return await navigate(page, url, guard=self._guard, why=self._context, seconds=seconds)

    async def _page(self) -> Page:
        """The page in front. Raises what the session was lost by."""
        if self.closed:
            raise PageGone("the session has been closed", code="session_not_found", hint="create a new session")
        if self.lost is not None:
            raise self.lost
        if self._parked:
            await self._wake()
        return self.tabs.current or await self._new_tab()

    def _note(self, text: str) -> None:
        self.notes.append(text)

    def _begin(self) -> None:
        self.used_at = time.time()
        self.downloads.renew()

    def _end(self) -> None:
        self.used_at = time.time()
        if self._context is not None and self._context.id is not None and not self.lost:
            self._belongings.remember_soon(self._context, self.tabs)

    async def _wake(self) -> None:
        """Opens the pages again that were put away."""
        parked, self._parked = self._parked, None
        assert parked is not None
        if await woken(parked, self._new_tab, self._navigate):
            self.notes.append("the session was asleep: its pages were loaded again")

    async def _new_tab(self, front: bool = True) -> Page:
        page = await self._context_now().new_page()
        await self.prepare(page)
        self.tabs.add(page, front=front)
        return page

    async def _replace_page(self) -> None:
        """A new page in the place of one that crashed or hangs."""
        if self.lost is not None and self.browser_gone:
            raise self.lost
        old = self.tabs.current
        if old is not None:
            self.tabs.drop(old)
            if not old.crashed:  # one that hangs would not let itself be closed, and may keep the browser from all else
                old.channel.tell("Page.crash")
        await self._new_tab()
        self.lost = None
        if old is not None:
            with suppress(OutriderError, ProtocolError):
                await self._context_now().browser.close_page(old)

    def _handed_back(self) -> None:
        """A person had control: what the agent saw before holds no longer."""
        self.used_at = time.time()
        if HANDED_BACK not in self.notes:
            self.notes.append(HANDED_BACK)
        self.dialogs.person_left()
        for page in self.tabs:
            forget(page)

    def _crashed(self, page: Page) -> None:
        if page is self.tabs.current:
            self.lost = page.lost
        elif page in tuple(self.tabs):
            self.tabs.drop(page)
            self.notes.append("a tab in the background has crashed and was closed")

    def _browser_lost(self, reason: str) -> None:
        if not self.closed:
            self.lost = browser_gone(reason, self.url)

    def _is_mine(self, frame_id: str) -> bool:
        return any(frame_id == page.target_id or page.frames.get(frame_id) for page in self.tabs)

    def _context_now(self) -> Context:
        if self._context is None:
            raise Unavailable("the session has no browser", code="browser_gone", hint=REOPEN)
        return self._context
