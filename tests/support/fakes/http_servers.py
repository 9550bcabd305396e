"""Servers of our own for tests: real sockets on loopback, nothing patched."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn

from outrider.core.egress.server_shutdown import stop_listening

StreamHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serve_app(app: Any) -> AsyncGenerator[str]:
    """Serves an ASGI application on a free loopback port; yields its address without a final slash."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="on", ws="none")
    async with start_uvicorn(uvicorn.Server(config)) as server:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


@asynccontextmanager
async def start_uvicorn(
    server: uvicorn.Server, sockets: list[socket.socket] | None = None
) -> AsyncGenerator[uvicorn.Server]:
    """A server that has started and stops at once: its own loop looks ten times a second whether it is to end."""
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets)
    await server.on_tick(0)  # the headers of each answer
    try:
        yield server
    finally:
        for each in server.servers:
            await stop_listening(each)
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await anyio.lowlevel.checkpoint()  # closed transports are told so in the next turn


@asynccontextmanager
async def serve_raw_tcp(handler: StreamHandler) -> AsyncGenerator[str]:
    """Serves raw TCP, for replies that no honest server would send; yields its http address."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await stop_listening(server)
