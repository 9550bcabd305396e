"""Content stores: texts that are kept, cut into passages, and found again by their words and their meaning."""

from typing import TYPE_CHECKING, Any

from outrider.content.content import Content
from outrider.content.record import Draft, Passage, Record, Store
from outrider.content.settings import ContentSettings

__all__ = ["Content", "ContentSettings", "Draft", "Found", "Hit", "Passage", "Record", "SearchOptions", "Store"]

if TYPE_CHECKING:
    from outrider.content.search import Found, Hit, SearchOptions


def __getattr__(name: str) -> Any:
    """What searching needs is loaded when it is first asked for."""
    if name not in {"Found", "Hit", "SearchOptions"}:
        raise AttributeError(f"module 'outrider.content' has no attribute {name!r}")
    from outrider.content import search

    return getattr(search, name)
