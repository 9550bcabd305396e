"""Compute how long responses stay fresh, and build conditional requests.

RFC 9111; RFC 9110, section 13.
"""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def parse_cache_control(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the Cache-Control directives by lower-case name."""
    parts = (part.partition("=") for part in headers.get("cache-control", "").lower().split(","))
    return {name.strip(): value.strip(' "') for name, _, value in parts if name.strip()}


def is_storable(headers: Mapping[str, str]) -> bool:
    """Return whether a response may be stored. This is a private cache, so `private` does not matter."""
    return "no-store" not in parse_cache_control(headers) and headers.get("vary", "").strip() != "*"


def compute_lifetime(headers: Mapping[str, str], max_age_s: float = 86_400.0) -> float:
    """Return how many seconds a response is fresh by its headers, at most `max_age_s`."""
    heuristic_share = 0.1  # of the time since the last change (RFC 9111 section 4.2.2)
    directives = parse_cache_control(headers)
    if "no-cache" in directives:
        return 0.0
    date = _parse_http_date(headers.get("date"))
    if max_age := directives.get("max-age", ""):
        lifetime_s = float(max_age) if max_age.isdigit() and len(max_age) < 12 else 0.0
    elif "expires" in headers:
        expires = _parse_http_date(headers["expires"])
        lifetime_s = expires - date if expires is not None and date is not None else 0.0
    else:
        changed = _parse_http_date(headers.get("last-modified"))
        lifetime_s = (date - changed) * heuristic_share if date is not None and changed is not None else 0.0
    age = headers.get("age", "")  # in other caches
    age_s = float(age) if age.isdigit() and len(age) < 12 else 0.0
    return max(0.0, min(max_age_s, lifetime_s - age_s))


def _parse_http_date(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp() if value else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def build_conditions(etag: str, last_modified: str) -> dict[str, str]:
    """Return the headers that request the body only if it has changed."""
    headers = {"if-none-match": etag, "if-modified-since": last_modified}
    return {name: value for name, value in headers.items() if value}
