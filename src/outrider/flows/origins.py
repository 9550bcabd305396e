"""Compare addresses with the sites that a flow names."""

from collections.abc import Sequence
from urllib.parse import urlsplit


def read_origin(url: str) -> str:
    """Return scheme, host and port of an address; empty if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower() if parts.netloc else ""


def is_named_origin(url: str, origins: Sequence[str]) -> bool:
    """Return whether an address is on one of the sites."""
    origin = read_origin(url)
    return bool(origin) and origin in {read_origin(each) or each.rstrip("/").lower() for each in origins}
