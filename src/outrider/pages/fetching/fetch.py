"""Getting a page's bytes: politely, again if its server is in trouble, and within the deadline."""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import anyio

from outrider.core.errors import OutriderError, Unavailable
from outrider.core.http import HttpClient, HttpResponse, RequestLimits
from outrider.pages.fetching.failures import RETRIED_CODES, TRANSIENT_STATUSES, classify_failure
from outrider.pages.fetching.politeness import Politeness


@dataclass(frozen=True)
class PageFetcher:
    """Asks for addresses.

    Args:
        http: The client.
        politeness: Whose turn it is.
        attempts: How often to ask a server in trouble.
        user_agent: Sent instead of the client's own.
        clock: The time in seconds since the epoch.
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
        """The reply with a page's body, or 304 if `headers` asked for changes only.

        Args:
            url: The address.
            deadline: On anyio's clock; nothing is waited for beyond it.
            max_body_bytes: Bytes of the body.
            headers: Conditions, for instance.
            cut: Whether a longer body is cut; else it is an error.

        Raises:
            NotFound, Refused, Unavailable: as `failures.failure` and the client name them.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return await self._fetch_once(url, deadline, max_body_bytes, headers, cut=cut)
            except Unavailable as error:
                pause = self._get_retry_delay(error, attempt)
                if pause is None or anyio.current_time() + pause >= deadline:
                    raise
            await self.sleep(pause)
        raise AssertionError("unreachable")

    async def _fetch_once(
        self, url: str, deadline: float, max_body_bytes: int, headers: Mapping[str, str], *, cut: bool
    ) -> HttpResponse:
        accept = "text/html,application/xhtml+xml,application/xml;q=0.9,text/markdown;q=0.9,*/*;q=0.8"
        given = {"accept": accept} | dict(headers)
        if self.user_agent:
            given["user-agent"] = self.user_agent
        async with self.politeness.acquire_turn(url):
            limits = RequestLimits(timeout_s=max(0.001, deadline - anyio.current_time()), max_body_bytes=max_body_bytes)
            reply = await self.http.get(url, headers=given, limits=limits, cut=cut)
        error = None if reply.status == 304 and _conditional(headers) else classify_failure(reply, self.clock())
        if error:
            raise error
        return reply

    def _get_retry_delay(self, error: OutriderError, attempt: int) -> float | None:
        """How long to wait before the next attempt; None if there should be none."""
        max_delay_s = 15.0  # what a server asks for beyond this is told to the caller instead of waited for
        first_delay_s = 0.5  # seconds before the second attempt; doubled for each further one, with full jitter
        transient = error.details.get("status") in TRANSIENT_STATUSES and error.code != "blocked_by_site"
        if attempt >= self.attempts or not (transient or error.code in RETRIED_CODES):
            return None
        if error.retry_after is not None:
            return error.retry_after + random.uniform(0, 0.1) if error.retry_after <= max_delay_s else None
        return random.uniform(0.1, 1) * first_delay_s * 2 ** (attempt - 1)


def _conditional(headers: Mapping[str, str]) -> bool:
    return "if-none-match" in headers or "if-modified-since" in headers
