"""One page of a crawl: read, and searched for where it leads."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from urllib.parse import urlsplit

from outrider.core.errors import NotFound, OutriderError, Refused, Unavailable
from outrider.pages.crawl.ledger import Found, Outcome, Waiting
from outrider.pages.crawl.plan import Plan
from outrider.pages.crawl.scope import ELSEWHERE, page_key, tidied
from outrider.pages.page import Page
from outrider.pages.pages import Pages

MOST_LINKS = 2_000  # of one page that are followed
Keep = Callable[[Page], Awaitable[str]]


@dataclass(frozen=True)
class Visited:
    """What became of the page, the addresses of the crawl that it leads to, and what kept it from being read."""

    outcome: Outcome
    found: tuple[Found, ...] = ()
    error: OutriderError | None = None


async def visit(pages: Pages, plan: Plan, waiting: Waiting, keep: Keep | None) -> Visited:
    """Reads a page whose turn has come. What fails is an outcome, not an error.

    Args:
        pages: Reads.
        plan: Says what belongs to the crawl.
        waiting: The page.
        keep: Puts a page that is new or has changed into a store, and gives its name there.
    """
    # A page that the site's own list calls unchanged since it was last read is not asked for again.
    known = inf if waiting.sha256 and 0 < waiting.modified < waiting.read_at else None
    max_age = known if known or not waiting.sha256 else 0
    try:
        page = await pages.read(waiting.url, max_age=max_age, robots=plan.robots)
    except OutriderError as error:
        return Visited(_failed(error), error=error)
    if plan.scope.refusal(tidied(page.url)) == ELSEWHERE:
        return _leads_away(waiting.url, page.url)
    found = tuple(_leads(plan, page, waiting.depth))
    if (original := _original(plan, page, waiting)) is not None:
        return Visited(Outcome("duplicate", original.url, final_url=page.url), (original, *found))
    text = page.document.markdown
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()
    changed = digest != waiting.sha256 or not waiting.kept
    kept = await keep(page) if keep and changed and text else waiting.kept
    title = page.document.title
    read = Outcome("read", final_url=page.url, title=title, sha256=digest, chars=len(text), kept=kept)
    return Visited(read, found)


def _leads_away(url: str, to: str) -> Visited:
    error = Refused(f"{url} leads to {to}", code="leads_elsewhere", hint="crawl that address if it is what you want")
    return Visited(Outcome("skipped", f"leads to {to}", final_url=to), error=error)


def _failed(error: OutriderError) -> Outcome:
    if error.code == "robots":
        return Outcome("skipped", "robots.txt forbids it")
    state = "gone" if isinstance(error, NotFound) else "failed"
    return Outcome(state, error.message, again=isinstance(error, Unavailable))


def _leads(plan: Plan, page: Page, depth: int) -> list[Found]:
    """Where the page's links lead that may be followed."""
    if depth >= plan.depth or (plan.robots == "respect" and _forbids_following(page)):
        return []
    addresses = (tidied(link.url) for link in page.document.links[:MOST_LINKS])
    return [Found(url, depth + 1) for url in dict.fromkeys(addresses) if url and not plan.scope.refusal(url)]


def _original(plan: Plan, page: Page, waiting: Waiting) -> Found | None:
    """The address that a page names as its own, where it is one view of several of the same path.

    Others are not believed: too many sites name their first page on all of them.
    """
    url = tidied(str(page.document.metadata.get("canonical") or ""))
    if not url or page_key(url) in (page_key(page.url), page_key(waiting.url)) or plan.scope.refusal(url):
        return None
    return Found(url, waiting.depth) if urlsplit(url).path == urlsplit(page.url).path else None


def _forbids_following(page: Page) -> bool:
    """`<meta name="robots" content="nofollow">`, as the site's page says it to all robots."""
    if not page.html or "nofollow" not in page.html:
        return False
    from selectolax.lexbor import LexborHTMLParser

    tags = LexborHTMLParser(page.html).css('meta[name="robots" i]')
    return any("nofollow" in (tag.attributes.get("content") or "").lower() for tag in tags)
