"""Limit the rate and concurrency of requests to each host, across processes that share a database."""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio

from outrider.core.database.database import Database
from outrider.core.rate_limiter import RateLimiter
from outrider.core.semaphores import SharedSemaphores


@dataclass
class SiteTurns:
    """The slots of one host, and how many tasks use or await them."""

    slots: anyio.Semaphore
    users: int = field(default=0)


class Politeness:
    """Limit requests for each host.

    Args:
        rate: Requests per second.
        concurrency: Requests at the same time.
        database: Shared by processes. None counts in this process alone.
    """

    def __init__(self, rate: float, concurrency: int, database: Database | None = None) -> None:
        self._rates = RateLimiter(database)
        self._shared = SharedSemaphores(database, concurrency)
        self._rate = rate
        self._concurrency = concurrency
        self._sites: OrderedDict[str, SiteTurns] = OrderedDict()

    @asynccontextmanager
    async def acquire_turn(self, url: str) -> AsyncGenerator[None]:
        """Wait for a turn with this address's host, and hold it."""
        max_wait_s = 86_400.0  # callers cancel at their own deadline
        name = urlsplit(url).netloc
        max_sites = 500
        if name not in self._sites:
            self._sites[name] = SiteTurns(anyio.Semaphore(self._concurrency))
        self._sites.move_to_end(name)
        idle = [key for key, host in self._sites.items() if not host.users][: max(0, len(self._sites) - max_sites)]
        for key in idle:
            if key != name:
                del self._sites[key]
        host = self._sites[name]
        host.users += 1
        try:
            async with host.slots, self._shared.acquire(f"host {name}"):
                # A bucket of one second's worth; slower rates let one request through at a time.
                await self._rates.acquire(f"host {name}", self._rate, 1.0, max_wait_s=max_wait_s)
                yield
        finally:
            host.users -= 1
