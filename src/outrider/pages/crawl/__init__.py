"""Reading a whole site: `Crawler.crawl` follows its links and lists, within a budget, and goes on where it stopped."""

from outrider.pages.crawl.crawler import Crawler
from outrider.pages.crawl.plan import CrawlBudget, CrawlPlan

__all__ = ["CrawlBudget", "CrawlPlan", "Crawler"]
