"""The addresses that a page's links and pictures bear, made absolute, each once."""

import re

from outrider.pages.urls import URL_ORIGIN, resolve_url

UNSAFE_URL_CHAR = re.compile(r"[^A-Za-z0-9_.:/@!$&'*+,;=%\[\]-]")  # a query, a place, what is to be escaped
HTTP_ORIGIN = re.compile(r"(?i:https?)://[A-Za-z0-9_.-]+(?::\d+)?", re.ASCII)


class UrlResolver(dict[str, str]):
    """Of addresses as they are written the absolute ones, empty for what is none that a reader may follow.

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
        """The usual ones, with nothing to resolve or to escape, take the short way."""
        max_simple_chars = 500  # characters; what is longer takes the long way
        max_urls = 20_000  # that are remembered
        if len(self) > max_urls:
            self.clear()
        found = ""
        if UNSAFE_URL_CHAR.search(address) is None and "/." not in address and len(address) < max_simple_chars:
            if address[:1] != "/":
                found = address if self._is_absolute(address) else ""
            elif self._origin and address[1:2] != "/":
                found = self._origin + address
        found = self[address] = found or resolve_url(address, self._base)
        return found

    def _is_absolute(self, address: str) -> bool:
        host = address[:found] if (found := address.find("/", 8)) > 0 else address
        if host not in self._origins:
            if not HTTP_ORIGIN.fullmatch(host):
                return False
            self._origins.add(host)
        return True
