"""Content stores: texts that are kept, cut into passages, and found again by their words and their meaning."""

from outrider.content.content import Content
from outrider.content.record import Draft, Passage, Record, Store
from outrider.content.search import Found, Hit, SearchOptions
from outrider.content.settings import ContentSettings

__all__ = ["Content", "ContentSettings", "Draft", "Found", "Hit", "Passage", "Record", "SearchOptions", "Store"]
