"""The site of a crawl: its pages, crawl delay and sitemap."""

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
    """A site within the scope of a plan.

    Attributes:
        pages: Reads the pages.
        scope: Decides which addresses belong to the crawl.
        store_page: Puts a page into a store.
        sleep: Waits for seconds.
    """

    pages: Pages
    scope: CrawlScope
    store_page: StorePage | None
    sleep: Callable[[float], Awaitable[None]]

    async def visit_page(self, page: PendingPage) -> VisitResult:
        """Read a page; returns its outcome and links."""
        return await visit_page(self.pages, self.scope, page)

    async def get_crawl_delay(self) -> float:
        """Return the seconds that the site requires between two pages, at most ten."""
        max_delay_s = 10.0
        if self.scope.plan.robots != "respect":
            return 0.0
        return min(await self.pages.robots_policy.get_crawl_delay(self.scope.plan.start), max_delay_s)

    async def iter_sitemap(self, problems: dict[str, str] | None = None) -> AsyncGenerator[SitemapEntry]:
        """Yield the pages of the site's sitemaps that belong to the plan; none if the plan excludes sitemaps.

        Args:
            problems: Receives why a sitemap that robots.txt names was not read, by its address.
        """
        plan = self.scope.plan
        if not (plan.sitemap and plan.depth):
            return
        root = "{0.scheme}://{0.netloc}/".format(urlsplit(plan.start))

        async def fetch_bytes(url: str) -> bytes:
            return (await self.pages.fetch_body(url, size=MAX_SITEMAP_BYTES)).body

        declared, usual = await self.pages.robots_policy.list_sitemaps(root), urljoin(root, "sitemap.xml")
        at_once = 1 if await self.get_crawl_delay() else 4
        has_entries = False
        for addresses, found in ((declared, problems), ([] if usual in declared else [usual], None)):
            if has_entries:
                break
            async for entry in iter_entries(fetch_bytes, addresses, {} if found is None else found, at_once=at_once):
                has_entries = True
                url = normalize_url(entry.url)
                if url and not self.scope.explain_refusal(url):
                    yield SitemapEntry(url, entry.modified)
