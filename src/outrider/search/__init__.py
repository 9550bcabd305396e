"""Searching the web over many providers, with or without keys. Knows neither MCP nor pages."""

from outrider.search.access import ProviderStatus, explain
from outrider.search.provider import Hit, Opener, Page, Powers, Provider, Query, Source
from outrider.search.search import Attempt, Depth, Found, Search
from outrider.search.settings import SearchSettings

__all__ = [
    "Attempt",
    "Depth",
    "Found",
    "Hit",
    "Opener",
    "Page",
    "Powers",
    "Provider",
    "ProviderStatus",
    "Query",
    "Search",
    "SearchSettings",
    "Source",
    "explain",
]
