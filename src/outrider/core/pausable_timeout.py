"""Timeouts that pause while a person is asked."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

import anyio

from outrider.core.background import run_background

HeartbeatFunction = Callable[[str], Awaitable[None]]


@dataclass(eq=False)
class PausableTimeout:
    """A time limit on work that does not count pauses.

    Attributes:
        scope: Cancels the work; its `cancelled_caught` shows afterwards whether it did.
        heartbeat: Reports to the waiting caller that the work continues; None if no caller wants it.
    """

    scope: anyio.CancelScope
    heartbeat: HeartbeatFunction | None
    _pause_depth: int = 0
    _paused_at: float = 0.0
    _deadline: float = 0.0
    _paused_seconds: float = 0.0

    @property
    def paused_seconds(self) -> float:
        """Seconds of all pauses so far."""
        return self._paused_seconds + (anyio.current_time() - self._paused_at if self._pause_depth else 0.0)

    def pause(self) -> None:
        """Stop the clock until `resume` has been called as often as `pause`."""
        self._pause_depth += 1
        if self._pause_depth == 1:
            self._paused_at, self._deadline = anyio.current_time(), self.scope.deadline
            self.scope.deadline = math.inf

    def resume(self) -> None:
        """Undo one `pause`; after the last one, let the clock continue from where it stopped."""
        self._pause_depth -= 1
        if not self._pause_depth:
            passed = anyio.current_time() - self._paused_at
            self._paused_seconds += passed
            self.scope.deadline = self._deadline + passed

    def extend(self, seconds: float) -> None:
        """Count the last `seconds` as a pause, unless the timeout is paused already."""
        if not self._pause_depth:
            self._paused_seconds += seconds
            self.scope.deadline += seconds


_active_timeouts: ContextVar[tuple[PausableTimeout, ...]] = ContextVar("active_timeouts", default=())


@contextmanager
def limit_time(seconds: float | None, heartbeat: HeartbeatFunction | None = None) -> Generator[PausableTimeout]:
    """Cancel the body after this many seconds, as `anyio.move_on_after`; None for no limit.

    Args:
        seconds: The body's own time, without pauses.
        heartbeat: Called every few seconds of a pause with its reason.
    """
    with anyio.move_on_after(seconds) as scope:
        timeout = PausableTimeout(scope, heartbeat)
        token = _active_timeouts.set((*_active_timeouts.get(), timeout))
        try:
            yield timeout
        finally:
            _active_timeouts.reset(token)


def extend_timeouts(seconds: float) -> None:
    """Extend all enclosing timeouts.

    This makes up for a pause of the process that the caller waits for, for example.
    """
    for timeout in _active_timeouts.get():
        timeout.extend(seconds)


@asynccontextmanager
async def pause_timeouts(reason: str) -> AsyncGenerator[None]:
    """Pause all enclosing timeouts during the body, and send their callers `reason` as a heartbeat."""
    interval_s = 10.0  # some clients close connections that are silent for 60 seconds
    timeouts = _active_timeouts.get()

    async def send_heartbeats() -> None:
        while True:
            for timeout in timeouts:
                if timeout.heartbeat is not None:
                    with suppress(Exception):  # the caller may be gone
                        await timeout.heartbeat(reason)
            await anyio.sleep(interval_s)

    for timeout in timeouts:
        timeout.pause()
    try:
        async with run_background(send_heartbeats):
            yield
    finally:
        for timeout in timeouts:
            timeout.resume()
