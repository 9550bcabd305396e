"""Recognize the browser's own requests, whose failures do not matter."""

import re
from urllib.parse import urlsplit

# Browsers request an icon even if the page names none; DevTools requests the other path.
OWN_REQUEST_PATTERN = re.compile(
    r"/favicon[\w.-]*\.(?:ico|png|svg|gif)$|/apple-touch-icon[\w-]*\.png$|^/\.well-known/appspecific/", re.IGNORECASE
)


def is_own_request(url: str) -> bool:
    """Return whether browsers request this URL on their own, without the page asking."""
    try:
        return OWN_REQUEST_PATTERN.search(urlsplit(url).path) is not None
    except ValueError:
        return False
