"""Run background tasks for the lifetime of a block."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def run_background(*tasks: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run tasks during the body, and cancel them at its end; an error of the body is raised unchanged.

    A task group alone would wrap the error, so that callers would mistake an expected failure for a bug.
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
