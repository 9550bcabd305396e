"""Fetch a page's bytes politely, with retries, within a deadline."""

import random
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.http import HttpClient, HttpResponse, RequestLimits
from outrider.core.rate_limiter import RateLimiter
from outrider.core.semaphores import SharedSemaphores
from outrider.pages.fetching.failures import RETRIED_CODES, TRANSIENT_STATUSES, classify_failure


@dataclass
class SiteTurns:
    """The slots of one host, and how many tasks use or await them."""

    slots: anyio.Semaphore
    users: int = field(default=0)


class Politeness:
    """Limit the rate and concurrency of requests to each host.

    Processes that share a database share the limits.

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


@dataclass(frozen=True)
class PageFetcher:
    """Fetch addresses.

    Args:
        http: The client.
        politeness: Limits requests for each host.
        attempts: How often to try when a server has an error.
        user_agent: Sent instead of the client's own.
        clock: Returns the time in seconds since the epoch.
        sleep: Waits for seconds.
    """

    http: HttpClient
    politeness: Politeness
    attempts: int
    user_agent: str | None
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]

    async def fetch(
        self, url: str, *, deadline: float, max_body_bytes: int, headers: Mapping[str, str], cut: bool = True
    ) -> HttpResponse:
        """Fetch a page's body, or status 304 if `headers` makes the request conditional.

        Args:
            url: The address.
            deadline: On anyio's clock. No delay goes beyond it.
            max_body_bytes: Limit of the body.
            headers: Conditions, for instance.
            cut: Whether to cut a longer body. Otherwise it is an error.

        Raises:
            NotFound, Refused, Unavailable: See `classify_failure` and the client.
        """
        # Without text/markdown: a site's Markdown is asked for by `SiteMarkdown`, which compares it with the page.
        all_headers = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"} | dict(headers)
        if self.user_agent:
            all_headers["user-agent"] = self.user_agent
        for attempt in range(1, self.attempts + 1):
            try:
                async with self.politeness.acquire_turn(url):
                    seconds_left = max(0.001, deadline - anyio.current_time())
                    limits = RequestLimits(timeout_s=seconds_left, max_body_bytes=max_body_bytes)
                    reply = await self.http.request("GET", url, headers=all_headers, limits=limits, cut=cut)
                is_conditional = "if-none-match" in headers or "if-modified-since" in headers
                failure = None if reply.status == 304 and is_conditional else classify_failure(reply, self.clock())
                if failure is None:
                    return reply
                raise failure
            except Unavailable as error:
                delay_s = self._get_retry_delay(error, attempt)
                if delay_s is None or anyio.current_time() + delay_s >= deadline:
                    raise
            await self.sleep(delay_s)
        raise AssertionError("unreachable")

    def _get_retry_delay(self, error: OutriderError, attempt: int) -> float | None:
        """Return the seconds before the next attempt, or None if there should be none."""
        max_delay_s = 15.0  # if a server asks for more, the caller decides
        first_delay_s = 0.5  # doubled for each further attempt, with jitter
        is_transient = error.details.get("status") in TRANSIENT_STATUSES and error.code != "blocked_by_site"
        if attempt >= self.attempts or not (is_transient or error.code in RETRIED_CODES):
            return None
        if error.retry_after is not None:
            return error.retry_after + random.uniform(0, 0.1) if error.retry_after <= max_delay_s else None
        return random.uniform(0.1, 1) * first_delay_s * 2 ** (attempt - 1)
