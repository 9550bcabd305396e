"""Tasks that run while something else does."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def run_background(*tasks: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Runs tasks beside the body, and ends them with it; an error of the body comes out as it is.

    A task group alone would wrap it, and callers would take what has a remedy for a bug.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(task)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised again below
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
