"""The site that a crawl reads: its pages, the pause it wants between them, and its own list of them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from outrider.pages.crawl.ledger import PendingPage
from outrider.pages.crawl.plan import StorePage
from outrider.pages.crawl.scope import CrawlScope, normalize_url
from outrider.pages.crawl.sitemap import MAX_SITEMAP_BYTES, SitemapEntry, iter_entries
from outrider.pages.crawl.visit import VisitResult, visit_page
from outrider.pages.pages import Pages


@dataclass(frozen=True)
class CrawlSite:
    """A site as a plan sees it.

    Attributes:
        pages: Reads the pages.
        scope: What belongs to the crawl.
        store_page: Puts a page into a store.
        sleep: Waits for seconds.
    """

    pages: Pages
    scope: CrawlScope
    store_page: StorePage | None
    sleep: Callable[[float], Awaitable[None]]

    async def visit_page(self, page: PendingPage) -> VisitResult:
        """What became of a page, and where it leads."""
        return await visit_page(self.pages, self.scope, page)

    async def get_crawl_delay(self) -> float:
        """Seconds that the site wants between two pages."""
        max_pause_s = 10.0  # seconds that a site's Crawl-delay may ask for between two pages
        if self.scope.plan.robots != "respect":
            return 0.0
        return min(await self.pages.robots_policy.get_crawl_delay(self.scope.plan.start), max_pause_s)

    async def iter_sitemap(self) -> AsyncGenerator[SitemapEntry]:
        """The pages of the site's own lists that belong to the plan; none if its lists are not wanted."""
        plan = self.scope.plan
        if not (plan.sitemap and plan.depth):
            return
        root = "{0.scheme}://{0.netloc}/".format(urlsplit(plan.start))
        named = await self.pages.robots_policy.list_sitemaps(root)
        async for entry in iter_entries(self._bytes, named or [urljoin(root, "sitemap.xml")]):
            url = normalize_url(entry.url)
            if url and not self.scope.explain_refusal(url):
                yield SitemapEntry(url, entry.modified)

    async def _bytes(self, url: str) -> bytes:
        return (await self.pages.fetch_body(url, size=MAX_SITEMAP_BYTES)).body
