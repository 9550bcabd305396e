"""One call's work on a crawl: whose turn it is, how many at a time, and when it is enough."""

import time
from collections import deque
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from outrider.core.errors import OutriderError
from outrider.pages.crawl.crawled import Crawled
from outrider.pages.crawl.ledger import LEASE, Found, Ledger, Outcome, Waiting
from outrider.pages.crawl.plan import Budget, Ending, Tell
from outrider.pages.crawl.site import Site
from outrider.pages.crawl.visit import Visited

TROUBLE = 10  # failures of a site one after the other, after which it is left alone
SITEMAP_SECONDS = 20.0


@dataclass
class Run:
    """One call's work on a crawl."""

    site: Site
    budget: Budget
    ledger: Ledger
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
            pause = await self.site.pause()
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
                await self.site.sleep(pause)
        except OutriderError as error:
            self._fault = error
        finally:
            self._taken.discard(page.key)
            places.release()
            moved, self._moved = self._moved, anyio.Event()
            moved.set()

    async def _deal_with(self, page: Waiting) -> None:
        visited = await self.site.visit(page)
        outcome = await self.ledger.record(page, await self._kept(page, visited), visited.found)
        self._failures = self._failures + 1 if outcome.again else 0
        self.read += outcome.state in ("read", "duplicate")
        if not page.depth and not visited.error:
            await self._add_site_list()
        elif not page.depth:
            self._unread = visited.error
        rate = self.read / max(time.monotonic() - self.began, 0.001)
        await self.tell(await self.ledger.tally(), page.url, rate)

    async def _kept(self, waiting: Waiting, visited: Visited) -> Outcome:
        """The outcome with the page's name in the store: new and changed pages go there, each text once."""
        outcome, keep = visited.outcome, self.site.keep
        if outcome.sha256 == waiting.sha256 and waiting.kept:
            return replace(outcome, kept=waiting.kept)
        if not (keep and visited.page and outcome.chars) or await self.ledger.twin(waiting.key, outcome.sha256):
            return outcome
        return replace(outcome, kept=await keep(visited.page))

    async def _add_site_list(self) -> None:
        """Notes what the site itself lists. All of it is one link away from the first page."""
        found: list[Found] = []
        with anyio.move_on_after(SITEMAP_SECONDS):
            async for entry in self.site.listed():
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
