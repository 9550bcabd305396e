"""Shut an HTTP server down without losing calls.

It first reports that it is not ready, then finishes running calls. Streams on which clients only listen would never end
by themselves: they are closed, and the clients reconnect to another server.
"""

import asyncio
from collections.abc import Callable
from types import FrameType
from typing import Any

import anyio
import uvicorn
from sse_starlette.sse import AppStatus
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.serve.host_session import LISTEN_METHOD


class StreamTracker:
    """Tracks an application's listening streams so that they can be closed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open_streams: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_listening = scope["type"] == "http" and (
            scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == LISTEN_METHOD
        )
        if not is_listening:
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as stream_scope:

            async def track_stream(message: Message) -> None:
                if message["type"] == "http.response.start":
                    content_type = Headers(raw=list(message["headers"])).get("content-type", "")
                    if content_type.startswith("text/event-stream"):
                        self._open_streams.add(stream_scope)
                await send(message)

            try:
                await self._app(scope, receive, track_stream)
            finally:
                self._open_streams.discard(stream_scope)
        if stream_scope.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def close_all(self) -> None:
        """Close all listening streams."""
        for stream_scope in list(self._open_streams):
            stream_scope.cancel()


class DrainingServer(uvicorn.Server):
    """A server that first becomes unready when it must stop.

    `/readyz` answers 503 for a while before it stops accepting connections.

    Running calls then have the configuration's `timeout_graceful_shutdown` to end; a second signal ends them at once.
    Unlike uvicorn it does not raise the signal again afterwards, because the app must still be closed.

    Args:
        config: The configuration of uvicorn.
        streams: The served application.
        stop_requested: Set at the signal.
        on_started: Called once connections are accepted.
        drain_notice_s: Seconds between the signal and the end of accepting, so that load balancers notice.
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

    async def serve(self, sockets: list[Any] | None = None) -> None:
        # A Ctrl-C from just before is handled here. Later it would end the app's lifespan, whose traceback uvicorn
        # logs.
        await asyncio.sleep(0)
        await super().serve(sockets)

    async def startup(self, sockets: list[Any] | None = None) -> None:
        # Otherwise every stream would be cut off half a second after the server stops accepting, and answers to calls
        # are streams.
        AppStatus.disable_automatic_graceful_drain()
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn calls it
        def stop_accepting() -> None:
            self.should_exit = True
            self._streams.close_all()

        def cancel_requests() -> None:
            # Since Python 3.12.1 a server is closed only when its last connection is.
            for task in self.server_state.tasks:
                task.cancel()

        if self._stop_requested.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(cancel_requests)
            return
        self._stop_requested.set()
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain_notice_s, stop_accepting)
