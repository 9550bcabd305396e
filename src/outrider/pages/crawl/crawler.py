"""Reading a site, page by page: polite, bounded, and able to go on where it stopped."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.db import Database
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.pages.crawl.plan import Budget, Ending, Keep, Plan, Tell, plan_of
from outrider.pages.pages import Pages

if TYPE_CHECKING:
    from outrider.pages.crawl.crawled import Crawled, Tally
    from outrider.pages.crawl.ledger import Ledger


log = logging.getLogger(__name__)
LOOK = 4.0  # seconds between looks for crawls whose process has died
GLANCE = 1.0  # seconds between looks at a crawl that another process works on
# From what a crawl's caller left (`errand`), where its pages go.
Keeper = Callable[[dict[str, Any]], Keep | None]


def _nowhere(errand: dict[str, Any]) -> None:
    """Pages are only read."""


async def _silent(tally: "Tally", url: str, rate: float) -> None:
    """Nobody wants to know how far it is."""


class Crawler:
    """Crawls sites.

    Args:
        pages: Reads the pages.
        database: Remembers what was found.
        clock: The time in seconds since the epoch; by default the database's, which all processes have in common.
        sleep: Waits for seconds.

    Attributes:
        keeper: Puts pages of crawls that another process has begun where they belong.
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
        self.keeper: Keeper = _nowhere
        self._sleep = sleep

    async def crawl(
        self,
        plan: Plan,
        budget: Budget,
        owner: str = "",
        *,
        keep: Keep | None = None,
        tell: Tell = _silent,
        errand: dict[str, Any] | None = None,
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
            errand: What `keeper` needs, as JSON: with it, another process goes on if this one dies, and a call that
                finds the crawl at work elsewhere waits for it.

        Raises:
            InvalidInput: code `bad_url`.
            Unavailable: code `crawl_running` while another call works on this crawl, or `database`.
            OutriderError: what kept the first page from being read, as `Pages.read` raises it; Refused with code
                `leads_elsewhere` if it leads to another site.
        """
        ledger = self._ledger(plan, owner)
        left = errand and {"owner": owner, "budget": asdict(budget), "errand": errand}
        try:
            await ledger.open(budget.pages, left, self._clock() + budget.seconds)
        except Unavailable as error:
            if error.code != "crawl_running" or errand is None:
                raise
            return await self._watched(ledger, budget, tell)
        return await self._round(ledger, budget, keep, tell)

    async def _round(self, ledger: "Ledger", budget: Budget, keep: Keep | None, tell: Tell) -> "Crawled":
        """Reads on, and closes the ledger whatever happens."""
        from outrider.pages.crawl.run import Run
        from outrider.pages.crawl.scope import Scope
        from outrider.pages.crawl.site import Site

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

    async def mind(self) -> None:
        """Goes on with crawls whose process has died while somebody waited for them, until cancelled."""
        await self._database.used.wait()
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    for left in await self._left():
                        tasks.start_soon(self._go_on, left)
                except OutriderError as error:
                    log.warning("crawls that were left cannot be looked for: %s", error)
                await anyio.sleep(LOOK)

    async def _left(self) -> list[dict[str, Any]]:
        from sqlalchemy import select

        from outrider.pages.crawl.ledger import is_dead
        from outrider.pages.crawl.tables import crawls

        now = self._clock()
        query = select(crawls).where(crawls.c.state == "running", crawls.c.until > now)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query)).mappings()]
        return [row for row in rows if row["errand"] and (row["held_until"] < now or is_dead(row["holder"]))]

    async def _go_on(self, left: dict[str, Any]) -> None:
        """The rest of a dead process's crawl; what it comes to stands in the ledger, for whoever asks again."""
        given, plan = left["errand"], plan_of(left["plan"])
        budget = Budget(**(given["budget"] | {"seconds": max(1.0, left["until"] - self._clock())}))
        ledger = self._ledger(plan, given["owner"])
        try:
            if (await ledger.standing()).tally.spent >= budget.pages:  # it died with its work done
                return
            keep = self.keeper(given["errand"])
            await self.crawl(plan, budget, given["owner"], keep=keep, errand=given["errand"])
        except OutriderError as error:
            log.info("the crawl of %s that was left ends: %s", plan.start, error)

    async def _watched(self, ledger: "Ledger", budget: Budget, tell: Tell) -> "Crawled":
        """How a crawl ended, or how far it is, that another process works on."""
        from outrider.pages.crawl.crawled import Crawled

        began, standing = time.monotonic(), await ledger.standing()
        with anyio.move_on_after(budget.seconds):
            while standing.held:
                await tell(standing.tally, ledger.plan.start, 0.0)
                await anyio.sleep(GLANCE)
                standing = await ledger.standing()
        ending: Ending = "finished" if standing.finished else "time"
        return Crawled(ledger.id, ending, ledger.round, standing.tally, time.monotonic() - began, 0)

    def _ledger(self, plan: Plan, owner: str) -> "Ledger":
        from outrider.pages.crawl.ledger import Ledger
        from outrider.pages.crawl.scope import tidied

        start = tidied(plan.start)
        if not start:
            raise InvalidInput(
                f"url: {plan.start!r} is no http(s) address", code="bad_url", hint="give a whole address"
            )
        return Ledger(self._database, replace(plan, start=start), owner, self._clock)
