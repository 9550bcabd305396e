"""One page of a crawl: read, and searched for where it leads."""

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
    """What became of the page, the addresses of the crawl that it leads to, and what kept it from being read."""

    outcome: PageOutcome
    found: tuple[DiscoveredUrl, ...] = ()
    page: FetchedPage | None = None
    error: OutriderError | None = None


async def visit_page(pages: Pages, scope: CrawlScope, waiting: PendingPage) -> VisitResult:
    """Reads a page whose turn has come. What fails is an outcome, not an error.

    Args:
        pages: Reads.
        scope: Says what belongs to the crawl.
        waiting: The page.
    """
    # A page that the site's own list calls unchanged since it was last read is not asked for again.
    known = inf if waiting.sha256 and 0 < waiting.modified < waiting.read_at else None
    max_age = known if known or not waiting.sha256 else 0
    try:
        page = await pages.read(waiting.url, ReadOptions(max_age=max_age, robots=scope.plan.robots))
    except OutriderError as error:
        return VisitResult(_build_failed_outcome(error), error=error)
    if scope.explain_refusal(normalize_url(page.url)) == OFF_SITE:
        return _leads_away(waiting.url, page.url)
    found = tuple(_collect_links(scope, page, waiting.depth))
    if (original := _find_canonical(scope, page, waiting)) is not None:
        return VisitResult(PageOutcome("duplicate", original.url, final_url=page.url), (original, *found))
    text = page.document.markdown
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()
    title = page.document.title
    read = PageOutcome("read", final_url=page.url, title=title, sha256=digest, chars=len(text))
    return VisitResult(read, found, page)


def _leads_away(url: str, to: str) -> VisitResult:
    error = Refused(f"{url} leads to {to}", code="leads_elsewhere", hint="crawl that address if it is what you want")
    return VisitResult(PageOutcome("skipped", f"leads to {to}", final_url=to), error=error)


def _build_failed_outcome(error: OutriderError) -> PageOutcome:
    if error.code == "robots":
        return PageOutcome("skipped", "robots.txt forbids it")
    state = "gone" if isinstance(error, NotFound) else "failed"
    return PageOutcome(state, error.message, again=isinstance(error, Unavailable))


def _collect_links(scope: CrawlScope, page: FetchedPage, depth: int) -> list[DiscoveredUrl]:
    """Where the page's links lead that may be followed."""
    max_links = 2_000  # of one page that are followed
    if depth >= scope.plan.depth or (scope.plan.robots == "respect" and _has_nofollow(page)):
        return []
    addresses = (normalize_url(link.url) for link in page.document.links[:max_links])
    return [DiscoveredUrl(url, depth + 1) for url in dict.fromkeys(addresses) if url and not scope.explain_refusal(url)]


def _find_canonical(scope: CrawlScope, page: FetchedPage, waiting: PendingPage) -> DiscoveredUrl | None:
    """The address that a page names as its own, where it is one view of several of the same path.

    Others are not believed: too many sites name their first page on all of them.
    """
    url = normalize_url(str(page.document.metadata.get("canonical") or ""))
    if (
        not url
        or build_page_key(url) in (build_page_key(page.url), build_page_key(waiting.url))
        or scope.explain_refusal(url)
    ):
        return None
    return DiscoveredUrl(url, waiting.depth) if urlsplit(url).path == urlsplit(page.url).path else None


def _has_nofollow(page: FetchedPage) -> bool:
    """`<meta name="robots" content="nofollow">`, as the site's page says it to all robots."""
    if not page.html or "nofollow" not in page.html:
        return False

    tags = LexborHTMLParser(page.html).css('meta[name="robots" i]')
    return any("nofollow" in (tag.attributes.get("content") or "").lower() for tag in tags)
