"""Reading a whole site: `Crawler.crawl` follows its links and lists, within a budget, and goes on where it stopped."""

from outrider.pages.crawl.crawler import Crawled, Crawler
from outrider.pages.crawl.ledger import Tally
from outrider.pages.crawl.plan import Budget, Plan

__all__ = ["Budget", "Crawled", "Crawler", "Plan", "Tally"]
