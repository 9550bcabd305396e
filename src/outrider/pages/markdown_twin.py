"""Use the Markdown that a site publishes beside a page, where it says as much as our own reading."""

import re
from collections import Counter
from dataclasses import replace
from urllib.parse import urlsplit

from outrider.pages.document import Document
from outrider.pages.fetched_page import MARKDOWN_TWIN_KEY, FetchedPage
from outrider.pages.urls import resolve_url

LINK_ELEMENT = re.compile(r"<link\b[^>]{0,2000}>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"([a-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
WORD = re.compile(r"\w+")


def find_markdown_twin(page: FetchedPage) -> str:
    """Return the Markdown that a page declares (`rel=alternate type=text/markdown`) on its own host, or ""."""
    head_chars = 100_000
    head = (page.html or "")[:head_chars]
    for element in LINK_ELEMENT.findall(head) if "text/markdown" in head else ():
        given = {match[1].lower(): match[2] or match[3] or match[4] or "" for match in ATTRIBUTE.finditer(element)}
        is_markdown = given.get("type", "").partition(";")[0].strip().lower() == "text/markdown"
        if is_markdown and "alternate" in given.get("rel", "").lower().split() and given.get("href"):
            address = resolve_url(given["href"].replace("&amp;", "&"), page.url).partition("#")[0]
            if address and urlsplit(address)[:2] == urlsplit(page.url)[:2] and address != page.url:
                return address
    return ""


def is_as_good(ours: Document, twin: Document) -> bool:
    """Return whether a twin has nearly all words that the page shows, and not many that it does not show."""
    min_words, min_kept = 20, 0.95
    max_ratio = 1.15  # words that no person sees on the page may be instructions for models
    shown, published = (Counter(WORD.findall(each.text.lower())) for each in (ours, twin))
    kept = (shown & published).total()
    return (
        shown.total() >= min_words
        and kept >= min_kept * shown.total()
        and published.total() <= max_ratio * shown.total()
    )


def apply_twin(page: FetchedPage, twin: Document, address: str) -> FetchedPage:
    """Return the page with the text of its twin; all other facts are those of the page."""
    document = page.document
    metadata = document.metadata | {MARKDOWN_TWIN_KEY: address}
    return replace(page, document=replace(document, markdown=twin.markdown, text=twin.text, metadata=metadata))
