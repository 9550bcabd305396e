"""Reading a site, page by page: polite, bounded, and able to go on where it stopped."""

import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
from anyio.abc import TaskGroup

from outrider.core.db import Database
from outrider.core.errors import InvalidInput, OutriderError
from outrider.pages.crawl.ledger import LEASE, Found, Ledger, Tally, Waiting
from outrider.pages.crawl.plan import Budget, Ending, Plan
from outrider.pages.crawl.scope import tidied
from outrider.pages.crawl.sitemap import SIZE, Entry, entries
from outrider.pages.crawl.visit import Keep, Visited, visit
from outrider.pages.pages import Pages

TROUBLE = 10  # failures of a site one after the other, after which it is left alone
LONGEST_PAUSE = 10.0  # seconds that a site's Crawl-delay may ask for between two pages
SITEMAP_SECONDS = 20.0
Tell = Callable[[Tally, str], Awaitable[None]]


async def _silent(tally: Tally, url: str) -> None:
    """Nobody wants to know how far it is."""


@dataclass(frozen=True)
class Crawled:
    """How a call's crawling ended.

    Attributes:
        crawl: The crawl's name.
        ending: `finished` when nothing of the site is left to read; `pages` or `time` when the budget is spent, and
            `trouble` when the site answered no more: the same call goes on.
        round: The how-manieth reading of the site this is.
        tally: The pages of the round by state.
        seconds: How long this call took.
        pages_read: Pages read by this call.
    """

    crawl: str
    ending: Ending
    round: int
    tally: Tally
    seconds: float
    pages_read: int


class Crawler:
    """Crawls sites.

    Args:
        pages: Reads the pages.
        database: Remembers what was found.
        clock: The time in seconds since the epoch.
        sleep: Waits for seconds.
    """

    def __init__(
        self,
        pages: Pages,
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._pages = pages
        self._database = database
        self._clock = clock
        self._sleep = sleep

    async def crawl(
        self, plan: Plan, budget: Budget, owner: str = "", *, keep: Keep | None = None, tell: Tell = _silent
    ) -> Crawled:
        """Reads what belongs to the plan, as far as the budget goes.

        An unfinished crawl of the same plan and owner goes on. A finished one is read again: pages are only
        transferred if they have changed, and each says whether it is new, changed or the same.

        Args:
            plan: What to read.
            budget: How much of it.
            owner: Whose crawl it is; crawls of different owners know nothing of one another.
            keep: Puts a page into a store, and gives its name there; called again if the process dies right after it.
            tell: Is told after each page.

        Raises:
            InvalidInput: code `bad_url`.
            Unavailable: code `crawl_running` while another call works on this crawl, or `database`.
            OutriderError: what kept the first page from being read, as `Pages.read` raises it; Refused with code
                `leads_elsewhere` if it leads to another site.
        """
        ledger = self._ledger(plan, owner)
        await ledger.open(budget.pages)
        run = _Run(self, ledger.plan, budget, ledger, keep, tell)
        finished = False
        try:
            await run.until_done()
            finished = run.ending == "finished"
        finally:
            with anyio.CancelScope(shield=True):
                await ledger.close(finished=finished)
        return await run.summary()

    async def listing(self, plan: Plan, owner: str = "", *, offset: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """The pages that the plan's newest round has dealt with, as rows of `tables.crawl_pages`."""
        return await self._ledger(plan, owner).pages(offset, limit)

    async def site_list(self, plan: Plan) -> AsyncGenerator[Entry]:
        """The pages of the site's own lists that belong to the plan."""
        root = "{0.scheme}://{0.netloc}/".format(urlsplit(plan.start))
        named = await self._pages.robots.sitemaps(root)
        async for entry in entries(self._bytes, named or [urljoin(root, "sitemap.xml")]):
            url = tidied(entry.url)
            if url and not plan.scope.refusal(url):
                yield Entry(url, entry.modified)

    async def pause(self, plan: Plan) -> float:
        """Seconds that the site wants between two pages."""
        return min(await self._pages.robots.delay(plan.start), LONGEST_PAUSE) if plan.robots == "respect" else 0.0

    async def wait(self, seconds: float) -> None:
        """Waits for seconds."""
        await self._sleep(seconds)

    async def visit(self, plan: Plan, page: Waiting, keep: Keep | None) -> Visited:
        """What became of a page, and where it leads."""
        return await visit(self._pages, plan, page, keep)

    def _ledger(self, plan: Plan, owner: str) -> Ledger:
        start = tidied(plan.start)
        if not start:
            raise InvalidInput(
                f"url: {plan.start!r} is no http(s) address", code="bad_url", hint="give a whole address"
            )
        return Ledger(self._database, replace(plan, start=start), owner, self._clock)

    async def _bytes(self, url: str) -> bytes:
        return (await self._pages.source(url, size=SIZE)).body


@dataclass
class _Run:
    """One call's work on a crawl."""

    crawler: Crawler
    plan: Plan
    budget: Budget
    ledger: Ledger
    keep: Keep | None
    tell: Tell
    ending: Ending = "finished"
    began: float = field(default_factory=time.monotonic)
    read: int = 0
    _before: int = 0  # pages of the round that earlier calls have read
    _queue: deque[Waiting] = field(default_factory=deque)
    _taken: set[str] = field(default_factory=set)
    _failures: int = 0
    _moved: anyio.Event = field(default_factory=anyio.Event)
    _fault: OutriderError | None = None  # what ends the call
    _unread: OutriderError | None = None  # what kept the first page from being read

    async def until_done(self) -> None:
        """Reads until nothing is left or the budget is spent. What is being read then stays for the next call."""
        self._before = (await self.ledger.tally()).spent
        with anyio.move_on_after(self.budget.seconds) as limit:
            pause = await self.crawler.pause(self.plan)
            async with anyio.create_task_group() as readers:
                readers.start_soon(self._hold, readers.cancel_scope)
                await self._dispatch(readers, anyio.Semaphore(1 if pause else self.budget.concurrency), pause)
                readers.cancel_scope.cancel()
        if self._fault:
            raise self._fault
        if limit.cancelled_caught:
            self.ending = "time"
        elif self.ending == "pages" and not (await self.ledger.tally()).waiting:
            self.ending = "finished"

    async def summary(self) -> Crawled:
        """What there is to say at the end."""
        tally = await self.ledger.tally()
        if self._unread and not tally.read:
            raise self._unread
        seconds = time.monotonic() - self.began
        return Crawled(self.ledger.id, self.ending, self.ledger.round, tally, seconds, self.read)

    async def _dispatch(self, readers: TaskGroup, places: anyio.Semaphore, pause: float) -> None:
        """Gives each page to a reader, and waits for the last of them."""
        try:
            while (page := await self._next()) is not None:
                await places.acquire()
                readers.start_soon(self._read, page, places, pause)
        except OutriderError as error:
            self._fault = error
        while self._taken:
            await self._moved.wait()

    async def _next(self) -> Waiting | None:
        """The page whose turn it is, as soon as one is known; None when there will be none."""
        while not self._is_over():
            moved, busy = self._moved, len(self._taken)
            if busy < self.budget.pages - self._before - self.read:
                if not self._queue:
                    self._queue.extend(await self.ledger.next(self._taken))
                if self._queue:
                    page = self._queue.popleft()
                    self._taken.add(page.key)
                    return page
                if not busy:
                    return None
            await moved.wait()
        return None

    def _is_over(self) -> bool:
        if self._fault or self._failures >= TROUBLE:
            self.ending = "trouble"
        elif self._before + self.read >= self.budget.pages:
            self.ending = "pages"
        return self.ending != "finished"

    async def _read(self, page: Waiting, places: anyio.Semaphore, pause: float) -> None:
        try:
            await self._deal_with(page)
            if pause:
                await self.crawler.wait(pause)
        except OutriderError as error:
            self._fault = error
        finally:
            self._taken.discard(page.key)
            places.release()
            moved, self._moved = self._moved, anyio.Event()
            moved.set()

    async def _deal_with(self, page: Waiting) -> None:
        visited = await self.crawler.visit(self.plan, page, self.keep)
        outcome = await self.ledger.record(page, visited.outcome, visited.found)
        self._failures = self._failures + 1 if outcome.again else 0
        self.read += outcome.state in ("read", "duplicate")
        if not page.depth:
            self._unread = visited.error
            await self._add_site_list()
        await self.tell(await self.ledger.tally(), page.url)

    async def _add_site_list(self) -> None:
        """Notes what the site itself lists. All of it is one link away from the first page."""
        if self._unread or not (self.plan.sitemap and self.plan.depth):
            return
        found: list[Found] = []
        with anyio.move_on_after(SITEMAP_SECONDS):
            async for entry in self.crawler.site_list(self.plan):
                found.append(Found(entry.url, 1, entry.modified))  # noqa: PERF401 - what came in time is kept
        await self.ledger.add(found)

    async def _hold(self, readers: anyio.CancelScope) -> None:
        """Keeps the crawl this process's own; ends the work if it is not any more."""
        try:
            while True:
                await anyio.sleep(LEASE / 3)
                await self.ledger.hold()
        except OutriderError as error:
            self._fault = error
            readers.cancel()
