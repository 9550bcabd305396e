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
OUTAGE_TIMEOUT_S = 10.0  # seconds of an outage for which callers wait; later ones are told at once


class OutageRetry:
    """How long one database has been away.

    Args:
        seconds: Of an outage for which callers wait.
    """

    def __init__(self, seconds: float = OUTAGE_TIMEOUT_S) -> None:
        self._seconds = seconds
        self._failing_since: float | None = None

    def reset(self) -> None:
        """The server answers."""
        self._failing_since = None

    async def wait_to_retry(self, attempt: int) -> bool:
        """Whether to try once more, after a pause; `attempt` counts from 0."""
        delays_s = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between attempts; the last one goes on
        self._failing_since = self._failing_since or time.monotonic()
        if time.monotonic() - self._failing_since > self._seconds:
            return False
        await anyio.sleep(delays_s[min(attempt, len(delays_s) - 1)])
        return True


async def run_to_completion(work: Coroutine[Any, Any, T]) -> T:
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
        await run_to_completion(close())
    raise asyncio.CancelledError


@asynccontextmanager
async def release_connection(connection: "AsyncConnection") -> AsyncGenerator["AsyncConnection"]:
    """The connection, which goes back to its pool however the body ends."""
    try:
        yield connection
    finally:
        await run_to_completion(connection.close())
