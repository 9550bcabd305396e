"""Find the next page of a paginated list."""

import re
from urllib.parse import urlsplit

from outrider.pages.urls import resolve_url

NEXT_WORDS = re.compile(
    r"(?:next(?: page)?|older(?: posts| entries)?|more results|weiter|n\u00e4chste(?: seite)?|suivante?|siguiente"
    r"|pr\u00f3xim[ao]|successiv[ao]|\u4e0b\u4e00\u9875|\u6b21\u3078|[\u203a\u00bb\u2192>]|>>)",
    re.IGNORECASE,
)


def find_next_page(html: str, url: str) -> str:
    """Return the address of the next page of the same site, or "" if there is none."""
    decoration = " \u203a\u00bb\u2192>"
    from outrider.pages.extraction.main_content import parse_html

    tree = parse_html(html)
    for node in [*tree.css("link[rel~=next][href], a[rel~=next][href]"), *tree.css("a[href]")]:
        label = (node.attributes.get("aria-label") or node.text() or "")[:60].strip()
        says_next = NEXT_WORDS.fullmatch(label) or NEXT_WORDS.fullmatch(label.strip(decoration))
        if not says_next and "next" not in (node.attributes.get("rel") or ""):
            continue
        address = resolve_url(node.attributes.get("href") or "", url).partition("#")[0]
        if address and urlsplit(address).netloc == urlsplit(url).netloc and address != url:
            return address
    return ""
