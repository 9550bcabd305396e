"""Waiting for a server that is being restarted, and not for one that stays away."""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")
OUTAGE = 10.0  # seconds of an outage for which callers wait; later ones are told at once
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between attempts; the last one goes on


class Patience:
    """How long one database has been away.

    Args:
        seconds: Of an outage for which callers wait.
    """

    def __init__(self, seconds: float = OUTAGE) -> None:
        self._seconds = seconds
        self._since: float | None = None

    def back(self) -> None:
        """The server answers."""
        self._since = None

    async def again(self, attempt: int) -> bool:
        """Whether to try once more, after a pause; `attempt` counts from 0."""
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since > self._seconds:
            return False
        await anyio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
        return True


async def whole(work: Coroutine[Any, Any, T]) -> T:
    """Does the work to its end, however often the task is cancelled meanwhile, and lets a cancellation out after.

    A connection that is cut off while it is being made belongs to nobody, and nobody closes it.
    """
    task, cancelled = asyncio.ensure_future(work), False
    with anyio.CancelScope(shield=True):
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                cancelled = True
    if not cancelled:
        return task.result()
    if task.exception() is None and (close := getattr(task.result(), "close", None)):
        await whole(close())
    raise asyncio.CancelledError


@asynccontextmanager
async def given_back(connection: "AsyncConnection") -> AsyncGenerator["AsyncConnection"]:
    """The connection, which goes back to its pool however the body ends."""
    try:
        yield connection
    finally:
        await whole(connection.close())
