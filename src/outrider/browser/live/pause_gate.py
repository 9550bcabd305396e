"""Block an agent's calls while a person has paused its session."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.protocol.condition import Condition
from outrider.core.errors import Unavailable
from outrider.core.pausable_timeout import pause_timeouts


class PauseGate:
    """Pause gate of one session.

    Args:
        max_wait_s: Seconds that a call waits before it fails with a request to call again later.

    Attributes:
        max_wait_s: As above.
        paused_at: When it was paused, in seconds since the epoch; None while it is open.
        waiting: How many calls wait.
        changed: Notified when it opens and when a call starts to wait.
    """

    def __init__(self, max_wait_s: float = 1_800) -> None:
        self.paused_at: float | None = None
        self.waiting = 0
        self.max_wait_s = max_wait_s
        self.changed = Condition()

    @property
    def paused(self) -> bool:
        """Whether a person has paused the session."""
        return self.paused_at is not None

    def pause(self) -> None:
        """Block new calls until `resume`; a running call continues."""
        if self.paused_at is None:
            self.paused_at = time.time()

    def resume(self) -> None:
        """Let all calls pass."""
        self.paused_at = None
        self.changed.notify_all()

    async def wait_until_open(self) -> None:
        """Wait until the gate is open; the time does not count against the caller's timeouts.

        Raises Unavailable (code `paused`) after `max_wait_s`.
        """
        reason = "paused by a person in the dashboard"
        if not self.paused:
            return
        self.waiting += 1
        self.changed.notify_all()
        try:
            async with pause_timeouts(reason):
                is_open = await self.changed.wait_until(lambda: not self.paused, self.max_wait_s)
        finally:
            self.waiting -= 1
        if not is_open:
            hint = "make the same call again later, or ask the person to resume the session in the dashboard"
            minutes = (time.time() - (self.paused_at or time.time())) / 60
            message = f"a person paused this session in the dashboard {minutes:.0f} minutes ago; this call did nothing"
            raise Unavailable(message, code="paused", hint=hint, details={"paused_at": self.paused_at})


class CallLock:
    """Lets one call at a time use a session, and none while it is paused.

    Args:
        gate: The session's pause gate.
    """

    def __init__(self, gate: PauseGate) -> None:
        self.gate = gate
        self._lock = asyncio.Lock()

    @property
    def is_held(self) -> bool:
        """Whether a call is running."""
        return self._lock.locked()

    @asynccontextmanager
    async def hold(self, *, gated: bool = True) -> AsyncGenerator[None]:
        """Hold the session for one call. Raises Unavailable (code `paused`).

        `gated` False ignores the gate, for readers that change nothing and for the person in control.
        """
        while True:
            if gated:
                await self.gate.wait_until_open()
            await self._lock.acquire()
            if not (gated and self.gate.paused):
                break
            self._lock.release()  # the session was paused while this call waited for the lock
        try:
            yield
        finally:
            self._lock.release()
