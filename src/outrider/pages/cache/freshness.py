"""How long an answer may be used again (RFC 9111), and how to ask whether it has changed (RFC 9110 section 13)."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def parse_cache_control(headers: Mapping[str, str]) -> dict[str, str]:
    """The Cache-Control directives by lower-case name."""
    parts = (part.partition("=") for part in headers.get("cache-control", "").lower().split(","))
    return {name.strip(): value.strip(' "') for name, _, value in parts if name.strip()}


def is_storable(headers: Mapping[str, str]) -> bool:
    """Whether the answer may be kept at all. Ours is a private cache: `private` does not matter."""
    return "no-store" not in parse_cache_control(headers) and headers.get("vary", "").strip() != "*"


def compute_lifetime(headers: Mapping[str, str], max_age_s: float) -> float:
    """For how many seconds the answer is fresh, by the server's word; at most `max_age_s`."""
    said = parse_cache_control(headers)
    if "no-cache" in said:
        return 0.0
    return max(0.0, min(max_age_s, _compute_server_lifetime(headers, said) - _parse_age(headers)))


def _compute_server_lifetime(headers: Mapping[str, str], directives: Mapping[str, str]) -> float:
    heuristic_share = 0.1  # of the time since the last change (RFC 9111 section 4.2.2)
    age = directives.get("max-age", "")
    if age:
        return float(age) if age.isdigit() and len(age) < 12 else 0.0
    date = _parse_http_date(headers.get("date"))
    if "expires" in headers:
        expires = _parse_http_date(headers["expires"])
        return expires - date if expires is not None and date is not None else 0.0
    changed = _parse_http_date(headers.get("last-modified"))
    return (date - changed) * heuristic_share if date is not None and changed is not None else 0.0


def _parse_age(headers: Mapping[str, str]) -> float:
    """The time that the answer has already spent in other caches."""
    age = headers.get("age", "")
    return float(age) if age.isdigit() and len(age) < 12 else 0.0


def _parse_http_date(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp() if value else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def build_conditions(etag: str, last_modified: str) -> dict[str, str]:
    """The request headers that ask for the body only if it has changed."""
    given = {"if-none-match": etag, "if-modified-since": last_modified}
    return {name: value for name, value in given.items() if value}
