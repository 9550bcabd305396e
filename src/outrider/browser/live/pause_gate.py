"""The gate in front of a session: its agent's calls pass it one by one, and wait there while a person has paused it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.protocol.condition import Condition
from outrider.core.errors import Unavailable
from outrider.core.pausable_timeout import pause_timeouts


class PauseGate:
    """One session's gate.

    Args:
        patience: Seconds that a call waits here before it is told to come back later.

    Attributes:
        paused_at: Since when it is shut, in seconds since the epoch; None while it is open.
        waiting: How many calls wait.
        changed: Rings when it opens, and when a call comes to wait.
    """

    def __init__(self, patience: float) -> None:
        self.paused_at: float | None = None
        self.waiting = 0
        self._patience = patience
        self.changed = Condition()

    @property
    def paused(self) -> bool:
        """Whether a person has shut it."""
        return self.paused_at is not None

    def pause(self) -> None:
        """Lets no call through until `open`; one that is inside already goes on."""
        if self.paused_at is None:
            self.paused_at = time.time()

    def resume(self) -> None:
        """Lets all calls through."""
        self.paused_at = None
        self.changed.notify_all()

    async def wait_until_open(self) -> None:
        """Waits until the gate is open. Time spent here counts for no limit of whoever waits.

        Raises Unavailable (code `paused`) when a person needs very long.
        """
        reason = "paused by a person in the dashboard"
        if not self.paused:
            return
        self.waiting += 1
        self.changed.notify_all()
        try:
            async with pause_timeouts(reason):
                is_open = await self.changed.wait_until(lambda: not self.paused, self._patience)
        finally:
            self.waiting -= 1
        if not is_open:
            raise self._build_timeout_error()

    def _build_timeout_error(self) -> Unavailable:
        hint = "make the same call again later, or ask the person to resume the session in the dashboard"
        minutes = (time.time() - (self.paused_at or time.time())) / 60
        message = f"a person has paused this session in the dashboard, {minutes:.0f} minutes ago; nothing was done"
        return Unavailable(message, code="paused", hint=hint, details={"paused_at": self.paused_at})


class CallLock:
    """One call at a time on a session, and none of its agent's while the gate is shut.

    Args:
        gate: The session's.
    """

    def __init__(self, gate: PauseGate) -> None:
        self.gate = gate
        self._lock = asyncio.Lock()

    @property
    def is_held(self) -> bool:
        """Whether a call is under way."""
        return self._lock.locked()

    @asynccontextmanager
    async def hold(self, *, gated: bool = True) -> AsyncGenerator[None]:
        """A turn; those who only look, and the person, need not wait for the gate. Raises Unavailable (`paused`)."""
        await self._acquire_lock(gated=gated)
        try:
            yield
        finally:
            self._lock.release()

    async def _acquire_lock(self, *, gated: bool) -> None:
        while True:
            if gated:
                await self.gate.wait_until_open()
            await self._lock.acquire()
            if not (gated and self.gate.paused):
                return
            self._lock.release()  # it was shut while we waited for our turn
