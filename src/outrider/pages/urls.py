"""Resolve links in documents into absolute addresses that are safe to follow."""

import re
from functools import lru_cache
from urllib.parse import quote, urljoin

from outrider.core.untrusted import is_safe_link

# Addresses that need neither joining nor escaping, for speed.
PLAIN_URL = re.compile(r"(?i:https?)://[A-Za-z0-9_.-]+(?::\d+)?(?:[/?#][A-Za-z0-9_.~:/?#@!$&'*+,;=%\[\]-]*)?", re.ASCII)
ROOTED_PATH = re.compile(r"/(?![/\\])[A-Za-z0-9_.~:/?#@!$&'*+,;=%\[\]-]*")
UNSAFE_CHARACTER = re.compile(r"[\s()<>\"\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")  # in Markdown, or anywhere
URL_ORIGIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?=[/?#]|$)", re.ASCII | re.IGNORECASE)
# Parameters with which campaigns and advertisements track readers; no page needs them.
_TRACKER_NAMES = (
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|_gl|_ga|srsltid|fbclid|igshid|igsh|msclkid|twclid|ttclid|"
    r"li_fat_id|yclid|ysclid|_openstat|rdt_cid|epik|irclickid|mc_cid|mc_eid|_hsenc|_hsmi|__hstc|__hssc|__hsfp|"
    r"mkt_tok|vero_id|oly_anon_id|oly_enc_id|wickedid|s_kwcid"
)
TRACKED_QUERY = re.compile(rf"[?&](?:{_TRACKER_NAMES})=", re.IGNORECASE)
TRACKER_PARAMETER = re.compile(rf"(?:{_TRACKER_NAMES})(?:=.*)?", re.IGNORECASE | re.DOTALL)
SIGNED_QUERY = re.compile(r"(?:^|&)[\w-]*(?:signature|hmac|sig)=", re.IGNORECASE)  # of the query as a whole


def resolve_url(address: str, base: str) -> str:
    """Return the address as absolute http(s) or mailto, without tracking parameters.

    Empty for other schemes, and for fragments of the page itself.
    """
    url = _resolve_reference(address, base).removesuffix("#")
    if "?" not in url or not TRACKED_QUERY.search(url):
        return url
    before, mark, fragment = url.partition("#")
    path, _, query = before.partition("?")
    if SIGNED_QUERY.search(query):  # the signature covers the tracking parameters
        return url
    query = "&".join([parameter for parameter in query.split("&") if not TRACKER_PARAMETER.fullmatch(parameter)])
    return f"{path}?{query}{mark}{fragment}" if query else path + mark + fragment


def _resolve_reference(address: str, base: str) -> str:
    max_url_chars = 2_000
    address = address.strip()
    if not address or address[0] == "#" or len(address) > max_url_chars:
        return ""
    if ":~:" in address:  # a text fragment, for browsers to highlight
        address = address.partition(":~:")[0].rstrip("#")
    if "/." not in address:
        if PLAIN_URL.fullmatch(address):
            return address
        if ROOTED_PATH.fullmatch(address) and (origin := _parse_origin(base)):
            return origin + address
        if (
            address[:2] == "//"
            and (scheme := _parse_origin(base).partition("/")[0])
            and PLAIN_URL.fullmatch(scheme + address)
        ):
            return scheme + address
    return _join_url(
        "".join(address.split()) if "\n" in address or "\t" in address or "\r" in address else address, base
    )


@lru_cache(maxsize=100)
def _parse_origin(base: str) -> str:
    match = URL_ORIGIN.match(base)
    return match[0] if match else ""


def _join_url(address: str, base: str) -> str:
    try:
        joined = urljoin(base, address)
    except ValueError:
        return ""
    if not is_safe_link(joined):
        return ""
    if not UNSAFE_CHARACTER.search(joined):
        return joined
    return UNSAFE_CHARACTER.sub(lambda match: quote(match[0], safe="", errors="replace"), joined)
