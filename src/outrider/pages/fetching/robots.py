"""Check robots.txt (RFC 9309), fetched once a day for each host."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from protego import Protego

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.http import HttpClient, RequestLimits


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one origin. Without rules, `allows_all` decides, because of `error`."""

    rules: Any
    allows_all: bool
    expires_at: float
    error: str = ""


class RobotsPolicy:
    """Check addresses against their host's robots.txt.

    Args:
        http: The client.
        agent: The product token to look up rules by.
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, http: HttpClient, agent: str = "Outrider", *, clock: Callable[[], float] = time.time) -> None:
        self._http = http
        self._agent = agent
        self._clock = clock
        self._cached_rules: OrderedDict[str, RobotsRules] = OrderedDict()

    async def check_allowed(self, url: str) -> None:
        """Check whether the host's robots.txt allows this address.

        Raises:
            Refused: With code `robots`, if it does not.
            Unavailable: With code `robots`, if it cannot be read.
        """
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return
        rules = await self._load_rules(f"{parts.scheme}://{parts.netloc}")
        allowed = rules.rules.can_fetch(url, self._agent) if rules.rules is not None else rules.allows_all
        if not allowed:
            reason = f"is unreachable: {rules.error}" if rules.error else f"forbids {self._agent} to read {parts.path}"
            raise (Unavailable if rules.error else Refused)(
                f"{parts.netloc}'s robots.txt {reason}",
                code="robots",
                hint=f"{'try later' if rules.error else 'choose another source'}, or have an operator set pages.robots "
                "to crawls, which binds only crawls, or to ignore",
            )

    async def list_sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps that the host's robots.txt names."""
        rules = (await self._load_rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return [urljoin(url, each) for each in rules.sitemaps] if rules is not None else []

    async def get_crawl_delay(self, url: str) -> float:
        """Return the seconds that the host asks for between two requests, 0 if it does not say."""
        rules = (await self._load_rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return float(rules.crawl_delay(self._agent) or 0) if rules is not None else 0.0

    async def _load_rules(self, origin: str) -> RobotsRules:
        max_origins = 1_000
        rules = self._cached_rules.get(origin)
        if rules is None or rules.expires_at <= self._clock():
            rules = await self._fetch_rules(origin)
        self._cached_rules[origin] = rules
        self._cached_rules.move_to_end(origin)
        while len(self._cached_rules) > max_origins:
            self._cached_rules.popitem(last=False)
        return rules

    async def _fetch_rules(self, origin: str) -> RobotsRules:
        """Fetch an origin's rules. A missing file allows everything, an unreachable one nothing (section 2.3.1)."""
        timeout_s = 10.0
        error_ttl_s = 600.0
        rules_ttl_s = 86_400.0  # section 2.4
        max_redirects = 5  # section 2.3.1.2
        max_body_bytes = 500 * 1024  # the least that a crawler must read (section 2.5)
        limits = RequestLimits(timeout_s=timeout_s, max_body_bytes=max_body_bytes, max_redirects=max_redirects)
        try:
            reply = await self._http.get(f"{origin}/robots.txt", limits=limits, cut=True)
        except OutriderError as error:
            if error.code == "egress":  # the page itself is forbidden, too
                raise
            # More than five redirects may be treated as a missing file.
            return RobotsRules(None, error.code == "redirects", self._clock() + error_ttl_s, error=error.message)
        if reply.status >= 500 or reply.status == 429:
            status = f"HTTP {reply.status}"
            return RobotsRules(None, allows_all=False, expires_at=self._clock() + error_ttl_s, error=status)
        if not 200 <= reply.status < 300:
            return RobotsRules(None, allows_all=True, expires_at=self._clock() + rules_ttl_s)

        text = reply.body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return RobotsRules(Protego.parse(text), allows_all=True, expires_at=self._clock() + rules_ttl_s)
