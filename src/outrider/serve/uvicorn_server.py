"""Run uvicorn inside a process that does other things too."""

import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import uvicorn

from outrider.core.egress.server_shutdown import stop_listening
from outrider.core.errors import NotConfigured
from outrider.serve.connection_limits import LimitedHttpProtocol


class EmbeddedServer(uvicorn.Server):
    """A uvicorn server that leaves signals to its process.

    Attributes:
        listening: Set when connections are accepted, or when that failed.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.listening.set()

    async def shutdown(self, sockets: Any = None) -> None:
        for server in self.servers:
            await stop_listening(server)
        await super().shutdown(sockets)


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
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=LimitedHttpProtocol,
        log_level="warning",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    socket = bind_server_socket(config, setting)
    server = EmbeddedServer(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [socket])
        await server.listening.wait()
        try:
            yield format_socket_url(socket)
        finally:
            server.should_exit = True


def bind_server_socket(config: uvicorn.Config, setting: str, flag: str = "") -> Any:
    """Bind the socket of a uvicorn configuration. Raises NotConfigured if the port is taken or may not be used."""
    logger = logging.getLogger("uvicorn.error")
    was_disabled, logger.disabled = logger.disabled, True  # the error below says it
    try:
        return config.bind_socket()
    except SystemExit:
        raise NotConfigured(
            f"{setting} {config.port} of {config.host} is taken or may not be used",
            hint=f"choose another with {flag or f'--set {setting}=…'}; 0 takes a free one",
        ) from None
    finally:
        logger.disabled = was_disabled


def format_socket_url(socket: Any) -> str:
    """Return `http://host:port` of a listening socket."""
    host, port = socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
