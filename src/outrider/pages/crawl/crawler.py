"""Reading a site, page by page: polite, bounded, and able to go on where it stopped."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.pages.crawl.plan import CrawlBudget, CrawlEnding, CrawlPlan, ReportProgress, StorePage, parse_plan
from outrider.pages.pages import Pages

if TYPE_CHECKING:
    from outrider.pages.crawl.ledger import CrawlLedger
    from outrider.pages.crawl.result import CrawlResult, CrawlTally


log = logging.getLogger(__name__)
# From what a crawl's caller left (`errand`), where its pages go.
StorePageFactory = Callable[[dict[str, Any]], StorePage | None]


def _store_nowhere(errand: dict[str, Any]) -> None:
    """Pages are only read."""


async def _report_nothing(tally: "CrawlTally", url: str, rate: float) -> None:
    """Nobody wants to know how far it is."""


class Crawler:
    """Crawls sites.

    Args:
        pages: Reads the pages.
        database: Remembers what was found.
        clock: The time in seconds since the epoch; by default the database's, which all processes have in common.
        sleep: Waits for seconds.

    Attributes:
        store_page_factory: Puts pages of crawls that another process has begun where they belong.
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
        self.store_page_factory: StorePageFactory = _store_nowhere
        self._sleep = sleep

    async def crawl(
        self,
        plan: CrawlPlan,
        budget: CrawlBudget,
        owner: str = "",
        *,
        store_page: StorePage | None = None,
        report_progress: ReportProgress = _report_nothing,
        errand: dict[str, Any] | None = None,
    ) -> "CrawlResult":
        """Reads what belongs to the plan, as far as the budget goes.

        An unfinished crawl of the same plan and owner goes on. A finished one is read again: pages are only
        transferred if they have changed, and each says whether it is new, changed or the same.

        Args:
            plan: What to read.
            budget: How much of it.
            owner: Whose crawl it is; crawls of different owners know nothing of one another.
            store_page: Puts a page into a store, and gives its name there; called again if the process dies right after it.
            report_progress: Is told after each page how far the round is, which page that was, and how many pages a second are
                read.
            errand: What `keeper` needs, as JSON: with it, another process goes on if this one dies, and a call that
                finds the crawl at work elsewhere waits for it.

        Raises:
            InvalidInput: code `bad_url`.
            Unavailable: code `crawl_running` while another call works on this crawl, or `database`.
            OutriderError: what kept the first page from being read, as `Pages.read` raises it; Refused with code
                `leads_elsewhere` if it leads to another site.
        """
        ledger = self._build_ledger(plan, owner)
        left = errand and {"owner": owner, "budget": asdict(budget), "errand": errand}
        try:
            await ledger.open(budget.pages, left, self._clock() + budget.seconds)
        except Unavailable as error:
            if error.code != "crawl_running" or errand is None:
                raise
            return await self._wait_for_crawl(ledger, budget, report_progress)
        return await self._crawl_round(ledger, budget, store_page, report_progress)

    async def _crawl_round(
        self, ledger: "CrawlLedger", budget: CrawlBudget, store_page: StorePage | None, report_progress: ReportProgress
    ) -> "CrawlResult":
        """Reads on, and closes the ledger whatever happens."""
        from outrider.pages.crawl.scope import CrawlScope
        from outrider.pages.crawl.site import CrawlSite
        from outrider.pages.crawl.worker import CrawlWorker

        run = CrawlWorker(
            CrawlSite(self._pages, CrawlScope(ledger.plan), store_page, self._sleep), budget, ledger, report_progress
        )
        finished = False
        try:
            await run.run_until_done()
            finished = run.ending == "finished"
        finally:
            with anyio.CancelScope(shield=True):
                await ledger.close(finished=finished)
        return await run.summarize()

    async def list_pages(
        self, plan: CrawlPlan, owner: str = "", *, offset: int = 0, limit: int = 100
    ) -> list[dict[str, Any]]:
        """The pages that the plan's newest round has dealt with, as rows of `tables.crawl_pages`."""
        return await self._build_ledger(plan, owner).list_pages(offset, limit)

    async def run_forever(self) -> None:
        """Goes on with crawls whose process has died while somebody waited for them, until cancelled."""
        poll_interval_s = 4.0  # seconds between looks for crawls whose process has died
        await self._database.opened_event.wait()
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    for left in await self._find_abandoned():
                        tasks.start_soon(self._resume_crawl, left)
                except OutriderError as error:
                    log.warning("crawls that were left cannot be looked for: %s", error)
                await anyio.sleep(poll_interval_s)

    async def _find_abandoned(self) -> list[dict[str, Any]]:
        from sqlalchemy import select

        from outrider.pages.crawl.ledger import is_holder_dead
        from outrider.pages.crawl.tables import crawls

        now = self._clock()
        query = select(crawls).where(crawls.c.state == "running", crawls.c.until > now)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query)).mappings()]
        return [row for row in rows if row["errand"] and (row["held_until"] < now or is_holder_dead(row["holder"]))]

    async def _resume_crawl(self, row: dict[str, Any]) -> None:
        """The rest of a dead process's crawl; what it comes to stands in the ledger, for whoever asks again."""
        given, plan = row["errand"], parse_plan(row["plan"])
        budget = CrawlBudget(**(given["budget"] | {"seconds": max(1.0, row["until"] - self._clock())}))
        ledger = self._build_ledger(plan, given["owner"])
        try:
            if (await ledger.read_status()).tally.used_pages >= budget.pages:  # it died with its work done
                return
            keep = self.store_page_factory(given["errand"])
            await self.crawl(plan, budget, given["owner"], store_page=keep, errand=given["errand"])
        except OutriderError as error:
            log.info("the crawl of %s that was left ends: %s", plan.start, error)

    async def _wait_for_crawl(
        self, ledger: "CrawlLedger", budget: CrawlBudget, report_progress: ReportProgress
    ) -> "CrawlResult":
        """How a crawl ended, or how far it is, that another process works on."""
        poll_interval_s = 1.0  # seconds between looks at a crawl that another process works on
        from outrider.pages.crawl.result import CrawlResult

        began, standing = time.monotonic(), await ledger.read_status()
        with anyio.move_on_after(budget.seconds):
            while standing.is_held:
                await report_progress(standing.tally, ledger.plan.start, 0.0)
                await anyio.sleep(poll_interval_s)
                standing = await ledger.read_status()
        ending: CrawlEnding = "finished" if standing.is_finished else "time"
        return CrawlResult(ledger.id, ending, ledger.round, standing.tally, time.monotonic() - began, 0)

    def _build_ledger(self, plan: CrawlPlan, owner: str) -> "CrawlLedger":
        from outrider.pages.crawl.ledger import CrawlLedger
        from outrider.pages.crawl.scope import normalize_url

        start = normalize_url(plan.start)
        if not start:
            raise InvalidInput(
                f"url: {plan.start!r} is no http(s) address", code="bad_url", hint="give a whole address"
            )
        return CrawlLedger(self._database, replace(plan, start=start), owner, self._clock)
