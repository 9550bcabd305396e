"""Pages that only send their reader on, by a meta element (html.spec.whatwg.org, "attr-meta-http-equiv-refresh")."""

import re

from outrider.pages.fetched_page import FetchedPage
from outrider.pages.urls import resolve_url

META_REFRESH = re.compile(r"<meta\b[^>]{0,300}?http-equiv\s*=\s*[\"']?refresh\b[^>]{0,2000}>", re.IGNORECASE)
CONTENT_ATTRIBUTE = re.compile(r"content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
REFRESH_TARGET = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]?\s*url\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def find_refresh_target(page: FetchedPage) -> str:
    """The address that an all but empty page sends its reader to at once; empty if it does not."""
    head_chars = 20_000  # characters in which the element stands
    max_delay_s = 5  # what is sent on later is a page that is shown first
    if page.html is None or not page.is_nearly_empty:
        return ""
    found = META_REFRESH.search(page.html[:head_chars])
    content = CONTENT_ATTRIBUTE.search(found[0]) if found else None
    told = REFRESH_TARGET.match(next(filter(None, content.groups()), "")) if content else None
    if told is None or int(told[1]) > max_delay_s:
        return ""
    target = resolve_url(told[2].replace("&amp;", "&"), page.url).partition("#")[0]
    return target if target.startswith("http") and target != page.url else ""
