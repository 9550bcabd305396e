"""The guard for programs that dial by themselves: an HTTP proxy on loopback.

The program gets the proxy's address and a token of this launch. It sends CONNECT for tunnels and
absolute addresses for plain HTTP (RFC 9110 section 9.3.6, RFC 9112 section 3.2.2); each is vetted
and dialled exactly as `Http` would.
"""

import asyncio
import secrets
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.server_shutdown import stop_listening
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.core.egress.proxy_handler import ProxyHandler

PROXY_USER = "outrider"
IDLE_TIMEOUT_S = 300.0  # without a byte in either direction; WebSockets are quiet for long


class EgressProxy:
    """A proxy on a free loopback port, closed to everybody without the token.

    `async with EgressProxy(guard) as proxy`, or `start` and `close`.

    Args:
        guard: Decides where the program may go, and dials.
        idle: Seconds without a byte after which a connection is closed.
    """

    def __init__(self, guard: EgressGuard, *, idle: float = IDLE_TIMEOUT_S) -> None:
        self.token = secrets.token_urlsafe(32)
        self._guard = guard
        self._idle = idle
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The proxy's address, without credentials. Raises RuntimeError before `start`."""
        if not self._server:
            raise RuntimeError("the proxy has not been started")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url_with_credentials(self) -> str:
        """The address as `HTTPS_PROXY` takes it. A secret."""
        return self.url.replace("://", f"://{PROXY_USER}:{self.token}@")

    def find_failure(self, url: str) -> OutriderError | None:
        """Why there was no way to an address the last time, if there was none; browsers hide what a proxy says.

        Refused (code `egress`) by the guard, or Unavailable (`dns`, `connect`, `timeout`, `protocol`).
        """
        default_ports = {"http": 80, "ws": 80, "https": 443, "wss": 443}
        parts = urlsplit(url)
        port = parts.port or default_ports.get(parts.scheme, 0)
        return self._handler.failures.get(((parts.hostname or "").removesuffix("."), port))

    async def start(self, path: Path | None = None) -> None:
        """Begins to listen; on a Unix socket at `path`, which has no `url`, if one is given."""
        if path is None:
            self._server = await asyncio.start_server(self._accept_client, "127.0.0.1", 0, start_serving=False)
        else:
            self._server = await asyncio.start_unix_server(self._accept_client, path, start_serving=False)
        await self._server.start_serving()  # a step of its own: cancelled in it, there is a server that can be closed

    async def close(self) -> None:
        """Stops listening and ends every connection."""
        if self._server:
            await stop_listening(self._server)
        clients = list(self._clients)
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @cached_property
    def _handler(self) -> "ProxyHandler":
        """Made when somebody comes: most houses start this proxy and never need it."""
        from outrider.core.egress.proxy_handler import ProxyHandler

        return ProxyHandler(self._guard, f"{PROXY_USER}:{self.token}", idle=self._idle)

    def _accept_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        max_connections = 512
        if len(self._clients) >= max_connections:
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._handler.handle_connection(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
