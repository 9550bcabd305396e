"""Run uvicorn inside a process that does other things too."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, ClassVar

import anyio
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from outrider.core.egress.server_shutdown import stop_listening
from outrider.core.errors import NotConfigured


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
    was_disabled, logger.disabled = logger.disabled, True  # the error below reports it
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


class LimitedHttpProtocol(H11Protocol):
    """uvicorn's HTTP protocol with limits on connections whose request is incomplete.

    Only connections without all headers are counted, because a proxy may hold many with a request; idle ones are closed
    by uvicorn itself. The rest of a body that was already refused is read and dropped, because closing the connection
    before that would reset it, and its caller would not see the refusal.

    Attributes:
        header_timeout_s: Seconds for the headers of a request.
        body_timeout_s: Seconds that may pass between two parts of a body.
        max_dropped_bytes: How much of a refused body is read.
        max_waiting: Connections of one address that may wait for headers at the same time.
    """

    header_timeout_s: ClassVar[float] = 10.0
    body_timeout_s: ClassVar[float] = 30.0
    max_dropped_bytes: ClassVar[int] = 200_000_000
    max_waiting: ClassVar[int] = 256
    _waiting: ClassVar[Counter[str]] = Counter()
    _header_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None
    _dropped_bytes: int = 0
    _address: str = ""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        if self._waiting[self._address] >= self.max_waiting:
            transport.abort()
        else:
            self._start_waiting()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_websocket = self.transport.get_protocol() is not self
        has_request = self.cycle is not None and not self.cycle.response_complete
        receives_body = not is_websocket and self.conn.their_state is h11.SEND_BODY
        self._stop_body_timer()
        if receives_body:
            self._body_timer = self.loop.call_later(self.body_timeout_s, self.transport.abort)
        self._dropped_bytes = self._dropped_bytes + len(data) if receives_body and not has_request else 0
        if self._dropped_bytes > self.max_dropped_bytes:
            self.transport.abort()
        if is_websocket or has_request or receives_body:
            self._stop_waiting()
        else:
            self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_body_timer()
        super().connection_lost(exc)

    def _stop_body_timer(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()

    def _start_waiting(self) -> None:
        if self._header_timer is None and not self.transport.is_closing():
            self._waiting[self._address] += 1
            self._header_timer = self.loop.call_later(self.header_timeout_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
            self._waiting[self._address] -= 1
            if not self._waiting[self._address]:
                del self._waiting[self._address]
