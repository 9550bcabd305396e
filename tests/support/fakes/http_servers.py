"""Local servers for tests: real sockets on loopback, nothing patched."""

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
    """Serve an ASGI application on a free loopback port; yield its address without a final slash."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="on", ws="none")
    async with start_uvicorn(uvicorn.Server(config)) as server:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


@asynccontextmanager
async def start_uvicorn(
    server: uvicorn.Server, sockets: list[socket.socket] | None = None
) -> AsyncGenerator[uvicorn.Server]:
    """Start a server that can stop at once; uvicorn's own loop only checks ten times a second whether to stop."""
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets)
    await server.on_tick(0)  # sets the default headers of responses
    try:
        yield server
    finally:
        for each in server.servers:
            await stop_listening(each)
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await anyio.lowlevel.checkpoint()  # closed transports are notified in the next iteration


@asynccontextmanager
async def serve_raw_tcp(handler: StreamHandler) -> AsyncGenerator[str]:
    """Serve raw TCP, for replies that no normal server sends; yield its http address."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await stop_listening(server)
