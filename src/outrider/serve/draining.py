"""An HTTP server that goes without losing anything: first it says that it goes, then it finishes what it has.

Calls are finished. Streams on which somebody only listens would never end by themselves: they are closed, and whoever
listened comes back to a server that stays.
"""

import asyncio
from collections.abc import Callable
from types import FrameType
from typing import Any

import anyio
import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.serve.connections import LASTING


class Streams:
    """The application, whose standing streams can be closed.

    Args:
        app: What is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._standing: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_stand(scope):
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as inside:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    self._standing.add(inside)
                await send(message)

            try:
                await self._app(scope, receive, noted)
            finally:
                self._standing.discard(inside)
        if inside.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def close(self) -> None:
        """Ends them all."""
        for inside in list(self._standing):
            inside.cancel()


def _may_stand(scope: Scope) -> bool:
    return scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == LASTING


def _is_stream(start: Message) -> bool:
    return Headers(raw=list(start["headers"])).get("content-type", "").startswith("text/event-stream")


class Draining(uvicorn.Server):
    """A server that, told to stop, answers `/readyz` with 503 for a while before it accepts nothing more.

    What is in progress then has the configuration's `timeout_graceful_shutdown` to end; a second signal ends it now.
    The signal is not raised again afterwards, as uvicorn would: the house is still to be closed.

    Args:
        config: As uvicorn takes it.
        streams: What it serves.
        leaving: Set when the signal comes.
        started: Called once connections are accepted.
        notice: Seconds between the signal and the end of accepting, for load balancers to look.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        streams: Streams,
        leaving: asyncio.Event,
        started: Callable[[], None],
        notice: float,
    ) -> None:
        super().__init__(config)
        self._streams = streams
        self._leaving = leaving
        self._told = started
        self._notice = notice
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[Any] | None = None) -> None:
        from sse_starlette.sse import AppStatus

        # It would cut off every stream half a second after the server stops accepting: answers to calls are streams.
        AppStatus.disable_automatic_graceful_drain()
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
        self._streams.close()
