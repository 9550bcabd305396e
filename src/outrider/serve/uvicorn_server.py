"""Listening beside something else: a small HTTP application for the time of a body."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import uvicorn

from outrider.core.errors import NotConfigured


@asynccontextmanager
async def serve_in_background(app: Any, host: str, port: int, *, setting: str) -> AsyncGenerator[str]:
    """Serves an ASGI application; yields its address without a final slash.

    Args:
        app: What answers.
        host: An address of this machine.
        port: 0 takes a free one.
        setting: What the port is called, for the error.

    Raises:
        NotConfigured: The port is taken or may not be used.
    """

    class EmbeddedServer(uvicorn.Server):
        """A server that leaves the process's signals to whoever runs the process."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    config = uvicorn.Config(app, host=host, port=port, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    taken = bind_server_socket(config, setting)
    server = EmbeddedServer(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [taken])
        try:
            yield format_socket_url(taken)
        finally:
            server.should_exit = True


def bind_server_socket(config: Any, setting: str, flag: str = "") -> Any:
    """The socket of a uvicorn configuration. Raises NotConfigured when the port is taken or may not be used."""
    try:
        return config.bind_socket()
    except SystemExit:
        raise NotConfigured(
            f"{setting} {config.port} of {config.host} cannot be listened on",
            hint=f"choose another with {flag or f'--set {setting}=…'}; 0 takes a free one",
        ) from None


def format_socket_url(taken: Any) -> str:
    """`http://host:port` of a listening socket."""
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
