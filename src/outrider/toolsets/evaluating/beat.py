"""Signs of life while an evaluation says nothing."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.core.context import Call

BEAT = 15.0  # seconds between signs of life: some clients cut silent calls at 60


@asynccontextmanager
async def beating(call: Call) -> AsyncGenerator[None]:
    """Tells the caller every 15 seconds that the work goes on."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT)
            await call.alive("the evaluation goes on")

    beats = asyncio.create_task(beat())
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.gather(beats, return_exceptions=True)
