"""What a crawl is told: where it begins, what belongs to it, and how much of it."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.settings import RobotsMode

if TYPE_CHECKING:
    from outrider.pages.crawl.result import CrawlTally
    from outrider.pages.fetched_page import FetchedPage

SiteBoundary = Literal["path", "host", "subdomains"]
CrawlEnding = Literal["finished", "pages", "time", "trouble"]
StorePage = Callable[["FetchedPage"], Awaitable[str]]
ReportProgress = Callable[
    ["CrawlTally", str, float], Awaitable[None]
]  # how far it is, the page just dealt with, pages a second


@dataclass(frozen=True)
class CrawlPlan:
    """A crawl as it was asked for. Equal plans of one owner are one crawl, which can go on or be repeated.

    Attributes:
        start: The first address.
        depth: Links that may be followed one after the other; 0 reads the first page alone.
        within: What is the same site: `path` (below the folder of the first address), `host`, or `subdomains` (the
            host and what is below it).
        include: Globs over path and query; if there are any, one of them has to match. The first page is read anyway.
        exclude: The same for what is left out; it wins over `include`.
        sitemap: Whether the site's own list of pages is used as well.
        robots: Whether robots.txt binds.
    """

    start: str
    depth: int = 3
    within: SiteBoundary = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sitemap: bool = True
    robots: RobotsMode = "respect"

    def derive_id(self, owner: str) -> str:
        """The crawl's name, the same in every process: 32 hexadecimal digits."""
        return hashlib.sha256(json.dumps([owner, asdict(self)]).encode("utf-8", "replace")).hexdigest()[:32]


def parse_plan(facts: dict[str, Any]) -> CrawlPlan:
    """The plan that was written down as JSON."""
    given: dict[str, Any] = facts | {name: tuple(facts[name]) for name in ("include", "exclude")}
    return CrawlPlan(**given)


@dataclass(frozen=True)
class CrawlBudget:
    """What one call may spend on it.

    Attributes:
        pages: Pages of a round that are read, duplicates included.
        seconds: Time, after which what was read so far is reported.
        concurrency: Pages that are read at the same time.
    """

    pages: int = 50
    seconds: float = 60.0
    concurrency: int = 4
