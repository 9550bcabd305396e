"""How hard one host may be asked: so many requests a second, so many at a time, over all that share a Postgres."""

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
    """The turns of one host."""

    slots: anyio.Semaphore
    users: int = field(default=0)


class Politeness:
    """Turns for every host.

    Args:
        rate: Requests in a second.
        concurrency: Requests at the same time.
        database: What processes share; None counts in this process alone.
    """

    def __init__(self, rate: float, concurrency: int, database: Database | None = None) -> None:
        self._rates = RateLimiter(database)
        self._shared = SharedSemaphores(database, concurrency)
        self._rate = rate
        self._concurrency = concurrency
        self._sites: OrderedDict[str, SiteTurns] = OrderedDict()

    @asynccontextmanager
    async def acquire_turn(self, url: str) -> AsyncGenerator[None]:
        """Waits for this host's turn and holds it."""
        patience_s = 86_400.0  # seconds; who is impatient gives up by himself
        name = urlsplit(url).netloc
        host = self._get_site(name)
        host.users += 1
        try:
            async with host.slots, self._shared.acquire(f"host {name}"):
                # A bucket of one second's worth; slower rates let one request through at a time.
                await self._rates.acquire(f"host {name}", self._rate, 1.0, max_wait_s=patience_s)
                yield
        finally:
            host.users -= 1

    def _get_site(self, name: str) -> SiteTurns:
        max_sites = 500
        if name not in self._sites:
            self._sites[name] = SiteTurns(anyio.Semaphore(self._concurrency))
        self._sites.move_to_end(name)
        idle = [key for key, host in self._sites.items() if not host.users][: max(0, len(self._sites) - max_sites)]
        for key in idle:
            if key != name:
                del self._sites[key]
        return self._sites[name]
