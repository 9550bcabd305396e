"""Wait for a condition that events bring about."""

import asyncio
import time
from collections.abc import Callable


class Condition:
    """Wakes all waiters on every change, so that each checks its own condition."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify_all(self) -> None:
        """Wake all waiters."""
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds; return False when the time is up first."""
        deadline = time.monotonic() + seconds
        while not condition():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            event = self._event
            try:
                async with asyncio.timeout(remaining):
                    await event.wait()
            except TimeoutError:
                return condition()
        return True
