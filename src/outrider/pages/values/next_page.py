"""Find the address of a list's next page."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from outrider.pages.urls import resolve_url
from outrider.pages.values.phrases import CLASS_BORDER

NEXT_WORDS = re.compile(
    r"(?:next(?: page)?|load more(?: [\w ]{1,30})?|older(?: posts| entries)?|more results|weiter"
    r"|n\u00e4chste(?: seite)?|suivante?|siguiente|pr\u00f3xim[ao]|successiv[ao]"
    r"|\u4e0b\u4e00\u9875|\u6b21\u3078|[\u203a\u00bb\u2192>]|>>)",
    re.IGNORECASE,
)
PAGE_WORDS = re.compile(r"pag(?:e|er|ination|ing)s?(?![a-z])|page-numbers", re.IGNORECASE)


def find_next_page(html: str, url: str) -> str:
    """Return the address of the same site's next page, or ""."""
    from outrider.pages.extraction.main_content import parse_html

    tree = parse_html(html)
    links = tree.css("a[href]")
    declared = tree.css("link[rel~=next][href], a[rel~=next][href]")
    named = (node for node in links if is_named_next(node))
    for node in chain(declared, named, list_next_numbers(tree), (node for node in links if has_next_class(node))):
        address = resolve_url(node.attributes.get("href") or "", url).partition("#")[0]
        if address and urlsplit(address).netloc == urlsplit(url).netloc and address != url:
            return address
    return ""


def is_named_next(link: Any) -> bool:
    """Return whether a link says that it leads to the next page."""
    decoration = " \u203a\u00bb\u2192>"
    attributes = link.attributes
    label = (attributes.get("aria-label") or link.text().strip() or attributes.get("title") or "")[:60].strip()
    return NEXT_WORDS.fullmatch(label) is not None or NEXT_WORDS.fullmatch(label.strip(decoration)) is not None


def has_next_class(link: Any) -> bool:
    """Return whether a link without text is the next page by its class, or by that of its list item."""
    max_chars = 2
    if len(link.text().strip()) > max_chars:
        return False
    names = [node.attributes.get("class") or "" for node in (link, link.parent) if node is not None]
    return any("next" in CLASS_BORDER.split(name.lower()) for name in names)


def list_next_numbers(tree: Any) -> Iterator[Any]:
    """Yield the links after the current page's number, in a list of page numbers."""
    max_marks, max_levels, max_digits = 200, 3, 4
    current = '[aria-current], [class*="current"], [class*="active"], [class*="selected"], strong, b'
    for mark in tree.css(current)[:max_marks]:
        number = mark.text().strip()
        if not number.isdecimal() or len(number) > max_digits:
            continue
        part = mark.parent
        for _ in range(max_levels):
            if part is None or part.tag in ("body", "html"):
                break
            names = " ".join(part.attributes.get(name) or "" for name in ("class", "id", "aria-label"))
            if PAGE_WORDS.search(names):
                yield from (link for link in part.css("a[href]") if link.text().strip() == str(int(number) + 1))
            part = part.parent
