"""The plan and the budget of a crawl."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.crawl.result import CrawlTally
from outrider.pages.settings import RobotsMode

if TYPE_CHECKING:
    from outrider.pages.fetched_page import FetchedPage

SiteBoundary = Literal["path", "host", "subdomains"]
StorePage = Callable[["FetchedPage"], Awaitable[str]]
# Takes the tally so far, the URL of the last page, and pages a second.
ReportProgress = Callable[[CrawlTally, str, float], Awaitable[None]]


@dataclass(frozen=True)
class CrawlPlan:
    """A crawl as requested. Equal plans of one owner are one crawl, which can be resumed or repeated.

    Attributes:
        start: The first address.
        depth: The number of links to follow from the first page; 0 reads that alone.
        within: The boundary of the site: `path` (below the folder of the first address), `host`, or `subdomains` (the
            host and its subdomains).
        include: Globs over path and query, one of which must match if there are any. The first page is always read.
        exclude: Globs over path and query of pages to leave out; they override `include`.
        sitemap: Whether to read the pages in the site's sitemap as well.
        robots: Whether to obey robots.txt.
    """

    start: str
    depth: int = 3
    within: SiteBoundary = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sitemap: bool = True
    robots: RobotsMode = "respect"

    def derive_id(self, owner: str) -> str:
        """Return the crawl's id, the same in every process: 32 hexadecimal digits."""
        return hashlib.sha256(json.dumps([owner, asdict(self)]).encode("utf-8", "replace")).hexdigest()[:32]


def parse_plan(facts: dict[str, Any]) -> CrawlPlan:
    """Return the plan that was stored as JSON."""
    given: dict[str, Any] = facts | {name: tuple(facts[name]) for name in ("include", "exclude")}
    return CrawlPlan(**given)


@dataclass(frozen=True)
class CrawlBudget:
    """The limits of one call.

    Attributes:
        pages: Pages to read in a round, duplicates included.
        seconds: Time after which the call returns with the pages read so far.
        concurrency: Pages to read at the same time.
    """

    pages: int = 50
    seconds: float = 60.0
    concurrency: int = 4
