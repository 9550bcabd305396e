"""Addresses in documents: absolute, and only those that a reader may follow."""

import re
from functools import lru_cache
from urllib.parse import quote, urljoin

from outrider.core.untrusted import is_safe_link

ADDRESS_LIMIT = 2_000  # characters
# What needs no more than a look: nothing to join, to escape or to resolve.
WHOLE = re.compile(r"(?i:https?)://[A-Za-z0-9_.-]+(?::\d+)?(?:[/?#][A-Za-z0-9_.~:/?#@!$&'*+,;=%\[\]-]*)?", re.ASCII)
ROOTED = re.compile(r"/(?![/\\])[A-Za-z0-9_.~:/?#@!$&'*+,;=%\[\]-]*")
UNSAFE = re.compile(r"[\s()<>\"\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")  # in Markdown, or anywhere
ORIGIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?=[/?#]|$)", re.ASCII | re.IGNORECASE)
# What campaigns and advertisements hang on an address so that its reader is known again; no page needs it.
_TRACKERS = (
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|_gl|_ga|srsltid|fbclid|igshid|igsh|msclkid|twclid|ttclid|"
    r"li_fat_id|yclid|ysclid|_openstat|rdt_cid|epik|irclickid|mc_cid|mc_eid|_hsenc|_hsmi|__hstc|__hssc|__hsfp|"
    r"mkt_tok|vero_id|oly_anon_id|oly_enc_id|wickedid|s_kwcid"
)
TRACKED = re.compile(rf"[?&](?:{_TRACKERS})=", re.IGNORECASE)
TRACKER = re.compile(rf"(?:{_TRACKERS})(?:=.*)?", re.IGNORECASE | re.DOTALL)
SIGNED = re.compile(r"(?:^|&)[\w-]*(?:signature|hmac|sig)=", re.IGNORECASE)  # of the query as a whole


def absolute(address: str, base: str) -> str:
    """The address as http(s) or mailto, absolute and without what only tracks its reader.

    Empty if it is none of these, or a place in the page itself.
    """
    found = _absolute(address, base).removesuffix("#")
    return _untracked(found) if "?" in found and TRACKED.search(found) else found


def _untracked(address: str) -> str:
    """The address without its trackers, unless it is signed with them."""
    before, mark, place = address.partition("#")
    path, _, query = before.partition("?")
    if SIGNED.search(query):
        return address
    kept = "&".join([each for each in query.split("&") if not TRACKER.fullmatch(each)])
    return f"{path}?{kept}{mark}{place}" if kept else path + mark + place


def _absolute(address: str, base: str) -> str:
    address = address.strip()
    if not address or address[0] == "#" or len(address) > ADDRESS_LIMIT:
        return ""
    if ":~:" in address:  # what a browser shall search for in the page
        address = address.partition(":~:")[0].rstrip("#")
    if "/." not in address:
        if WHOLE.fullmatch(address):
            return address
        if ROOTED.fullmatch(address) and (origin := _origin(base)):
            return origin + address
        if address[:2] == "//" and (scheme := _origin(base).partition("/")[0]) and WHOLE.fullmatch(scheme + address):
            return scheme + address
    return _joined("".join(address.split()) if "\n" in address or "\t" in address or "\r" in address else address, base)


@lru_cache(maxsize=100)
def _origin(base: str) -> str:
    found = ORIGIN.match(base)
    return found[0] if found else ""


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
