"""Searching the web over many providers, with or without keys. Knows neither MCP nor pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outrider.search.search import Depth, Search
from outrider.search.settings import SearchSettings

if TYPE_CHECKING:
    from outrider.search.access import ProviderStatus, explain
    from outrider.search.flow import Attempt, Found
    from outrider.search.provider import Hit, Opener, Page, Powers, Provider, Query, Source

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
# The rest is loaded when somebody searches.
WHERE = {
    "Attempt": "flow",
    "Found": "flow",
    "Hit": "provider",
    "Opener": "provider",
    "Page": "provider",
    "Powers": "provider",
    "Provider": "provider",
    "ProviderStatus": "access",
    "Query": "provider",
    "Source": "provider",
    "explain": "access",
}


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WHERE[name]}"), name)
