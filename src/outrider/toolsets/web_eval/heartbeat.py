"""Signs of life while an evaluation says nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from outrider.core.context import Call
from outrider.core.pausable_timeout import extend_timeouts


@asynccontextmanager
async def run_heartbeat(call: Call, paused: Callable[[], bool]) -> AsyncGenerator[None]:
    """Tells the caller every 15 seconds that the work goes on, or stands still; then the caller's clock does, too."""

    async def send_heartbeats() -> None:
        heartbeat_interval_s = 15.0  # seconds between signs of life: some clients cut silent calls at 60
        while True:
            await asyncio.sleep(heartbeat_interval_s)
            if paused():
                extend_timeouts(
                    heartbeat_interval_s
                )  # an agent waits at the gate in a task of its own, which stops only its own clocks
            await call.heartbeat("paused by a person in the dashboard" if paused() else "the evaluation goes on")

    beats = asyncio.create_task(send_heartbeats())
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.gather(beats, return_exceptions=True)
