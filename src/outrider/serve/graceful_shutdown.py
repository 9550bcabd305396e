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

from outrider.serve.host_session import LISTEN_METHOD


class StreamTracker:
    """The application, whose standing streams can be closed.

    Args:
        app: What is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open_streams: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_stream(scope):
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as inside:

            async def track_stream(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    self._open_streams.add(inside)
                await send(message)

            try:
                await self._app(scope, receive, track_stream)
            finally:
                self._open_streams.discard(inside)
        if inside.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def close_all(self) -> None:
        """Ends them all."""
        for inside in list(self._open_streams):
            inside.cancel()


def _may_stream(scope: Scope) -> bool:
    return scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == LISTEN_METHOD


def _is_stream(start: Message) -> bool:
    return Headers(raw=list(start["headers"])).get("content-type", "").startswith("text/event-stream")


class DrainingServer(uvicorn.Server):
    """A server that, told to stop, answers `/readyz` with 503 for a while before it accepts nothing more.

    What is in progress then has the configuration's `timeout_graceful_shutdown` to end; a second signal ends it now.
    The signal is not raised again afterwards, as uvicorn would: the house is still to be closed.

    Args:
        config: As uvicorn takes it.
        streams: What it serves.
        stop_requested: Set when the signal comes.
        on_started: Called once connections are accepted.
        drain_notice_s: Seconds between the signal and the end of accepting, for load balancers to look.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        streams: StreamTracker,
        stop_requested: asyncio.Event,
        on_started: Callable[[], None],
        drain_notice_s: float,
    ) -> None:
        super().__init__(config)
        self._streams = streams
        self._stop_requested = stop_requested
        self._on_started = on_started
        self._drain_notice_s = drain_notice_s
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[Any] | None = None) -> None:
        from sse_starlette.sse import AppStatus

        # It would cut off every stream half a second after the server stops accepting: answers to calls are streams.
        AppStatus.disable_automatic_graceful_drain()
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn calls it
        if self._stop_requested.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._stop_requested.set()
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain_notice_s, self._stop_accepting)

    def _stop_accepting(self) -> None:
        self.should_exit = True
        self._streams.close_all()
