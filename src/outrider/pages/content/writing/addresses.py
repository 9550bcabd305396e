"""The addresses that a page's links and pictures bear, made absolute, each once."""

import re

from outrider.pages.address import ORIGIN, absolute

MOST = 20_000  # that are remembered
LONG = 500  # characters; what is longer takes the long way
ODD = re.compile(r"[^A-Za-z0-9_.:/@!$&'*+,;=%\[\]-]")  # a query, a place, what is to be escaped
HOST = re.compile(r"(?i:https?)://[A-Za-z0-9_.-]+(?::\d+)?", re.ASCII)


class Addresses(dict[str, str]):
    """Of addresses as they are written the absolute ones, empty for what is none that a reader may follow.

    Args:
        base: What relative addresses start from.
    """

    __slots__ = ("_base", "_hosts", "_origin")

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self._hosts = set[str]()
        origin = ORIGIN.match(base)
        self._origin = origin[0] if origin else ""

    def __missing__(self, address: str) -> str:
        """The usual ones, with nothing to resolve or to escape, take the short way."""
        if len(self) > MOST:
            self.clear()
        found = ""
        if ODD.search(address) is None and "/." not in address and len(address) < LONG:
            if address[:1] != "/":
                found = address if self._is_whole(address) else ""
            elif self._origin and address[1:2] != "/":
                found = self._origin + address
        found = self[address] = found or absolute(address, self._base)
        return found

    def _is_whole(self, address: str) -> bool:
        host = address[:found] if (found := address.find("/", 8)) > 0 else address
        if host not in self._hosts:
            if not HOST.fullmatch(host):
                return False
            self._hosts.add(host)
        return True
