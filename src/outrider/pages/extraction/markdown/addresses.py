"""Resolve the addresses of a page's links and images, each once."""

import re

from outrider.pages.urls import URL_ORIGIN, resolve_url

UNSAFE_URL_CHAR = re.compile(r"[^A-Za-z0-9_.:/@!$&'*+,;=%\[\]-]")  # a query, a fragment, a character to escape
HTTP_ORIGIN = re.compile(r"(?i:https?)://[A-Za-z0-9_.-]+(?::\d+)?", re.ASCII)


class UrlResolver(dict[str, str]):
    """Absolute addresses by addresses as written, "" for those that a reader cannot follow.

    Args:
        base: What relative addresses start from.
    """

    __slots__ = ("_base", "_origin", "_origins")

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self._origins = set[str]()
        origin = URL_ORIGIN.match(base)
        self._origin = origin[0] if origin else ""

    def __missing__(self, address: str) -> str:
        max_simple_chars = 500
        max_urls = 20_000  # in memory
        if len(self) > max_urls:
            self.clear()
        url = ""
        # Most addresses need neither resolving nor escaping.
        if UNSAFE_URL_CHAR.search(address) is None and "/." not in address and len(address) < max_simple_chars:
            if address[:1] != "/":
                path_start = address.find("/", 8)
                origin = address[:path_start] if path_start > 0 else address
                if origin not in self._origins and HTTP_ORIGIN.fullmatch(origin):
                    self._origins.add(origin)
                url = address if origin in self._origins else ""
            elif self._origin and address[1:2] != "/":
                url = self._origin + address
        url = self[address] = url or resolve_url(address, self._base)
        return url
