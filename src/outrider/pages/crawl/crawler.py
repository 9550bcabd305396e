"""Crawl a site page by page, politely, within a budget, and resumably."""

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.pages.crawl.plan import CrawlBudget, CrawlPlan, ReportProgress, StorePage, parse_plan
from outrider.pages.crawl.result import CrawlEnding
from outrider.pages.pages import Pages

if TYPE_CHECKING:
    from outrider.pages.crawl.ledger import CrawlLedger
    from outrider.pages.crawl.result import CrawlResult, CrawlTally
    from outrider.pages.crawl.site_map import SiteMap


log = logging.getLogger(__name__)
# Maps the `errand` of a crawl's caller to the function that stores its pages.
StorePageFactory = Callable[[dict[str, Any]], StorePage | None]


async def _ignore_progress(_tally: "CrawlTally", _url: str, _rate: float) -> None:
    """Discard progress reports."""


class Crawler:
    """Crawl sites.

    Args:
        pages: Reads the pages.
        database: Holds the ledgers of crawls.
        clock: The time in seconds since the epoch; by default the database's, which all processes share.
        sleep: Waits for seconds.

    Attributes:
        store_page_factory: Builds the function that stores pages of crawls which another process started.
    """

    def __init__(
        self,
        pages: Pages,
        database: Database,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._pages = pages
        self._database = database
        self._clock = clock or database.now
        self.store_page_factory: StorePageFactory = lambda _errand: None
        self._sleep = sleep
        self._maps: OrderedDict[CrawlPlan, tuple[float, SiteMap]] = OrderedDict()

    async def map_site(self, plan: CrawlPlan) -> "SiteMap":
        """List the addresses of a site that belong to a plan, without reading its pages.

        A map is kept for some minutes, so that its further parts and other words in it cost the site nothing. Raises
        as `site_map.map_site`.
        """
        from outrider.pages.crawl.site_map import map_site

        max_age_s, max_kept_pages = 300.0, 60_000
        made_at, site = self._maps.pop(plan, (0.0, None))
        if site is None or self._clock() - made_at > max_age_s:
            made_at, site = self._clock(), await map_site(self._pages, plan)
        self._maps[plan] = made_at, site
        while len(self._maps) > 1 and sum(len(each.pages) for _, each in self._maps.values()) > max_kept_pages:
            self._maps.popitem(last=False)
        return site

    async def crawl(
        self,
        plan: CrawlPlan,
        budget: CrawlBudget,
        owner: str = "",
        *,
        store_page: StorePage | None = None,
        report_progress: ReportProgress = _ignore_progress,
        errand: dict[str, Any] | None = None,
    ) -> "CrawlResult":
        """Read the pages of a plan within the budget.

        An unfinished crawl of the same plan and owner is resumed. A finished one is repeated: pages are only
        transferred if they have changed, and each is marked as new, changed or the same.

        Args:
            plan: What to read.
            budget: How much of it.
            owner: Whose crawl it is; crawls of different owners are independent.
            store_page: Puts a page into a store and returns its id there; called again if the process dies right
                after it.
            report_progress: Called after each page with the tally of the round, the page, and pages per second.
            errand: The argument of `store_page_factory`, as JSON. With it, another process resumes the crawl if this
                one dies, and a call that finds the crawl running elsewhere waits for it.

        Raises:
            InvalidInput: code `bad_url`.
            Unavailable: code `crawl_running` while another call works on this crawl, or `database`.
            OutriderError: the first page could not be read, as `Pages.read` raises it; Refused with code
                `leads_elsewhere` if it redirects to another site.
        """
        ledger = self._build_ledger(plan, owner)
        resume_data = errand and {"owner": owner, "budget": asdict(budget), "errand": errand}
        try:
            await ledger.open(budget.pages, resume_data, self._clock() + budget.seconds)
        except Unavailable as error:
            if error.code != "crawl_running" or errand is None:
                raise
            return await self._wait_for_crawl(ledger, budget, report_progress)
        return await self._crawl_round(ledger, budget, store_page, report_progress)

    async def _crawl_round(
        self, ledger: "CrawlLedger", budget: CrawlBudget, store_page: StorePage | None, report_progress: ReportProgress
    ) -> "CrawlResult":
        """Read the round's pages, and always close the ledger."""
        from outrider.pages.crawl.scope import CrawlScope
        from outrider.pages.crawl.site import CrawlSite
        from outrider.pages.crawl.worker import CrawlWorker

        site = CrawlSite(self._pages, CrawlScope(ledger.plan), store_page, self._sleep)
        worker = CrawlWorker(site, budget, ledger, report_progress)
        finished = False
        try:
            await worker.run_until_done()
            finished = worker.ending == "finished"
        finally:
            with anyio.CancelScope(shield=True):
                await ledger.close(finished=finished)
        return await worker.summarize()

    async def list_pages(
        self, plan: CrawlPlan, owner: str = "", *, offset: int = 0, limit: int = 100
    ) -> list[dict[str, Any]]:
        """Return the pages that the plan's newest round has processed, as rows of `tables.crawl_pages`."""
        return await self._build_ledger(plan, owner).list_pages(offset, limit)

    async def run_forever(self) -> None:
        """Resume crawls whose process died before their callers' time was up, until cancelled."""
        poll_interval_s = 4.0
        await self._database.opened_event.wait()
        from sqlalchemy import select  # imported here, because listing the tools must not wait for it

        from outrider.core.process_holder import is_holder_dead
        from outrider.pages.crawl.tables import crawls

        async with anyio.create_task_group() as tasks:
            while True:
                now = self._clock()
                query = select(crawls).where(crawls.c.state == "running", crawls.c.until > now)
                try:
                    async with self._database.read() as connection:
                        rows = [dict(row) for row in (await connection.execute(query)).mappings()]
                    for row in rows:
                        if row["errand"] and (row["held_until"] < now or is_holder_dead(row["holder"])):
                            tasks.start_soon(self._resume_crawl, row)
                except OutriderError as error:
                    log.warning("abandoned crawls could not be listed: %s", error)
                await anyio.sleep(poll_interval_s)

    async def _resume_crawl(self, row: dict[str, Any]) -> None:
        """Finish a dead process's crawl; the ledger holds the result for the next call."""
        resume_data, plan = row["errand"], parse_plan(row["plan"])
        budget = CrawlBudget(**(resume_data["budget"] | {"seconds": max(1.0, row["until"] - self._clock())}))
        ledger = self._build_ledger(plan, resume_data["owner"])
        try:
            if (await ledger.read_status()).tally.used_pages >= budget.pages:  # it died after its work was done
                return
            errand = resume_data["errand"]
            store_page = self.store_page_factory(errand)
            await self.crawl(plan, budget, resume_data["owner"], store_page=store_page, errand=errand)
        except OutriderError as error:
            log.info("the abandoned crawl of %s ended: %s", plan.start, error)

    async def _wait_for_crawl(
        self, ledger: "CrawlLedger", budget: CrawlBudget, report_progress: ReportProgress
    ) -> "CrawlResult":
        """Wait for a crawl in another process, and return its end or its progress."""
        poll_interval_s = 1.0
        from outrider.pages.crawl.result import CrawlResult

        started_at, status = time.monotonic(), await ledger.read_status()
        with anyio.move_on_after(budget.seconds):
            while status.is_held:
                await report_progress(status.tally, ledger.plan.start, 0.0)
                await anyio.sleep(poll_interval_s)
                status = await ledger.read_status()
        ending: CrawlEnding = "finished" if status.is_finished else "time"
        return CrawlResult(ledger.id, ending, ledger.round, status.tally, time.monotonic() - started_at, 0)

    def _build_ledger(self, plan: CrawlPlan, owner: str) -> "CrawlLedger":
        from outrider.pages.crawl.ledger import CrawlLedger
        from outrider.pages.crawl.scope import normalize_url

        start = normalize_url(plan.start)
        if not start:
            raise InvalidInput(
                f"url: {plan.start!r} is not an http(s) address", code="bad_url", hint="give a complete address"
            )
        return CrawlLedger(self._database, replace(plan, start=start), owner, self._clock)
