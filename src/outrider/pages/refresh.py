"""Find the target of pages that only redirect by a meta element.

See html.spec.whatwg.org, "attr-meta-http-equiv-refresh".
"""

import re

from outrider.pages.fetched_page import FetchedPage
from outrider.pages.urls import resolve_url

META_REFRESH = re.compile(r"<meta\b[^>]{0,300}?http-equiv\s*=\s*[\"']?refresh\b[^>]{0,2000}>", re.IGNORECASE)
CONTENT_ATTRIBUTE = re.compile(r"content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
REFRESH_TARGET = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]?\s*url\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def find_refresh_target(page: FetchedPage) -> str:
    """Return the address that a nearly empty page redirects to at once; empty if it does not."""
    head_chars = 20_000  # the element is near the beginning
    max_delay_s = 5  # a page with a longer delay is meant to be read first
    if page.html is None or not page.is_nearly_empty:
        return ""
    element = META_REFRESH.search(page.html[:head_chars])
    content = CONTENT_ATTRIBUTE.search(element[0]) if element else None
    refresh = REFRESH_TARGET.match(next(filter(None, content.groups()), "")) if content else None
    if refresh is None or int(refresh[1]) > max_delay_s:
        return ""
    target = resolve_url(refresh[2].replace("&amp;", "&"), page.url).partition("#")[0]
    return target if target.startswith("http") and target != page.url else ""
