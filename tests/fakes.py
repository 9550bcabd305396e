"""Servers of our own for tests: real sockets on loopback, nothing patched."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn

from outrider.core.egress.listening import stop_listening

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serve(app: Any) -> AsyncGenerator[str]:
    """Serves an ASGI application on a free loopback port; yields its address without a final slash."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="on", ws="none"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        with anyio.fail_after(10):
            while not server.started:
                await anyio.lowlevel.checkpoint()
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            for each in server.servers:
                await stop_listening(each)
            server.should_exit = True
            server.force_exit = True


@asynccontextmanager
async def serve_bytes(handler: Handler) -> AsyncGenerator[str]:
    """Serves raw TCP, for replies that no honest server would send; yields its http address."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await stop_listening(server)
