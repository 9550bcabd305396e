"""Signs of life while an evaluation says nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from outrider.core.context import Call
from outrider.core.standstill import postpone

BEAT = 15.0  # seconds between signs of life: some clients cut silent calls at 60


@asynccontextmanager
async def beating(call: Call, paused: Callable[[], bool]) -> AsyncGenerator[None]:
    """Tells the caller every 15 seconds that the work goes on, or stands still; then the caller's clock does, too."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT)
            if paused():
                postpone(BEAT)  # an agent waits at the gate in a task of its own, which stops only its own clocks
            await call.alive("paused by a person in the dashboard" if paused() else "the evaluation goes on")

    beats = asyncio.create_task(beat())
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.gather(beats, return_exceptions=True)
