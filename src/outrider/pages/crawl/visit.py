"""Read one page of a crawl, and collect its links."""

from dataclasses import dataclass
from hashlib import sha256
from math import inf
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from outrider.core.errors import NotFound, OutriderError, Refused, Unavailable
from outrider.pages.crawl.ledger import DiscoveredUrl, PageOutcome, PendingPage
from outrider.pages.crawl.scope import OFF_SITE, CrawlScope, build_page_key, normalize_url
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages


@dataclass(frozen=True)
class VisitResult:
    """A page's outcome, its links within the crawl, and any error."""

    outcome: PageOutcome
    links: tuple[DiscoveredUrl, ...] = ()
    page: FetchedPage | None = None
    error: OutriderError | None = None


async def visit_page(pages: Pages, scope: CrawlScope, pending: PendingPage) -> VisitResult:
    """Read a pending page. A failure becomes an outcome, not an error.

    Args:
        pages: Reads the page.
        scope: Decides which addresses belong to the crawl.
        pending: The page.
    """
    max_age: float | None = None
    if pending.sha256:
        # The cached copy is good enough if the sitemap says that the page has not changed since.
        max_age = inf if 0 < pending.modified < pending.read_at else 0
    try:
        page = await pages.read(pending.url, ReadOptions(max_age=max_age, robots=scope.plan.robots))
    except OutriderError as error:
        if error.code == "robots":
            return VisitResult(PageOutcome("skipped", "robots.txt forbids it"), error=error)
        state = "gone" if isinstance(error, NotFound) else "failed"
        return VisitResult(PageOutcome(state, error.message, again=isinstance(error, Unavailable)), error=error)
    if scope.explain_refusal(normalize_url(page.url)) == OFF_SITE:
        error = Refused(
            f"{pending.url} leads to {page.url}",
            code="leads_elsewhere",
            hint="crawl that address instead",
        )
        return VisitResult(PageOutcome("skipped", f"leads to {page.url}", final_url=page.url), error=error)
    links = tuple(_collect_links(scope, page, pending.depth))
    if (original := _find_canonical(scope, page, pending)) is not None:
        return VisitResult(PageOutcome("duplicate", original.url, final_url=page.url), (original, *links))
    text = page.document.markdown
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()
    title = page.document.title
    read = PageOutcome("read", final_url=page.url, title=title, sha256=digest, chars=len(text))
    return VisitResult(read, links, page)


def _collect_links(scope: CrawlScope, page: FetchedPage, depth: int) -> list[DiscoveredUrl]:
    """Return the page's links that the crawl may follow."""
    max_links = 2_000
    if depth >= scope.plan.depth:
        return []
    if scope.plan.robots == "respect" and page.html and "nofollow" in page.html:
        tags = LexborHTMLParser(page.html).css('meta[name="robots" i]')
        if any("nofollow" in (tag.attributes.get("content") or "").lower() for tag in tags):
            return []
    addresses = (normalize_url(link.url) for link in page.document.links[:max_links])
    return [DiscoveredUrl(url, depth + 1) for url in dict.fromkeys(addresses) if url and not scope.explain_refusal(url)]


def _find_canonical(scope: CrawlScope, page: FetchedPage, pending: PendingPage) -> DiscoveredUrl | None:
    """Return the page's canonical address if it is another view of the same path.

    Other canonical addresses are ignored, because too many sites name their first page on every page.
    """
    url = normalize_url(str(page.document.metadata.get("canonical") or ""))
    if (
        not url
        or build_page_key(url) in (build_page_key(page.url), build_page_key(pending.url))
        or scope.explain_refusal(url)
    ):
        return None
    return DiscoveredUrl(url, pending.depth) if urlsplit(url).path == urlsplit(page.url).path else None
