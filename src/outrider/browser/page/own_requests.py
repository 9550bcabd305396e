"""Recognize requests that the browser makes on its own account, whose failure is not an error of the page."""

import re
from urllib.parse import urlsplit

# Browsers ask for an icon even where the page names none; DevTools asks for the other.
OWN_REQUEST_PATTERN = re.compile(
    r"/favicon[\w.-]*\.(?:ico|png|svg|gif)$|/apple-touch-icon[\w-]*\.png$|^/\.well-known/appspecific/", re.IGNORECASE
)


def is_own_request(url: str) -> bool:
    """Return whether browsers request this URL on their own, without the page asking."""
    try:
        return OWN_REQUEST_PATTERN.search(urlsplit(url).path) is not None
    except ValueError:
        return False
