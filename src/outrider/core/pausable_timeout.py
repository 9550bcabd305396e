"""Time limits that stand still while a person holds the work up: waiting for people is not the work's own time."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar

import anyio

from outrider.core.background import run_background

HeartbeatFunction = Callable[[str], Awaitable[None]]


async def _ignore_heartbeat(message: str) -> None:
    """The sign of life where nobody listens."""


class PausableTimeout:
    """Seconds that some work may take, those not counted in which it stood still.

    Attributes:
        scope: Ends the work; `cancelled_caught` says afterwards whether it did.
        heartbeat: Tells whoever waits for the work that it goes on.
    """

    def __init__(self, scope: anyio.CancelScope, alive: HeartbeatFunction) -> None:
        self.scope = scope
        self.heartbeat = alive
        self._pause_depth = 0
        self._paused_at = self._deadline = self._paused_seconds = 0.0

    @property
    def paused_seconds(self) -> float:
        """Seconds that it has stood still in all."""
        return self._paused_seconds + (anyio.current_time() - self._paused_at if self._pause_depth else 0.0)

    def pause(self) -> None:
        """Stops the clock, until as many `go_on` as there were `halt`."""
        self._pause_depth += 1
        if self._pause_depth == 1:
            self._paused_at, self._deadline = anyio.current_time(), self.scope.deadline
            self.scope.deadline = math.inf

    def resume(self) -> None:
        """Lets the clock run again, from where it stood."""
        self._pause_depth -= 1
        if not self._pause_depth:
            passed = anyio.current_time() - self._paused_at
            self._paused_seconds += passed
            self.scope.deadline = self._deadline + passed

    def extend(self, seconds: float) -> None:
        """Counts the last `seconds` as time in which it stood still, if it did not anyway."""
        if not self._pause_depth:
            self._paused_seconds += seconds
            self.scope.deadline += seconds


_active_timeouts: ContextVar[tuple[PausableTimeout, ...]] = ContextVar("limits", default=())


@contextmanager
def limit_time(seconds: float | None, heartbeat: HeartbeatFunction = _ignore_heartbeat) -> Generator[PausableTimeout]:
    """Ends the body after so many seconds, as `anyio.move_on_after`; None for no end.

    Args:
        seconds: Of the body's own time.
        heartbeat: Hears every few seconds why the body stands still, when it does.
    """
    with anyio.move_on_after(seconds) as scope:
        found = PausableTimeout(scope, heartbeat)
        token = _active_timeouts.set((*_active_timeouts.get(), found))
        try:
            yield found
        finally:
            _active_timeouts.reset(token)


def extend_timeouts(seconds: float) -> None:
    """Counts the last `seconds` for none of the limits around: what is waited for stood still elsewhere."""
    for each in _active_timeouts.get():
        each.extend(seconds)


@asynccontextmanager
async def pause_timeouts(reason: str) -> AsyncGenerator[None]:
    """Time in the body counts for none of the limits around it, and whoever waits for them hears `reason`."""
    limits = _active_timeouts.get()
    for each in limits:
        each.pause()
    try:
        async with run_background(lambda: _send_heartbeats(limits, reason)):
            yield
    finally:
        for each in limits:
            each.resume()


async def _send_heartbeats(limits: tuple[PausableTimeout, ...], told: str) -> None:
    interval_s = 10.0  # seconds between signs of life: some clients cut silent calls at 60
    while True:
        for each in limits:
            with suppress(Exception):  # whoever waits may be gone
                await each.heartbeat(told)
        await anyio.sleep(interval_s)
