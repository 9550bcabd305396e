"""One page of a crawl: read, and searched for where it leads."""

from dataclasses import dataclass
from hashlib import sha256
from math import inf
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from outrider.core.errors import NotFound, OutriderError, Refused, Unavailable
from outrider.pages.crawl.ledger import Found, Outcome, Waiting
from outrider.pages.crawl.scope import ELSEWHERE, Scope, page_key, tidied
from outrider.pages.page import Page
from outrider.pages.pages import Pages

MOST_LINKS = 2_000  # of one page that are followed


@dataclass(frozen=True)
class Visited:
    """What became of the page, the addresses of the crawl that it leads to, and what kept it from being read."""

    outcome: Outcome
    found: tuple[Found, ...] = ()
    page: Page | None = None
    error: OutriderError | None = None


async def visit(pages: Pages, scope: Scope, waiting: Waiting) -> Visited:
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
        page = await pages.read(waiting.url, max_age=max_age, robots=scope.plan.robots)
    except OutriderError as error:
        return Visited(_failed(error), error=error)
    if scope.refusal(tidied(page.url)) == ELSEWHERE:
        return _leads_away(waiting.url, page.url)
    found = tuple(_leads(scope, page, waiting.depth))
    if (original := _original(scope, page, waiting)) is not None:
        return Visited(Outcome("duplicate", original.url, final_url=page.url), (original, *found))
    text = page.document.markdown
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()
    title = page.document.title
    read = Outcome("read", final_url=page.url, title=title, sha256=digest, chars=len(text))
    return Visited(read, found, page)


def _leads_away(url: str, to: str) -> Visited:
    error = Refused(f"{url} leads to {to}", code="leads_elsewhere", hint="crawl that address if it is what you want")
    return Visited(Outcome("skipped", f"leads to {to}", final_url=to), error=error)


def _failed(error: OutriderError) -> Outcome:
    if error.code == "robots":
        return Outcome("skipped", "robots.txt forbids it")
    state = "gone" if isinstance(error, NotFound) else "failed"
    return Outcome(state, error.message, again=isinstance(error, Unavailable))


def _leads(scope: Scope, page: Page, depth: int) -> list[Found]:
    """Where the page's links lead that may be followed."""
    if depth >= scope.plan.depth or (scope.plan.robots == "respect" and _forbids_following(page)):
        return []
    addresses = (tidied(link.url) for link in page.document.links[:MOST_LINKS])
    return [Found(url, depth + 1) for url in dict.fromkeys(addresses) if url and not scope.refusal(url)]


def _original(scope: Scope, page: Page, waiting: Waiting) -> Found | None:
    """The address that a page names as its own, where it is one view of several of the same path.

    Others are not believed: too many sites name their first page on all of them.
    """
    url = tidied(str(page.document.metadata.get("canonical") or ""))
    if not url or page_key(url) in (page_key(page.url), page_key(waiting.url)) or scope.refusal(url):
        return None
    return Found(url, waiting.depth) if urlsplit(url).path == urlsplit(page.url).path else None


def _forbids_following(page: Page) -> bool:
    """`<meta name="robots" content="nofollow">`, as the site's page says it to all robots."""
    if not page.html or "nofollow" not in page.html:
        return False

    tags = LexborHTMLParser(page.html).css('meta[name="robots" i]')
    return any("nofollow" in (tag.attributes.get("content") or "").lower() for tag in tags)
