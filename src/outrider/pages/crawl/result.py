"""The result of a crawl."""

from dataclasses import dataclass
from typing import Literal

CrawlEnding = Literal["finished", "pages", "time", "trouble"]


@dataclass(frozen=True)
class CrawlTally:
    """The number of pages of a round by state."""

    read: int = 0
    duplicate: int = 0
    waiting: int = 0
    failed: int = 0
    skipped: int = 0
    gone: int = 0
    new: int = 0
    changed: int = 0
    same: int = 0

    @property
    def used_pages(self) -> int:
        """Pages that count against the budget."""
        return self.read + self.duplicate


@dataclass(frozen=True)
class CrawlResult:
    """The result of one call.

    Attributes:
        crawl: The crawl's id.
        ending: `finished` if nothing of the site is left to read, `pages` or `time` if the budget is spent, and
            `trouble` if the site stopped answering; unless finished, the same call resumes the crawl.
        round: The number of this reading of the site, from 1.
        tally: The pages of the round by state.
        seconds: The duration of this call.
        pages_read: Pages read by this call.
    """

    crawl: str
    ending: CrawlEnding
    round: int
    tally: CrawlTally
    seconds: float
    pages_read: int
