"""Time limits that stand still while a person holds the work up: waiting for people is not the work's own time."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar

import anyio

from outrider.core.beside import beside

BEAT = 10.0  # seconds between signs of life: some clients cut silent calls at 60
Alive = Callable[[str], Awaitable[None]]


async def _quiet(message: str) -> None:
    """The sign of life where nobody listens."""


class Limit:
    """Seconds that some work may take, those not counted in which it stood still.

    Attributes:
        scope: Ends the work; `cancelled_caught` says afterwards whether it did.
        alive: Tells whoever waits for the work that it goes on.
    """

    def __init__(self, scope: anyio.CancelScope, alive: Alive) -> None:
        self.scope = scope
        self.alive = alive
        self._halts = 0
        self._halted_at = self._deadline = self._stood = 0.0

    @property
    def stood(self) -> float:
        """Seconds that it has stood still in all."""
        return self._stood + (anyio.current_time() - self._halted_at if self._halts else 0.0)

    def halt(self) -> None:
        """Stops the clock, until as many `go_on` as there were `halt`."""
        self._halts += 1
        if self._halts == 1:
            self._halted_at, self._deadline = anyio.current_time(), self.scope.deadline
            self.scope.deadline = math.inf

    def go_on(self) -> None:
        """Lets the clock run again, from where it stood."""
        self._halts -= 1
        if not self._halts:
            passed = anyio.current_time() - self._halted_at
            self._stood += passed
            self.scope.deadline = self._deadline + passed

    def postpone(self, seconds: float) -> None:
        """Counts the last `seconds` as time in which it stood still, if it did not anyway."""
        if not self._halts:
            self._stood += seconds
            self.scope.deadline += seconds


_limits: ContextVar[tuple[Limit, ...]] = ContextVar("limits", default=())


@contextmanager
def limit(seconds: float | None, alive: Alive = _quiet) -> Generator[Limit]:
    """Ends the body after so many seconds, as `anyio.move_on_after`; None for no end.

    Args:
        seconds: Of the body's own time.
        alive: Hears every few seconds why the body stands still, when it does.
    """
    with anyio.move_on_after(seconds) as scope:
        found = Limit(scope, alive)
        token = _limits.set((*_limits.get(), found))
        try:
            yield found
        finally:
            _limits.reset(token)


def postpone(seconds: float) -> None:
    """Counts the last `seconds` for none of the limits around: what is waited for stood still elsewhere."""
    for each in _limits.get():
        each.postpone(seconds)


@asynccontextmanager
async def standing_still(told: str) -> AsyncGenerator[None]:
    """Time in the body counts for none of the limits around it, and whoever waits for them hears `told`."""
    limits = _limits.get()
    for each in limits:
        each.halt()
    try:
        async with beside(lambda: _beat(limits, told)):
            yield
    finally:
        for each in limits:
            each.go_on()


async def _beat(limits: tuple[Limit, ...], told: str) -> None:
    while True:
        for each in limits:
            with suppress(Exception):  # whoever waits may be gone
                await each.alive(told)
        await anyio.sleep(BEAT)
