"""An HTTP server that goes without losing anything: first it says that it goes, then it finishes what it has."""

import asyncio
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn


class Draining(uvicorn.Server):
    """A server that, told to stop, answers `/readyz` with 503 for a while before it accepts nothing more.

    What is in progress then has the configuration's `timeout_graceful_shutdown` to end; a second signal ends it now.
    The signal is not raised again afterwards, as uvicorn would: the house is still to be closed.

    Args:
        config: As uvicorn takes it.
        leaving: Set when the signal comes.
        started: Called once connections are accepted.
        notice: Seconds between the signal and the end of accepting, for load balancers to look.
    """

    def __init__(
        self, config: uvicorn.Config, *, leaving: asyncio.Event, started: Callable[[], None], notice: float
    ) -> None:
        super().__init__(config)
        self._leaving = leaving
        self._told = started
        self._notice = notice
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[Any] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._told()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn calls it
        if self._leaving.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._leaving.set()
        self._loop.call_soon_threadsafe(self._loop.call_later, self._notice, self._stop)

    def _stop(self) -> None:
        self.should_exit = True
