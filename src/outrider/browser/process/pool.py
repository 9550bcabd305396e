"""Distribute sessions over several attached browsers and leave out those that fail.

A new session goes to the browser with the fewest and stays there. When its browser is lost, its calls fail with
its address; reopened, it moves to another browser of the pool with its cookies and storage.
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
PROBE_TIMEOUT_S = 5.0
RETRY_DELAYS_S = (1.0, 2.0, 5.0, 10.0, 30.0)  # after the first, second … failure in a row


@dataclass
class PooledBrowser:
    """One browser of the pool.

    Attributes:
        url: Its address, which may contain a secret.
        attached: The connection; None while it is left out or not needed yet.
        failures: The number of failures in a row.
        retry_at: When it is tried again, by `time.monotonic`.
    """

    url: str
    attached: AttachedBrowser | None = None
    failures: int = 0
    retry_at: float = 0.0
    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def name(self) -> str:
        """Its host and port, without secrets."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def is_up(self) -> bool:
        return self.attached is not None and self.attached.connection.lost is None

    @property
    def session_count(self) -> int:
        return len(self.attached.browser.owners) + self.attached.reserved_sessions if self.attached else 0


class BrowserPool:
    """Attached browsers that share the sessions.

    Args:
        urls: Their addresses.
        guard: Checks connections to them.
        own: Whether sessions open in their default contexts.
    """

    def __init__(self, urls: Sequence[str], guard: EgressGuard, *, own: bool = False) -> None:
        self._members = [PooledBrowser(url) for url in urls]
        self._guard = guard
        self._is_own = own
        self._maintenance_task: asyncio.Task[None] | None = None
        self._closing: list[AttachedBrowser] = []

    @property
    def running(self) -> list[AttachedBrowser]:
        """The browsers that are connected."""
        return [member.attached for member in self._members if member.attached is not None and member.is_up]

    async def acquire_browser(self) -> AttachedBrowser:
        """Return the browser with the fewest sessions. Raises Unavailable when none can be reached."""
        if self._maintenance_task is None:
            self._maintenance_task = asyncio.get_running_loop().create_task(self._run_maintenance())
        await asyncio.gather(*(self._connect_member(member) for member in self._list_due()))
        up = [member for member in self._members if member.is_up]
        if not up:
            names = ", ".join(member.name for member in self._members)
            message = f"none of the {len(self._members)} browsers in browser.cdp_urls can be reached: {names}"
            hint = "call again in a moment; an operator should check the browsers"
            raise Unavailable(message, code="no_browser", hint=hint, retry_after=RETRY_DELAYS_S[0])
        best = min(up, key=lambda member: member.session_count).attached
        assert best is not None
        best.reserve_session()
        return best

    async def aclose(self) -> None:
        """Disconnect from all browsers; they stay open."""
        if self._maintenance_task is not None:
            self._maintenance_task.cancel()
            await asyncio.gather(self._maintenance_task, return_exceptions=True)
        for member in self._members:
            self._drop_connection(member)
        dropped, self._closing = self._closing, []
        await asyncio.gather(*(browser.aclose() for browser in dropped), return_exceptions=True)

    def _list_due(self) -> list[PooledBrowser]:
        now = time.monotonic()
        return [member for member in self._members if not member.is_up and member.retry_at <= now]

    async def _connect_member(self, member: PooledBrowser) -> None:
        async with member.connecting:
            if member.is_up:
                return
            self._drop_connection(member)
            try:
                async with asyncio.timeout(PROBE_TIMEOUT_S):
                    member.attached = await attach_to_url(member.url, self._guard, own=self._is_own)
                member.failures = 0
            except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
                self._handle_failure(member, error)

    async def _run_maintenance(self) -> None:
        """Probe the connected browsers forever and reconnect the others when they are due."""
        while True:
            await asyncio.sleep(RETRY_DELAYS_S[0])
            await asyncio.gather(*(self._probe_member(member) for member in self._members if member.is_up))
            await asyncio.gather(*(self._connect_member(member) for member in self._list_due()))
            dropped, self._closing = self._closing, []
            for browser in dropped:
                with suppress(OutriderError):
                    await browser.aclose()

    async def _probe_member(self, member: PooledBrowser) -> None:
        assert member.attached is not None
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                await member.attached.connection.send("Browser.getVersion")
        except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
            self._handle_failure(member, error)

    def _handle_failure(self, member: PooledBrowser, error: Exception) -> None:
        self._drop_connection(member)
        delay_s = RETRY_DELAYS_S[min(member.failures, len(RETRY_DELAYS_S) - 1)]
        member.failures += 1
        member.retry_at = time.monotonic() + delay_s
        log.warning("the browser at %s failed, next attempt in %g s: %s", member.name, delay_s, type(error).__name__)

    def _drop_connection(self, member: PooledBrowser) -> None:
        if member.attached is not None:
            self._closing.append(member.attached)
            member.attached = None
