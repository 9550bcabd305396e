"""What a crawl is told: where it begins, what belongs to it, and how much of it."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.settings import Robots

if TYPE_CHECKING:
    from outrider.pages.crawl.crawled import Tally
    from outrider.pages.page import Page

Within = Literal["path", "host", "subdomains"]
Ending = Literal["finished", "pages", "time", "trouble"]
Keep = Callable[["Page"], Awaitable[str]]
Tell = Callable[["Tally", str, float], Awaitable[None]]  # how far it is, the page just dealt with, pages a second


@dataclass(frozen=True)
class Plan:
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
    within: Within = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sitemap: bool = True
    robots: Robots = "respect"

    def key(self, owner: str) -> str:
        """The crawl's name, the same in every process: 32 hexadecimal digits."""
        return hashlib.sha256(json.dumps([owner, asdict(self)]).encode("utf-8", "replace")).hexdigest()[:32]


def plan_of(facts: dict[str, Any]) -> Plan:
    """The plan that was written down as JSON."""
    given: dict[str, Any] = facts | {name: tuple(facts[name]) for name in ("include", "exclude")}
    return Plan(**given)


@dataclass(frozen=True)
class Budget:
    """What one call may spend on it.

    Attributes:
        pages: Pages of a round that are read, duplicates included.
        seconds: Time, after which what was read so far is reported.
        concurrency: Pages that are read at the same time.
    """

    pages: int = 50
    seconds: float = 60.0
    concurrency: int = 4
