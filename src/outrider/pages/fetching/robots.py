"""robots.txt (RFC 9309), asked for once a day and host."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

from outrider.core.errors import OutriderError, Refused
from outrider.core.http import HttpClient, RequestLimits


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one origin; None allows (`True`) or forbids (`False`) everything, because of `error`."""

    rules: Any
    allows_all: bool
    expires_at: float
    error: str = ""


class RobotsPolicy:
    """Asks hosts what they want.

    Args:
        http: The client.
        agent: The product token that rules are looked up by.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, http: HttpClient, agent: str = "Outrider", *, clock: Callable[[], float] = time.time) -> None:
        self._http = http
        self._agent = agent
        self._clock = clock
        self._cached_rules: OrderedDict[str, RobotsRules] = OrderedDict()

    async def check_allowed(self, url: str) -> None:
        """Raises Refused with code `robots` if the host's robots.txt forbids the address to us."""
        operator_hint = ", or have an operator set pages.robots to ignore"
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return
        rules = await self._load_rules(f"{parts.scheme}://{parts.netloc}")
        allowed = rules.rules.can_fetch(url, self._agent) if rules.rules is not None else rules.allows_all
        if not allowed:
            forbids = f"does not let {self._agent} read {parts.path}"
            raise Refused(
                f"{parts.netloc}'s robots.txt {forbids if not rules.error else f'is out of reach: {rules.error}'}",
                code="robots",
                hint=f"{'try later' if rules.error else 'choose another source'}{operator_hint}",
            )

    async def list_sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the host's robots.txt names."""
        rules = (await self._load_rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return list(rules.sitemaps) if rules is not None else []

    async def get_crawl_delay(self, url: str) -> float:
        """Seconds that the host wants between two requests of ours; 0 if it does not say."""
        rules = (await self._load_rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return float(rules.crawl_delay(self._agent) or 0) if rules is not None else 0.0

    async def _load_rules(self, origin: str) -> RobotsRules:
        max_origins = 1_000
        known = self._cached_rules.get(origin)
        if known is None or known.expires_at <= self._clock():
            known = await self._fetch_rules(origin)
        self._cached_rules[origin] = known
        self._cached_rules.move_to_end(origin)
        while len(self._cached_rules) > max_origins:
            self._cached_rules.popitem(last=False)
        return known

    async def _fetch_rules(self, origin: str) -> RobotsRules:
        """Section 2.3.1: what is missing allows everything, what is out of reach forbids everything."""
        timeout_s = 10.0
        error_ttl_s = 600.0  # how long a host that gives no answer counts as saying no
        rules_ttl_s = 86_400.0  # section 2.4: not kept for longer
        max_redirects = 5  # section 2.3.1.2
        max_body_bytes = 500 * 1024  # bytes that a crawler must read at least, and that we read at most (section 2.5)
        limits = RequestLimits(timeout_s=timeout_s, max_body_bytes=max_body_bytes, max_redirects=max_redirects)
        try:
            reply = await self._http.get(f"{origin}/robots.txt", limits=limits, cut=True)
        except OutriderError as error:
            if error.code == "egress":  # the page itself may not be asked for, either
                raise
            # More redirects than five may be taken for a missing file.
            return RobotsRules(None, error.code == "redirects", self._clock() + error_ttl_s, error=error.message)
        if reply.status >= 500 or reply.status == 429:
            trouble = f"HTTP {reply.status}"
            return RobotsRules(None, allows_all=False, expires_at=self._clock() + error_ttl_s, error=trouble)
        if not 200 <= reply.status < 300:
            return RobotsRules(None, allows_all=True, expires_at=self._clock() + rules_ttl_s)

        text = reply.body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return RobotsRules(Protego.parse(text), allows_all=True, expires_at=self._clock() + rules_ttl_s)
