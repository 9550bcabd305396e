"""Compare addresses with the sites that a flow names."""

from collections.abc import Sequence
from typing import Annotated

from ada_url import URL
from pydantic import AfterValidator


def read_origin(url: str) -> str:
    """Return scheme, host and port of an address as browsers read it; empty if it has none."""
    try:
        origin = URL(url).origin
    except ValueError:
        return ""
    return "" if origin == "null" else origin


def is_named_origin(url: str, origins: Sequence[str]) -> bool:
    """Return whether an address is on one of the sites."""
    origin = read_origin(url)
    return bool(origin) and origin in map(read_origin, origins)


def normalize_site(text: str) -> str:
    """Return a site's scheme, host and port, the form to show people. Raises ValueError."""
    if origin := read_origin(text):
        return origin
    raise ValueError(f"{text[:100]!r} is not a site; write it as https://host")


Site = Annotated[str, AfterValidator(normalize_site)]
