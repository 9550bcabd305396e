"""The site that a crawl reads: its pages, the pause it wants between them, and its own list of them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from outrider.pages.crawl.ledger import Waiting
from outrider.pages.crawl.plan import Keep
from outrider.pages.crawl.scope import Scope, tidied
from outrider.pages.crawl.sitemap import SIZE, Entry, entries
from outrider.pages.crawl.visit import Visited, visit
from outrider.pages.pages import Pages

LONGEST_PAUSE = 10.0  # seconds that a site's Crawl-delay may ask for between two pages


@dataclass(frozen=True)
class Site:
    """A site as a plan sees it.

    Attributes:
        pages: Reads the pages.
        scope: What belongs to the crawl.
        keep: Puts a page into a store.
        sleep: Waits for seconds.
    """

    pages: Pages
    scope: Scope
    keep: Keep | None
    sleep: Callable[[float], Awaitable[None]]

    async def visit(self, page: Waiting) -> Visited:
        """What became of a page, and where it leads."""
        return await visit(self.pages, self.scope, page)

    async def pause(self) -> float:
        """Seconds that the site wants between two pages."""
        if self.scope.plan.robots != "respect":
            return 0.0
        return min(await self.pages.robots.delay(self.scope.plan.start), LONGEST_PAUSE)

    async def listed(self) -> AsyncGenerator[Entry]:
        """The pages of the site's own lists that belong to the plan; none if its lists are not wanted."""
        plan = self.scope.plan
        if not (plan.sitemap and plan.depth):
            return
        root = "{0.scheme}://{0.netloc}/".format(urlsplit(plan.start))
        named = await self.pages.robots.sitemaps(root)
        async for entry in entries(self._bytes, named or [urljoin(root, "sitemap.xml")]):
            url = tidied(entry.url)
            if url and not self.scope.refusal(url):
                yield Entry(url, entry.modified)

    async def _bytes(self, url: str) -> bytes:
        return (await self.pages.source(url, size=SIZE)).body
