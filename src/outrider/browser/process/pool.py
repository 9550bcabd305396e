"""Several browsers elsewhere: each new session goes to the one with the fewest, and one that fails is left out a while.

A session stays where it began. When its browser is lost, it says so, with its address; reopened, it goes to another
browser of the pool, with what its sites had stored.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from outrider.browser.process.attach import AttachedBrowser, attach_to_url
from outrider.browser.protocol.cdp import ProtocolError
from outrider.core.egress import EgressGuard
from outrider.core.errors import OutriderError, Unavailable

log = logging.getLogger(__name__)
ANSWER_TIMEOUT_S = 5.0  # seconds that an answer may take
RETRY_DELAYS_S = (1.0, 2.0, 5.0, 10.0, 30.0)  # seconds that one is left out after so many failures in a row


@dataclass
class PooledBrowser:
    """One browser of the pool.

    Attributes:
        url: Its address, which may hold a secret.
        attached: The connection to it; None while it is left out or not yet needed.
        failures: In a row.
        retry_at: When it is tried again, by the monotonic clock.
    """

    url: str
    attached: AttachedBrowser | None = None
    failures: int = 0
    retry_at: float = 0.0
    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def name(self) -> str:
        """Its host and port, which are no secret."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def is_up(self) -> bool:
        return self.attached is not None and self.attached.connection.lost is None

    @property
    def session_count(self) -> int:
        return len(self.attached.browser.owners) + self.attached.reserved_sessions if self.attached else 0


class BrowserPool:
    """Browsers that somebody else runs.

    Args:
        urls: Where they are.
        guard: Lets connections out.
    """

    def __init__(self, urls: Sequence[str], guard: EgressGuard) -> None:
        self._members = [PooledBrowser(url) for url in urls]
        self._guard = guard
        self._maintenance_task: asyncio.Task[None] | None = None
        self._closing: list[AttachedBrowser] = []

    @property
    def running(self) -> list[AttachedBrowser]:
        """Those that are connected."""
        return [each.attached for each in self._members if each.attached is not None and each.is_up]

    async def acquire_browser(self) -> AttachedBrowser:
        """The browser with the fewest sessions of ours. Raises Unavailable when none can be reached."""
        if self._maintenance_task is None:
            self._maintenance_task = asyncio.get_running_loop().create_task(self._run_maintenance())
        await asyncio.gather(*(self._connect_member(each) for each in self._list_due()))
        up = [each for each in self._members if each.is_up]
        if not up:
            names = ", ".join(each.name for each in self._members)
            message = f"none of the {len(self._members)} browsers of browser.cdp_urls can be reached: {names}"
            hint = "call again in a moment; an operator should look at them"
            raise Unavailable(message, code="no_browser", hint=hint, retry_after=RETRY_DELAYS_S[0])
        best = min(up, key=lambda each: each.session_count).attached
        assert best is not None
        best.reserve_session()
        return best

    async def aclose(self) -> None:
        """Lets them all go; they stay open."""
        if self._maintenance_task is not None:
            self._maintenance_task.cancel()
            await asyncio.gather(self._maintenance_task, return_exceptions=True)
        for each in self._members:
            self._drop_connection(each)
        gone, self._closing = self._closing, []
        await asyncio.gather(*(each.aclose() for each in gone), return_exceptions=True)

    def _list_due(self) -> list[PooledBrowser]:
        now = time.monotonic()
        return [each for each in self._members if not each.is_up and each.retry_at <= now]

    async def _connect_member(self, member: PooledBrowser) -> None:
        async with member.connecting:
            if member.is_up:
                return
            self._drop_connection(member)
            try:
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    member.attached = await attach_to_url(member.url, self._guard)
                member.failures = 0
            except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
                self._handle_failure(member, error)

    async def _run_maintenance(self) -> None:
        """Looks again and again who answers, and brings back who does again."""
        check_interval_s = 5.0  # seconds between two looks at whether they answer
        while True:
            await asyncio.sleep(min(check_interval_s, RETRY_DELAYS_S[0]))
            await asyncio.gather(*(self._probe_member(each) for each in self._members if each.is_up))
            await asyncio.gather(*(self._connect_member(each) for each in self._list_due()))
            gone, self._closing = self._closing, []
            for each in gone:
                with suppress(OutriderError):
                    await each.aclose()

    async def _probe_member(self, member: PooledBrowser) -> None:
        assert member.attached is not None
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await member.attached.connection.send("Browser.getVersion")
        except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
            self._handle_failure(member, error)

    def _handle_failure(self, member: PooledBrowser, error: Exception) -> None:
        self._drop_connection(member)
        pause = RETRY_DELAYS_S[min(member.failures, len(RETRY_DELAYS_S) - 1)]
        member.failures += 1
        member.retry_at = time.monotonic() + pause
        log.warning("the browser at %s is left out for %g seconds: %s", member.name, pause, type(error).__name__)

    def _drop_connection(self, member: PooledBrowser) -> None:
        if member.attached is not None:
            self._closing.append(member.attached)
            member.attached = None
