"""How hard one host may be asked: so many requests a second, so many at a time."""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

HOSTS = 500


@dataclass
class Host:
    """The turns of one host."""

    limiter: "AsyncLimiter"
    places: anyio.Semaphore
    users: int = field(default=0)


class Politeness:
    """Turns for every host.

    Args:
        rate: Requests in a second.
        concurrency: Requests at the same time.
    """

    def __init__(self, rate: float, concurrency: int) -> None:
        self._rate = rate
        self._concurrency = concurrency
        self._hosts: OrderedDict[str, Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncGenerator[None]:
        """Waits for this host's turn and holds it."""
        host = self._host(urlsplit(url).netloc)
        host.users += 1
        try:
            async with host.places:
                await host.limiter.acquire()
                yield
        finally:
            host.users -= 1

    def _host(self, name: str) -> Host:
        if name not in self._hosts:
            from aiolimiter import AsyncLimiter

            # A bucket of one second's worth; slower rates let one request through at a time.
            limiter = AsyncLimiter(max(1.0, self._rate), max(1.0, self._rate) / self._rate)
            self._hosts[name] = Host(limiter, anyio.Semaphore(self._concurrency))
        self._hosts.move_to_end(name)
        idle = [key for key, host in self._hosts.items() if not host.users][: max(0, len(self._hosts) - HOSTS)]
        for key in idle:
            if key != name:
                del self._hosts[key]
        return self._hosts[name]
