"""Reading a site, page by page: polite, bounded, and able to go on where it stopped."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.db import Database
from outrider.core.errors import InvalidInput
from outrider.pages.crawl.plan import Budget, Keep, Plan, Tell
from outrider.pages.pages import Pages

if TYPE_CHECKING:
    from outrider.pages.crawl.crawled import Crawled, Tally
    from outrider.pages.crawl.ledger import Ledger


async def _silent(tally: "Tally", url: str, rate: float) -> None:
    """Nobody wants to know how far it is."""


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
    ) -> "Crawled":
        """Reads what belongs to the plan, as far as the budget goes.

        An unfinished crawl of the same plan and owner goes on. A finished one is read again: pages are only
        transferred if they have changed, and each says whether it is new, changed or the same.

        Args:
            plan: What to read.
            budget: How much of it.
            owner: Whose crawl it is; crawls of different owners know nothing of one another.
            keep: Puts a page into a store, and gives its name there; called again if the process dies right after it.
            tell: Is told after each page how far the round is, which page that was, and how many pages a second are
                read.

        Raises:
            InvalidInput: code `bad_url`.
            Unavailable: code `crawl_running` while another call works on this crawl, or `database`.
            OutriderError: what kept the first page from being read, as `Pages.read` raises it; Refused with code
                `leads_elsewhere` if it leads to another site.
        """
        from outrider.pages.crawl.run import Run
        from outrider.pages.crawl.scope import Scope
        from outrider.pages.crawl.site import Site

        ledger = self._ledger(plan, owner)
        await ledger.open(budget.pages)
        run = Run(Site(self._pages, Scope(ledger.plan), keep, self._sleep), budget, ledger, tell)
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

    def _ledger(self, plan: Plan, owner: str) -> "Ledger":
        from outrider.pages.crawl.ledger import Ledger
        from outrider.pages.crawl.scope import tidied

        start = tidied(plan.start)
        if not start:
            raise InvalidInput(
                f"url: {plan.start!r} is no http(s) address", code="bad_url", hint="give a whole address"
            )
        return Ledger(self._database, replace(plan, start=start), owner, self._clock)
