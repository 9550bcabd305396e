"""One call's work on a crawl: whose turn it is, how many at a time, and when it is enough."""

import time
from collections import deque
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from outrider.core.errors import OutriderError
from outrider.pages.crawl.ledger import LEASE_S, CrawlLedger, DiscoveredUrl, PageOutcome, PendingPage
from outrider.pages.crawl.plan import CrawlBudget, CrawlEnding, ReportProgress
from outrider.pages.crawl.result import CrawlResult
from outrider.pages.crawl.site import CrawlSite
from outrider.pages.crawl.visit import VisitResult


@dataclass
class CrawlWorker:
    """One call's work on a crawl."""

    site: CrawlSite
    budget: CrawlBudget
    ledger: CrawlLedger
    report_progress: ReportProgress
    ending: CrawlEnding = "finished"
    started_at: float = field(default_factory=time.monotonic)
    pages_read: int = 0
    _earlier_pages: int = 0  # pages of the round that earlier calls have read
    _queue: deque[PendingPage] = field(default_factory=deque)
    _taken_keys: set[str] = field(default_factory=set)
    _failures: int = 0
    _progressed: anyio.Event = field(default_factory=anyio.Event)
    _fatal_error: OutriderError | None = None  # what ends the call
    _start_error: OutriderError | None = None  # what kept the first page from being read

    async def run_until_done(self) -> None:
        """Reads until nothing is left or the budget is spent. What is being read then stays for the next call."""
        self._earlier_pages = (await self.ledger.count_pages()).used_pages
        with anyio.move_on_after(self.budget.seconds) as limit:
            pause = await self.site.get_crawl_delay()
            async with anyio.create_task_group() as readers:
                readers.start_soon(self._keep_lease, readers.cancel_scope)
                await self._dispatch_pages(readers, anyio.Semaphore(1 if pause else self.budget.concurrency), pause)
                readers.cancel_scope.cancel()
        if self._fatal_error:
            raise self._fatal_error
        if limit.cancelled_caught:
            self.ending = "time"
        elif self.ending == "pages" and not (await self.ledger.count_pages()).waiting:
            self.ending = "finished"

    async def summarize(self) -> CrawlResult:
        """What there is to say at the end."""
        tally = await self.ledger.count_pages()
        if self._start_error and not tally.read:
            raise self._start_error
        seconds = time.monotonic() - self.started_at
        return CrawlResult(self.ledger.id, self.ending, self.ledger.round, tally, seconds, self.pages_read)

    async def _dispatch_pages(self, readers: TaskGroup, slots: anyio.Semaphore, pause: float) -> None:
        """Gives each page to a reader, and waits for the last of them."""
        try:
            while (page := await self._take_next()) is not None:
                await slots.acquire()
                readers.start_soon(self._read_page, page, slots, pause)
        except OutriderError as error:
            self._fatal_error = error
        while self._taken_keys:
            await self._progressed.wait()

    async def _take_next(self) -> PendingPage | None:
        """The page whose turn it is, as soon as one is known; None when there will be none."""
        while not self._is_over():
            moved, busy = self._progressed, len(self._taken_keys)
            if busy < self.budget.pages - self._earlier_pages - self.pages_read:
                if not self._queue:
                    self._queue.extend(await self.ledger.list_next(self._taken_keys))
                if self._queue:
                    page = self._queue.popleft()
                    self._taken_keys.add(page.key)
                    return page
                if not busy:
                    return None
            await moved.wait()
        return None

    def _is_over(self) -> bool:
        max_failures = 10  # failures of a site one after the other, after which it is left alone
        if self._fatal_error or self._failures >= max_failures:
            self.ending = "trouble"
        elif self._earlier_pages + self.pages_read >= self.budget.pages:
            self.ending = "pages"
        return self.ending != "finished"

    async def _read_page(self, page: PendingPage, slots: anyio.Semaphore, pause: float) -> None:
        try:
            await self._process_page(page)
            if pause:
                await self.site.sleep(pause)
        except OutriderError as error:
            self._fatal_error = error
        finally:
            self._taken_keys.discard(page.key)
            slots.release()
            moved, self._progressed = self._progressed, anyio.Event()
            moved.set()

    async def _process_page(self, page: PendingPage) -> None:
        visited = await self.site.visit_page(page)
        outcome = await self.ledger.record_outcome(page, await self._store_page(page, visited), visited.found)
        self._failures = self._failures + 1 if outcome.again else 0
        self.pages_read += outcome.state in ("read", "duplicate")
        if not page.depth and not visited.error:
            await self._add_sitemap_urls()
        elif not page.depth:
            self._start_error = visited.error
        rate = self.pages_read / max(time.monotonic() - self.started_at, 0.001)
        await self.report_progress(await self.ledger.count_pages(), page.url, rate)

    async def _store_page(self, waiting: PendingPage, visited: VisitResult) -> PageOutcome:
        """The outcome with the page's name in the store: new and changed pages go there, each text once."""
        outcome, keep = visited.outcome, self.site.store_page
        if outcome.sha256 == waiting.sha256 and waiting.kept:
            return replace(outcome, kept=waiting.kept)
        if not (keep and visited.page and outcome.chars) or await self.ledger.find_duplicate(
            waiting.key, outcome.sha256
        ):
            return outcome
        return replace(outcome, kept=await keep(visited.page))

    async def _add_sitemap_urls(self) -> None:
        """Notes what the site itself lists. All of it is one link away from the first page."""
        sitemap_timeout_s = 20.0
        found: list[DiscoveredUrl] = []
        with anyio.move_on_after(sitemap_timeout_s):
            async for entry in self.site.iter_sitemap():
                found.append(DiscoveredUrl(entry.url, 1, entry.modified))  # noqa: PERF401 - what came in time is kept
        await self.ledger.add(found)

    async def _keep_lease(self, readers: anyio.CancelScope) -> None:
        """Keeps the crawl this process's own; ends the work if it is not any more."""
        try:
            while True:
                await anyio.sleep(LEASE_S / 3)
                await self.ledger.renew_lease()
        except OutriderError as error:
            self._fatal_error = error
            readers.cancel()
