"""Crawl whole sites within a budget, resuming where the last call stopped."""

from outrider.pages.crawl.crawler import Crawler
from outrider.pages.crawl.plan import CrawlBudget, CrawlPlan

__all__ = ["CrawlBudget", "CrawlPlan", "Crawler"]
