"""Offer the guard as a loopback proxy, for programs that dial themselves.

A program gets the proxy's address and a token. It sends CONNECT for tunnels and absolute addresses
for plain HTTP (RFC 9110 section 9.3.6, RFC 9112 section 3.2.2); both are checked and dialled as
`HttpClient` does.
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

if TYPE_CHECKING:  # loaded when the first client connects
    from outrider.core.egress.proxy_handler import ProxyHandler

PROXY_USER = "outrider"


class EgressProxy:
    """A proxy on a free loopback port that requires a token.

    Use it as `async with EgressProxy(guard) as proxy`, or with `start` and `close`.

    Args:
        guard: Decides where the program may go, and dials.
        idle_seconds: A connection without data is closed after this time; WebSockets may be silent for minutes.
    """

    def __init__(self, guard: EgressGuard, *, idle_seconds: float = 300.0) -> None:
        self.token = secrets.token_urlsafe(32)
        self._guard = guard
        self._idle_seconds = idle_seconds
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
        """The address for `HTTPS_PROXY`. It is a secret."""
        return self.url.replace("://", f"://{PROXY_USER}:{self.token}@")

    def find_failure(self, url: str) -> OutriderError | None:
        """Return the error of the last connection to an address.

        It is needed because browsers hide a proxy's answer.

        It is Refused (code `egress`) or Unavailable (`dns`, `connect`, `timeout`, `protocol`); None after a success.
        """
        default_ports = {"http": 80, "ws": 80, "https": 443, "wss": 443}
        parts = urlsplit(url)
        port = parts.port or default_ports.get(parts.scheme, 0)
        return self._handler.failures.get(((parts.hostname or "").removesuffix("."), port))

    async def start(self, path: Path | None = None) -> None:
        """Start listening; on a Unix socket if `path` is given, which then has no `url`."""
        if path is None:
            self._server = await asyncio.start_server(self._accept_client, "127.0.0.1", 0, start_serving=False)
        else:
            self._server = await asyncio.start_unix_server(self._accept_client, path, start_serving=False)
        await self._server.start_serving()  # a separate step, so that `close` finds the server if this is cancelled

    async def close(self) -> None:
        """Stop listening and end every connection."""
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
        """Handles connections; built for the first one, because many apps never need it."""
        from outrider.core.egress.proxy_handler import ProxyHandler

        return ProxyHandler(self._guard, f"{PROXY_USER}:{self.token}", idle_seconds=self._idle_seconds)

    def _accept_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        max_connections = 512
        if len(self._clients) >= max_connections:
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._handler.handle_connection(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
