"""A session: one isolated browser window of one caller, with its tabs, its logs and its way back after a crash."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from outrider.browser.cdp import BrowserGone, Channel, PageGone, ProtocolError
from outrider.browser.console import Console
from outrider.browser.context import Context, introduce
from outrider.browser.dialogs import Dialogs
from outrider.browser.downloads import Downloads
from outrider.browser.emulate import Look, fit_window
from outrider.browser.navigate import BLANK, Arrival, navigate, reload, step
from outrider.browser.network import Network
from outrider.browser.options import Options
from outrider.browser.page import Clip, Page
from outrider.browser.settings import BrowserSettings
from outrider.browser.storage import glimpse_state, put_state, take_state
from outrider.browser.tabs import Tabs
from outrider.core.egress import Guard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError, Unavailable

Status = Literal["active", "parked", "crashed", "closed"]
PATIENCE = 5.0  # seconds that a page may be busy with itself before it counts as one that hangs
REMEMBER_AFTER = 0.3  # seconds after a call
KNOWN_SECONDS = 1.0  # the same for one that has hung before
REOPEN = "reopen the session; it goes back to that address"
KEEP_TAB = """() => {
  const odd = ['hidden', 'submit', 'button', 'reset', 'image', 'range', 'color', 'file'];
  const typed = each => ['checkbox', 'radio'].includes(each.type) ? each.checked !== each.defaultChecked
    : !odd.includes(each.type) && each.value !== each.defaultValue;
  return {storage: Object.entries(sessionStorage).slice(0, 500), x: scrollX, y: scrollY,
    typed: [...document.querySelectorAll('input, textarea')].some(typed)};
}"""


@dataclass(frozen=True)
class Parked:
    """What a session that was put away needs to come back: addresses, and what the tab itself had stored."""

    urls: tuple[str, ...]
    front: int
    storage: tuple[tuple[str, str], ...] = ()
    scroll: tuple[float, float] = (0, 0)


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
        memory: What it had stored a moment after the last call; a browser that dies takes the rest with it.
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
        self.network = Network(self._reason)
        self.dialogs = Dialogs(options.dialogs or settings.dialogs)
        self.notes: list[str] = []
        self.lost: OutriderError | None = None
        self.closed = False
        self._settings = settings
        self._guard = guard
        self._context: Context | None = None
        self._parked: Parked | None = None
        self._hanging: Page | None = None
        self.memory: dict[str, Any] | None = None
        self._remembering = False
        self._origins: dict[str, None] = {}
        self._stored: dict[str, Any] = {}  # origin to local storage, as last seen by `glimpse`
        self._title = options.title
        self._busy = asyncio.Lock()
        self._forget: Callable[[], None] = lambda: None
        self.downloads = Downloads(Path(), options.download_folder or Path.cwd() / "downloads", 0)

    async def start(self, context: Context, page: Page, staging: Path, state: dict[str, Any] | None = None) -> None:
        """Moves into a context, after the first start or after a crash."""
        await self.leave()
        self._context, self.lost = context, None
        if context.id is None:
            context.browser.guests.append(self)
        else:
            context.browser.hosts[context.id] = self
        if state:
            self.memory = state
            await put_state(context, state)
            self._origins |= {each["origin"]: None for each in state.get("origins", [])}
            self._stored |= {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])}
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
        if self.lost is not None or (self._hanging and self._hanging is self.tabs.current):
            return "crashed"
        return "parked" if self._parked else "active"

    @property
    def url(self) -> str:
        """Where it is, or was."""
        if self._parked:
            return self._parked.urls[self._parked.front]
        current = self.tabs.current
        return current.frames.main.url if current and current.frames.main else BLANK

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
        return self._busy.locked()

    async def title(self) -> str:
        """The page's title; the session's own while there is no page to ask."""
        page = self.tabs.current
        if page is None or page.lost or self._parked or self.in_use:
            return self._title
        with suppress(OutriderError):
            self._title = str(await page.evaluate_in("outrider", "() => document.title", timeout=1.0) or self._title)
        return self._title

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Page]:
        """The page in front, awake, for one call at a time.

        Raises Unavailable (code `page_crashed`, `page_hangs`, `browser_gone`) naming the address, until `reopen`
        or `goto`.
        """
        async with self._busy:
            self._begin()
            try:
                yield await self._lively(await self._page())
            finally:
                self._end()

    async def goto(self, url: str) -> Arrival:
        """Goes to an address in the current tab; one that has crashed or hangs is replaced first. See `navigate`."""
        async with self._busy:
            self._begin()
            if self.lost is not None and not self.browser_gone:
                await self._replace_page()
            elif self.tabs.current and (self.dialogs.storm or await self._hangs(self.tabs.current)):
                self.notes.append("the page did not answer any more and was replaced by a new one, without its history")
                await self._replace_page()
            if self._parked:
                self._parked = replace(self._parked, urls=(BLANK,), front=0, storage=())
            try:
                return await self._navigate(await self._page(), url)
            finally:
                self._end()

    async def back(self) -> Arrival:
        """One step back; `moved` is False at the beginning."""
        async with self.use() as page:
            return await step(page, -1, seconds=self._settings.navigation_seconds)

    async def forward(self) -> Arrival:
        """One step forward; `moved` is False at the end."""
        async with self.use() as page:
            return await step(page, 1, seconds=self._settings.navigation_seconds)

    async def reload(self, *, ignore_cache: bool = False) -> Arrival:
        """Loads the page again."""
        async with self.use() as page:
            return await reload(page, ignore_cache=ignore_cache, seconds=self._settings.navigation_seconds)

    async def new_tab(self, url: str = BLANK) -> Arrival:
        """Opens a tab, puts it in front and goes there. Raises Unavailable when there are too many."""
        async with self._busy:
            await self._page()
            if self.tabs.full:
                raise Unavailable("the session has too many tabs", code="too_many_tabs", hint="close one first")
            page = await self._context_now().new_page()
            await self.prepare(page)
            self.tabs.add(page, front=True)
        return await self.goto(url)

    async def switch(self, number: int) -> Page:
        """Puts the tab of that number in front. Raises NotFound."""
        async with self._busy:
            await self._page()
            self.tabs.current = self.tabs.at(number)
            await self.tabs.current.send("Page.bringToFront")
            return self.tabs.current

    async def close_tab(self, number: int) -> None:
        """Closes a tab; the session keeps at least an empty one. Raises NotFound."""
        async with self._busy:
            page = self.tabs.at(number)
            if await self._hangs(page):
                page.channel.tell("Page.crash")  # one that hangs would not let itself be closed
            await self._context_now().browser.close_page(page)

    async def reopen(self) -> Arrival:
        """Goes back to where it was with a new page, after a crash or when the page hangs."""
        async with self._busy:
            url = self.url
            await self._replace_page()
            return await self._navigate(await self._page(), url)

    async def state(self) -> dict[str, Any]:
        """Its cookies and local storage, for `States.save`."""
        async with self._busy:
            return await take_state(self._context_now(), self._origins)

    async def glimpse(self) -> dict[str, Any]:
        """The same as far as its open pages show it, without opening one for it or waiting for a call to end."""
        return await glimpse_state(self._context_now(), self.tabs, self._stored)

    async def park(self) -> bool:
        """Puts the pages away and keeps what they stored; False when something would be lost by it."""
        if self.in_use or self._parked or self.lost or self.closed or self.dialogs.open or not self.tabs.current:
            return False
        async with self._busy:
            front = self.tabs.current
            kept = await front.evaluate_in("outrider", KEEP_TAB, timeout=2.0)
            if kept["typed"] or front.frames.main is None or front.main.failed:
                return False
            urls = tuple(page.url for page in self.tabs)
            pairs = tuple((str(name), str(value)) for name, value in kept["storage"])
            self._parked = Parked(urls, self.tabs.number(front) - 1, pairs, (kept["x"], kept["y"]))
            for page in self.tabs.clear():
                await self._context_now().browser.close_page(page)
            return True

    async def aclose(self) -> None:
        """Closes it, and forgets all that it stored."""
        self.closed = True
        self.tabs.clear()
        await self.leave()

    async def leave(self) -> None:
        """Gives its context up, with all that is stored there."""
        self.downloads.stop()
        self._forget()
        context, self._context = self._context, None
        if context is None:
            return
        if self in context.browser.guests:
            context.browser.guests.remove(self)
        with suppress(OutriderError):
            await context.aclose()

    def introduce_as(self, user_agent: str, version: str) -> None:
        """How its pages name their browser."""
        self.look = replace(self.look, user_agent=user_agent, version=version)

    async def prepare(self, page: Page) -> None:
        """Sets up a page before its first document runs."""
        if self.tabs.full:
            return
        page.clipboard = self.clipboard
        page.frames.watch(self._visited)
        for dress in (self.console.dress, self.network.dress, self.dialogs.dress):
            await page.wear(dress)
        await page.wear(lambda channel: self._look_at(page, channel))
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

    def _look_at(self, page: Page, channel: Channel) -> list[asyncio.Future[dict[str, Any]]]:
        return self.look.dress(channel, whole=channel is page.channel)

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
        if self.tabs.current is None:
            page = await self._context_now().new_page()
            await self.prepare(page)
            self.tabs.add(page, front=True)
        assert self.tabs.current is not None
        return self.tabs.current

    def _begin(self) -> None:
        self.used_at = time.time()
        self.downloads.renew()

    def _end(self) -> None:
        self.used_at = time.time()
        context = self._context
        if context is None or context.id is None or self.lost or self._remembering:
            return
        self._remembering = True
        context.browser.connection.spawn(self._remember(), "remembering what a session has stored")

    async def _remember(self) -> None:
        """Looks at what is stored, a moment after a call, in case the browser dies."""
        await asyncio.sleep(REMEMBER_AFTER)
        self._remembering = False
        with suppress(OutriderError):  # it may have been closed meanwhile
            self.memory = await self.glimpse()

    async def _lively(self, page: Page) -> Page:
        """The page, if it still answers. Raises Unavailable within seconds if not."""
        if not await self._hangs(page):
            return page
        message = f"the page does not answer: a script of it seems to run without end; it is at {page.url}"
        raise Unavailable(message, code="page_hangs", hint=REOPEN, details={"url": page.url})

    async def _hangs(self, page: Page) -> bool:
        """Whether a page has stopped to answer; not while a dialog holds it up, which is to be answered first."""
        if self.dialogs.open or page.lost:
            return False
        known = page is self._hanging
        hangs = not await page.answers(KNOWN_SECONDS if known else PATIENCE)
        self._hanging = page if hangs else None
        return hangs

    async def _wake(self) -> None:
        """Opens the pages again that were put away."""
        parked, self._parked = self._parked, None
        assert parked is not None
        for number, url in enumerate(parked.urls):
            page = await self._context_now().new_page()
            await self.prepare(page)
            self.tabs.add(page, front=number == parked.front)
            if url == BLANK:
                continue
            script = await _remember(page, url, parked) if number == parked.front else None
            with suppress(OutriderError):
                await self._navigate(page, url)
            if script:
                await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
                with suppress(OutriderError):
                    await page.evaluate_in("outrider", "(x, y) => scrollTo(x, y)", *parked.scroll, timeout=2.0)
        if any(url != BLANK for url in parked.urls):
            self.notes.append("the session was asleep: its pages were loaded again")

    async def _replace_page(self) -> None:
        """A new page in the place of one that crashed or hangs."""
        if self.lost is not None and self.browser_gone:
            raise self.lost
        old = self.tabs.current
        if old is not None:
            self.tabs.drop(old)
            if not old.crashed:  # one that hangs would not let itself be closed, and may keep the browser from all else
                old.channel.tell("Page.crash")
        page = await self._context_now().new_page()
        await self.prepare(page)
        self.lost = None
        self.tabs.add(page, front=True)
        if old is not None:
            with suppress(OutriderError, ProtocolError):
                await self._context_now().browser.close_page(old)

    def _crashed(self, page: Page) -> None:
        if page is self.tabs.current:
            self.lost = page.lost
        elif page in tuple(self.tabs):
            self.tabs.drop(page)
            self.notes.append("a tab in the background has crashed and was closed")

    def _browser_lost(self, reason: str) -> None:
        if not self.closed:
            message = f"the browser is gone: {reason}; the session was at {self.url}"
            self.lost = BrowserGone(message, code="browser_gone", hint=REOPEN, details={"url": self.url})

    def _is_mine(self, frame_id: str) -> bool:
        return any(frame_id == page.target_id or page.frames.get(frame_id) for page in self.tabs)

    def _visited(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and len(self._origins) < 500:
            self._origins[f"{parts.scheme}://{parts.netloc}"] = None

    def _reason(self, host: str) -> str | None:
        return self._context.reason(host) if self._context else None

    def _context_now(self) -> Context:
        if self._context is None:
            raise Unavailable("the session has no browser", code="browser_gone", hint=REOPEN)
        return self._context


async def _remember(page: Page, url: str, parked: Parked) -> str:
    """Puts back what a tab had in its session storage, before the page's own scripts look."""
    import json

    parts = urlsplit(url)
    origin = json.dumps(f"{parts.scheme}://{parts.netloc}")
    items = json.dumps(parked.storage)
    source = (
        f"if (location.origin === {origin} && !sessionStorage.length)"
        f" for (const [name, value] of {items}) sessionStorage.setItem(name, value);"
    )
    answer = await page.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": "outrider"})
    return str(answer["identifier"])
