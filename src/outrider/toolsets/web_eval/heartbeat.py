"""Send heartbeats to the caller of an evaluation."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from outrider.core.context import Call
from outrider.core.pausable_timeout import extend_timeouts


@asynccontextmanager
async def run_heartbeat(call: Call, is_paused: Callable[[], bool]) -> AsyncGenerator[None]:
    """Report every 15 s that the evaluation is running or paused; a pause extends the call's time limit."""

    async def send_heartbeats() -> None:
        interval_s = 15.0  # some clients drop calls that are silent for 60 s
        while True:
            await asyncio.sleep(interval_s)
            if is_paused():
                # The agent waits in another task, which extends only its own time limits.
                extend_timeouts(interval_s)
            await call.heartbeat("paused by a person in the dashboard" if is_paused() else "the evaluation is running")

    task = asyncio.create_task(send_heartbeats())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
