"""Run one call of a crawl: schedule its pages, and stop within the budget."""

import time
from collections import deque
from dataclasses import dataclass, field, replace

import anyio

from outrider.core.errors import OutriderError
from outrider.pages.crawl.ledger import LEASE_S, CrawlLedger, DiscoveredUrl, PageOutcome, PendingPage
from outrider.pages.crawl.plan import CrawlBudget, ReportProgress
from outrider.pages.crawl.result import CrawlEnding, CrawlResult
from outrider.pages.crawl.scope import find_slash_twin
from outrider.pages.crawl.site import CrawlSite
from outrider.pages.crawl.visit import VisitResult


@dataclass
class CrawlWorker:
    """One call of a crawl."""

    site: CrawlSite
    budget: CrawlBudget
    ledger: CrawlLedger
    report_progress: ReportProgress
    ending: CrawlEnding = "finished"
    started_at: float = field(default_factory=time.monotonic)
    pages_read: int = 0
    _earlier_pages: int = 0  # of the round, read by earlier calls
    _queue: deque[PendingPage] = field(default_factory=deque)
    _taken_keys: set[str] = field(default_factory=set)
    _failures: int = 0
    _progressed: anyio.Event = field(default_factory=anyio.Event)
    _fatal_error: OutriderError | None = None  # ends the call
    _start_error: OutriderError | None = None  # of the first page

    async def run_until_done(self) -> None:
        """Read until nothing is left or the budget is spent; pages in progress are left to the next call."""
        self._earlier_pages = (await self.ledger.count_pages()).used_pages

        async def end_in_time() -> None:
            # A deadline would also limit the reading of each page, and the last ones would be recorded as too slow.
            await anyio.sleep(self.budget.seconds)
            limit.cancel()

        with anyio.CancelScope() as limit:
            async with anyio.create_task_group() as readers:
                readers.start_soon(end_in_time)
                readers.start_soon(self._keep_lease, readers.cancel_scope)
                try:
                    delay_s = await self.site.get_crawl_delay()
                    slots = anyio.Semaphore(1 if delay_s else self.budget.concurrency)
                    while (page := await self._take_next()) is not None:
                        await slots.acquire()
                        readers.start_soon(self._read_page, page, slots, delay_s)
                except OutriderError as error:
                    self._fatal_error = error
                while self._taken_keys:
                    await self._progressed.wait()
                readers.cancel_scope.cancel()
        if self._fatal_error:
            raise self._fatal_error
        if limit.cancelled_caught:
            self.ending = "time"
        elif self.ending == "pages" and not (await self.ledger.count_pages()).waiting:
            self.ending = "finished"

    async def summarize(self) -> CrawlResult:
        """Return the result. Raises the error of the first page if nothing was read."""
        tally = await self.ledger.count_pages()
        if self._start_error and not tally.read:
            raise self._start_error
        seconds = time.monotonic() - self.started_at
        return CrawlResult(self.ledger.id, self.ending, self.ledger.round, tally, seconds, self.pages_read)

    async def _take_next(self) -> PendingPage | None:
        """Return the next page once one is known; None if there will be none."""
        while not self._is_over():
            progressed, busy = self._progressed, len(self._taken_keys)
            if busy < self.budget.pages - self._earlier_pages - self.pages_read:
                if not self._queue:
                    self._queue.extend(await self.ledger.list_next(self._taken_keys))
                if self._queue:
                    page = self._queue.popleft()
                    self._taken_keys.add(page.key)
                    return page
                if not busy:
                    return None
            await progressed.wait()
        return None

    def _is_over(self) -> bool:
        max_failures = 10  # in a row, after which the crawl stops
        if self._fatal_error or self._failures >= max_failures:
            self.ending = "trouble"
        elif self._earlier_pages + self.pages_read >= self.budget.pages:
            self.ending = "pages"
        return self.ending != "finished"

    async def _read_page(self, page: PendingPage, slots: anyio.Semaphore, delay_s: float) -> None:
        sitemap_timeout_s = 20.0
        try:
            visit = await self.site.visit_page(page)
            outcome = await self.ledger.record_outcome(page, await self._store_page(page, visit), visit.links)
            if twin := find_slash_twin(page.url, outcome.final_url):
                self._queue = deque(each for each in self._queue if each.key != DiscoveredUrl(twin, 0).row_key)
            self._failures = self._failures + 1 if outcome.again else 0
            self.pages_read += outcome.state in ("read", "duplicate")
            if not page.depth and not visit.error:
                urls: list[DiscoveredUrl] = []  # one link away from the first page
                with anyio.move_on_after(sitemap_timeout_s):
                    async for entry in self.site.iter_sitemap():
                        urls.append(DiscoveredUrl(entry.url, 1, entry.modified))  # noqa: PERF401 - kept at the timeout
                await self.ledger.add(urls)
            elif not page.depth:
                self._start_error = visit.error
            rate = self.pages_read / max(time.monotonic() - self.started_at, 0.001)
            await self.report_progress(await self.ledger.count_pages(), page.url, rate)
            if delay_s:
                await self.site.sleep(delay_s)
        except OutriderError as error:
            self._fatal_error = error
        finally:
            self._taken_keys.discard(page.key)
            slots.release()
            progressed, self._progressed = self._progressed, anyio.Event()
            progressed.set()

    async def _store_page(self, pending: PendingPage, visit: VisitResult) -> PageOutcome:
        """Store new and changed pages, each text once; returns the outcome with the id in the store."""
        outcome, store_page = visit.outcome, self.site.store_page
        if outcome.sha256 == pending.sha256 and pending.kept:
            return replace(outcome, kept=pending.kept)
        if store_page is None or visit.page is None or not outcome.chars:
            return outcome
        if await self.ledger.find_duplicate(pending.key, outcome.sha256):
            return outcome
        return replace(outcome, kept=await store_page(visit.page))

    async def _keep_lease(self, readers: anyio.CancelScope) -> None:
        """Renew the lease regularly; stop reading if another process has taken the crawl over."""
        try:
            while True:
                await anyio.sleep(LEASE_S / 3)
                await self.ledger.renew_lease()
        except OutriderError as error:
            self._fatal_error = error
            readers.cancel()
