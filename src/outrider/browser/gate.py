"""The gate in front of a session: its agent's calls pass it one by one, and wait there while a person has paused it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.bell import Bell
from outrider.core.errors import Unavailable
from outrider.core.standstill import standing_still

TOLD = "paused by a person in the dashboard"
REMEDY = "make the same call again later, or ask the person to resume the session in the dashboard"


class Gate:
    """One session's gate.

    Args:
        patience: Seconds that a call waits here before it is told to come back later.

    Attributes:
        paused_at: Since when it is shut, in seconds since the epoch; None while it is open.
        waiting: How many calls wait.
        bell: Rings when it opens, and when a call comes to wait.
    """

    def __init__(self, patience: float) -> None:
        self.paused_at: float | None = None
        self.waiting = 0
        self._patience = patience
        self.bell = Bell()

    @property
    def paused(self) -> bool:
        """Whether a person has shut it."""
        return self.paused_at is not None

    def shut(self) -> None:
        """Lets no call through until `open`; one that is inside already goes on."""
        if self.paused_at is None:
            self.paused_at = time.time()

    def open(self) -> None:
        """Lets all calls through."""
        self.paused_at = None
        self.bell.ring()

    async def passed(self) -> None:
        """Waits until the gate is open. Time spent here counts for no limit of whoever waits.

        Raises Unavailable (code `paused`) when a person needs very long.
        """
        if not self.paused:
            return
        self.waiting += 1
        self.bell.ring()
        try:
            async with standing_still(TOLD):
                is_open = await self.bell.until(lambda: not self.paused, self._patience)
        finally:
            self.waiting -= 1
        if not is_open:
            raise self._late()

    def _late(self) -> Unavailable:
        minutes = (time.time() - (self.paused_at or time.time())) / 60
        message = f"a person has paused this session in the dashboard, {minutes:.0f} minutes ago; nothing was done"
        return Unavailable(message, code="paused", hint=REMEDY, details={"paused_at": self.paused_at})


class Turns:
    """One call at a time on a session, and none of its agent's while the gate is shut.

    Args:
        gate: The session's.
    """

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self._busy = asyncio.Lock()

    @property
    def taken(self) -> bool:
        """Whether a call is under way."""
        return self._busy.locked()

    @asynccontextmanager
    async def take(self, *, gated: bool = True) -> AsyncGenerator[None]:
        """A turn; those who only look, and the person, need not wait for the gate. Raises Unavailable (`paused`)."""
        await self._acquire(gated=gated)
        try:
            yield
        finally:
            self._busy.release()

    async def _acquire(self, *, gated: bool) -> None:
        while True:
            if gated:
                await self.gate.passed()
            await self._busy.acquire()
            if not (gated and self.gate.paused):
                return
            self._busy.release()  # it was shut while we waited for our turn
