"""Serve a small HTTP application for the lifetime of a block."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import uvicorn

from outrider.core.errors import NotConfigured


@asynccontextmanager
async def serve_in_background(app: Any, host: str, port: int, *, setting: str) -> AsyncGenerator[str]:
    """Serve an ASGI application; yield its address without a final slash.

    Args:
        app: The application.
        host: An address of this machine.
        port: The port; 0 takes a free one.
        setting: The setting's name for the error.

    Raises:
        NotConfigured: The port is taken or may not be used.
    """

    class EmbeddedServer(uvicorn.Server):
        """A server that does not handle the process's signals."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    config = uvicorn.Config(app, host=host, port=port, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    socket = bind_server_socket(config, setting)
    server = EmbeddedServer(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [socket])
        try:
            yield format_socket_url(socket)
        finally:
            server.should_exit = True


def bind_server_socket(config: Any, setting: str, flag: str = "") -> Any:
    """Bind the socket of a uvicorn configuration. Raises NotConfigured if the port is taken or may not be used."""
    try:
        return config.bind_socket()
    except SystemExit:
        raise NotConfigured(
            f"{setting} {config.port} of {config.host} is taken or may not be used",
            hint=f"choose another with {flag or f'--set {setting}=…'}; 0 takes a free one",
        ) from None


def format_socket_url(socket: Any) -> str:
    """Return `http://host:port` of a listening socket."""
    host, port = socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
