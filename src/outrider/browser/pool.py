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

from outrider.browser.attach import Attached, attach_to
from outrider.browser.cdp import ProtocolError
from outrider.core.egress import Guard
from outrider.core.errors import OutriderError, Unavailable

log = logging.getLogger(__name__)
LOOK = 5.0  # seconds between two looks at whether they answer
PATIENCE = 5.0  # seconds that an answer may take
PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)  # seconds that one is left out after so many failures in a row


@dataclass
class Member:
    """One browser of the pool.

    Attributes:
        url: Its address, which may hold a secret.
        attached: The connection to it; None while it is left out or not yet needed.
        failures: In a row.
        until: When it is tried again, by the monotonic clock.
    """

    url: str
    attached: Attached | None = None
    failures: int = 0
    until: float = 0.0
    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def name(self) -> str:
        """Its host and port, which are no secret."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def up(self) -> bool:
        return self.attached is not None and self.attached.connection.lost is None

    @property
    def sessions(self) -> int:
        return len(self.attached.browser.hosts) + self.attached.promised if self.attached else 0


class Pool:
    """Browsers that somebody else runs.

    Args:
        urls: Where they are.
        guard: Lets connections out.
    """

    def __init__(self, urls: Sequence[str], guard: Guard) -> None:
        self._members = [Member(url) for url in urls]
        self._guard = guard
        self._tending: asyncio.Task[None] | None = None
        self._gone: list[Attached] = []

    @property
    def running(self) -> list[Attached]:
        """Those that are connected."""
        return [each.attached for each in self._members if each.attached is not None and each.up]

    async def take(self) -> Attached:
        """The browser with the fewest sessions of ours. Raises Unavailable when none can be reached."""
        if self._tending is None:
            self._tending = asyncio.get_running_loop().create_task(self._tend())
        await asyncio.gather(*(self._connected(each) for each in self._due()))
        up = [each for each in self._members if each.up]
        if not up:
            names = ", ".join(each.name for each in self._members)
            message = f"none of the {len(self._members)} browsers of browser.cdp_urls can be reached: {names}"
            hint = "call again in a moment; an operator should look at them"
            raise Unavailable(message, code="no_browser", hint=hint, retry_after=PAUSES[0])
        best = min(up, key=lambda each: each.sessions).attached
        assert best is not None
        best.promise()
        return best

    async def aclose(self) -> None:
        """Lets them all go; they stay open."""
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)
        for each in self._members:
            self._drop(each)
        gone, self._gone = self._gone, []
        await asyncio.gather(*(each.aclose() for each in gone), return_exceptions=True)

    def _due(self) -> list[Member]:
        now = time.monotonic()
        return [each for each in self._members if not each.up and each.until <= now]

    async def _connected(self, member: Member) -> None:
        async with member.connecting:
            if member.up:
                return
            self._drop(member)
            try:
                async with asyncio.timeout(PATIENCE):
                    member.attached = await attach_to(member.url, self._guard)
                member.failures = 0
            except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
                self._failed(member, error)

    async def _tend(self) -> None:
        """Looks again and again who answers, and brings back who does again."""
        while True:
            await asyncio.sleep(min(LOOK, PAUSES[0]))
            await asyncio.gather(*(self._tried(each) for each in self._members if each.up))
            await asyncio.gather(*(self._connected(each) for each in self._due()))
            gone, self._gone = self._gone, []
            for each in gone:
                with suppress(OutriderError):
                    await each.aclose()

    async def _tried(self, member: Member) -> None:
        assert member.attached is not None
        try:
            async with asyncio.timeout(PATIENCE):
                await member.attached.connection.send("Browser.getVersion")
        except (OutriderError, ProtocolError, TimeoutError, OSError) as error:
            self._failed(member, error)

    def _failed(self, member: Member, error: Exception) -> None:
        self._drop(member)
        pause = PAUSES[min(member.failures, len(PAUSES) - 1)]
        member.failures += 1
        member.until = time.monotonic() + pause
        log.warning("the browser at %s is left out for %g seconds: %s", member.name, pause, type(error).__name__)

    def _drop(self, member: Member) -> None:
        if member.attached is not None:
            self._gone.append(member.attached)
            member.attached = None
