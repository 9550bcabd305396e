"""Addresses in documents: absolute, and only those that a reader may follow."""

import re
from urllib.parse import quote, urljoin

from outrider.core.untrusted import is_safe_link

ADDRESS_LIMIT = 2_000  # characters
# What needs no more than a look: nothing to join, to escape or to resolve.
WHOLE = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#][\w.~:/?#@!$&'*+,;=%\[\]-]*)?", re.ASCII | re.IGNORECASE)
ROOTED = re.compile(r"/(?![/\\])[\w.~:/?#@!$&'*+,;=%\[\]-]*", re.ASCII)
UNSAFE = re.compile(r"[\s()<>\"\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")  # in Markdown, or anywhere
ORIGIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?=[/?#]|$)", re.ASCII | re.IGNORECASE)


def absolute(address: str, base: str) -> str:
    """The address as http(s) or mailto, absolute; empty if it is none of these, or a place in the page itself."""
    address = address.strip()
    if not address or address[0] == "#" or len(address) > ADDRESS_LIMIT:
        return ""
    if ":~:" in address:  # what a browser shall search for in the page
        address = address.partition(":~:")[0].rstrip("#")
    if "/." not in address:
        if WHOLE.fullmatch(address):
            return address
        if ROOTED.fullmatch(address) and (origin := ORIGIN.match(base)):
            return origin[0] + address
    return _joined("".join(address.split()) if "\n" in address or "\t" in address or "\r" in address else address, base)


def _joined(address: str, base: str) -> str:
    try:
        joined = urljoin(base, address)
    except ValueError:
        return ""
    if not is_safe_link(joined):
        return ""
    return (
        UNSAFE.sub(lambda found: quote(found[0], safe="", errors="replace"), joined)
        if UNSAFE.search(joined)
        else joined
    )
