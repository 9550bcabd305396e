"""Pages that only send their reader on, by a meta element (html.spec.whatwg.org, "attr-meta-http-equiv-refresh")."""

import re

from outrider.pages.address import absolute
from outrider.pages.page import Page

SECONDS = 5  # what is sent on later is a page that is shown first
HEAD = 20_000  # characters in which the element stands
META = re.compile(r"<meta\b[^>]{0,300}?http-equiv\s*=\s*[\"']?refresh\b[^>]{0,2000}>", re.IGNORECASE)
CONTENT = re.compile(r"content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
TARGET = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]?\s*url\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def refreshed(page: Page) -> str:
    """The address that an all but empty page sends its reader to at once; empty if it does not."""
    if page.html is None or not page.is_bare:
        return ""
    found = META.search(page.html[:HEAD])
    content = CONTENT.search(found[0]) if found else None
    told = TARGET.match(next(filter(None, content.groups()), "")) if content else None
    if told is None or int(told[1]) > SECONDS:
        return ""
    target = absolute(told[2].replace("&amp;", "&"), page.url).partition("#")[0]
    return target if target.startswith("http") and target != page.url else ""
