"""robots.txt (RFC 9309), asked for once a day and host."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

from outrider.core.errors import OutriderError, Refused
from outrider.core.http import Http, Limits

SIZE = 500 * 1024  # bytes that a crawler must read at least, and that we read at most (section 2.5)
REDIRECTS = 5  # section 2.3.1.2
DAY = 86_400.0  # section 2.4: not kept for longer
TROUBLE = 600.0  # how long a host that gives no answer counts as saying no
SECONDS = 10.0
HOSTS = 1_000
OPERATOR = ", or have an operator set pages.robots to ignore"


@dataclass(frozen=True)
class Rules:
    """The rules of one origin; None allows (`True`) or forbids (`False`) everything, because of `trouble`."""

    rules: Any
    everything: bool
    until: float
    trouble: str = ""


class RobotsPolicy:
    """Asks hosts what they want.

    Args:
        http: The client.
        agent: The product token that rules are looked up by.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, http: Http, agent: str = "Outrider", *, clock: Callable[[], float] = time.time) -> None:
        self._http = http
        self._agent = agent
        self._clock = clock
        self._known: OrderedDict[str, Rules] = OrderedDict()

    async def check(self, url: str) -> None:
        """Raises Refused with code `robots` if the host's robots.txt forbids the address to us."""
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return
        rules = await self._rules(f"{parts.scheme}://{parts.netloc}")
        allowed = rules.rules.can_fetch(url, self._agent) if rules.rules is not None else rules.everything
        if not allowed:
            forbids = f"does not let {self._agent} read {parts.path}"
            raise Refused(
                f"{parts.netloc}'s robots.txt {forbids if not rules.trouble else f'is out of reach: {rules.trouble}'}",
                code="robots",
                hint=f"{'try later' if rules.trouble else 'choose another source'}{OPERATOR}",
            )

    async def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the host's robots.txt names."""
        rules = (await self._rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return list(rules.sitemaps) if rules is not None else []

    async def delay(self, url: str) -> float:
        """Seconds that the host wants between two requests of ours; 0 if it does not say."""
        rules = (await self._rules("{0.scheme}://{0.netloc}".format(urlsplit(url)))).rules
        return float(rules.crawl_delay(self._agent) or 0) if rules is not None else 0.0

    async def _rules(self, origin: str) -> Rules:
        known = self._known.get(origin)
        if known is None or known.until <= self._clock():
            known = await self._fetched(origin)
        self._known[origin] = known
        self._known.move_to_end(origin)
        while len(self._known) > HOSTS:
            self._known.popitem(last=False)
        return known

    async def _fetched(self, origin: str) -> Rules:
        """Section 2.3.1: what is missing allows everything, what is out of reach forbids everything."""
        limits = Limits(seconds=SECONDS, body=SIZE, redirects=REDIRECTS)
        try:
            reply = await self._http.get(f"{origin}/robots.txt", limits=limits, cut=True)
        except OutriderError as error:
            if error.code == "egress":  # the page itself may not be asked for, either
                raise
            # More redirects than five may be taken for a missing file.
            return Rules(None, error.code == "redirects", self._clock() + TROUBLE, trouble=error.message)
        if reply.status >= 500 or reply.status == 429:
            trouble = f"HTTP {reply.status}"
            return Rules(None, everything=False, until=self._clock() + TROUBLE, trouble=trouble)
        if not 200 <= reply.status < 300:
            return Rules(None, everything=True, until=self._clock() + DAY)

        text = reply.body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return Rules(Protego.parse(text), everything=True, until=self._clock() + DAY)
