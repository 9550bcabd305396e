"""What a crawl has come to."""

from dataclasses import dataclass

from outrider.pages.crawl.plan import CrawlEnding


@dataclass(frozen=True)
class CrawlTally:
    """How many pages of the round are in which state."""

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
    """How a call's crawling ended.

    Attributes:
        crawl: The crawl's name.
        ending: `finished` when nothing of the site is left to read; `pages` or `time` when the budget is spent, and
            `trouble` when the site answered no more: the same call goes on.
        round: The how-manieth reading of the site this is.
        tally: The pages of the round by state.
        seconds: How long this call took.
        pages_read: Pages read by this call.
    """

    crawl: str
    ending: CrawlEnding
    round: int
    tally: CrawlTally
    seconds: float
    pages_read: int
