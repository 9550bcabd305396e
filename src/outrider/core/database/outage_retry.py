"""Wait for a restarting server, but not for one that stays down."""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

if TYPE_CHECKING:  # SQLAlchemy is loaded when a database is opened
    from sqlalchemy.ext.asyncio import AsyncConnection

ResultT = TypeVar("ResultT")
OUTAGE_TIMEOUT_S = 10.0  # callers that come later in an outage fail at once


class OutageRetry:
    """Decides whether to retry a connection, by how long the server has been down.

    Args:
        outage_timeout_s: Seconds of an outage during which callers wait.
    """

    def __init__(self, outage_timeout_s: float = OUTAGE_TIMEOUT_S) -> None:
        self._outage_timeout_s = outage_timeout_s
        self._failing_since: float | None = None

    def reset(self) -> None:
        """Note that the server answers."""
        self._failing_since = None

    async def wait_to_retry(self, attempt: int) -> bool:
        """Pause and return True, or return False if the outage lasts too long; `attempt` counts from 0."""
        delays_s = (0.05, 0.1, 0.2, 0.4, 0.8)  # the last one repeats
        self._failing_since = self._failing_since or time.monotonic()
        if time.monotonic() - self._failing_since > self._outage_timeout_s:
            return False
        await anyio.sleep(delays_s[min(attempt, len(delays_s) - 1)])
        return True


async def run_to_completion(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Finish the work even if the task is cancelled meanwhile.

    Then let the cancellation through.

    A connection that was interrupted while it was being opened would never be closed.
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
    """Yield the connection, and always return it to its pool."""
    try:
        yield connection
    finally:
        await run_to_completion(connection.close())
