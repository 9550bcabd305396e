"""Waiting for a condition that events bring about."""

import asyncio
import time
from collections.abc import Callable


class Condition:
    """Rings when something has changed; whoever waits looks again."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify_all(self) -> None:
        """Lets everybody who waits look again."""
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until the condition holds; False when it did not in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            event = self._event
            try:
                async with asyncio.timeout(left):
                    await event.wait()
            except TimeoutError:
                return condition()
        return True
