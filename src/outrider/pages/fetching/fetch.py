"""Fetch a page's bytes politely, with retries, within a deadline."""

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
        for attempt in range(1, self.attempts + 1):
            try:
                return await self._fetch_once(url, deadline, max_body_bytes, headers, cut=cut)
            except Unavailable as error:
                delay_s = self._get_retry_delay(error, attempt)
                if delay_s is None or anyio.current_time() + delay_s >= deadline:
                    raise
            await self.sleep(delay_s)
        raise AssertionError("unreachable")

    async def _fetch_once(
        self, url: str, deadline: float, max_body_bytes: int, headers: Mapping[str, str], *, cut: bool
    ) -> HttpResponse:
        # Without text/markdown: a site's Markdown is asked for by `SiteMarkdown`, which compares it with the page.
        accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        all_headers = {"accept": accept} | dict(headers)
        if self.user_agent:
            all_headers["user-agent"] = self.user_agent
        async with self.politeness.acquire_turn(url):
            limits = RequestLimits(timeout_s=max(0.001, deadline - anyio.current_time()), max_body_bytes=max_body_bytes)
            reply = await self.http.get(url, headers=all_headers, limits=limits, cut=cut)
        is_conditional = "if-none-match" in headers or "if-modified-since" in headers
        if reply.status == 304 and is_conditional:
            return reply
        if error := classify_failure(reply, self.clock()):
            raise error
        return reply

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
