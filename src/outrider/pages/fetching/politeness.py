"""How hard one host may be asked: so many requests a second, so many at a time, over all that share a Postgres."""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio

from outrider.core.db import Database
from outrider.core.places import Places
from outrider.core.rates import Rates

HOSTS = 500
DAY = 86_400.0  # seconds; who is impatient gives up by himself


@dataclass
class Host:
    """The turns of one host."""

    places: anyio.Semaphore
    users: int = field(default=0)


class Politeness:
    """Turns for every host.

    Args:
        rate: Requests in a second.
        concurrency: Requests at the same time.
        database: What processes share; None counts in this process alone.
    """

    def __init__(self, rate: float, concurrency: int, database: Database | None = None) -> None:
        self._rates = Rates(database)
        self._shared = Places(database, concurrency)
        self._rate = rate
        self._concurrency = concurrency
        self._hosts: OrderedDict[str, Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncGenerator[None]:
        """Waits for this host's turn and holds it."""
        name = urlsplit(url).netloc
        host = self._host(name)
        host.users += 1
        try:
            async with host.places, self._shared.place(f"host {name}"):
                # A bucket of one second's worth; slower rates let one request through at a time.
                await self._rates.turn(f"host {name}", self._rate, 1.0, patience=DAY)
                yield
        finally:
            host.users -= 1

    def _host(self, name: str) -> Host:
        if name not in self._hosts:
            self._hosts[name] = Host(anyio.Semaphore(self._concurrency))
        self._hosts.move_to_end(name)
        idle = [key for key, host in self._hosts.items() if not host.users][: max(0, len(self._hosts) - HOSTS)]
        for key in idle:
            if key != name:
                del self._hosts[key]
        return self._hosts[name]
