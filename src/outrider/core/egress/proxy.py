"""The guard for programs that dial by themselves: an HTTP proxy on loopback.

The program gets the proxy's address and a token of this launch. It sends CONNECT for tunnels and
absolute addresses for plain HTTP (RFC 9110 section 9.3.6, RFC 9112 section 3.2.2); each is vetted
and dialled exactly as `Http` would.
"""

import asyncio
import secrets
from base64 import b64encode
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Self

import anyio
import h11
from anyio.abc import SocketStream

from outrider.core.egress.guard import Guard
from outrider.core.egress.listening import stop_listening
from outrider.core.egress.relay import BROKEN, Client, relay_request, relay_tunnel
from outrider.core.egress.target import Target, read_authority, read_target
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable

USER = "outrider"
HEAD_SECONDS = 10.0  # for a request's head
DIAL_SECONDS = 25.0
IDLE_SECONDS = 300.0  # without a byte in either direction; WebSockets are quiet for long
CONNECTIONS = 512
REASONS_KEPT = 100
STATUS: dict[type[OutriderError], int] = {Refused: 403, InvalidInput: 400, Unavailable: 502}


class EgressProxy:
    """A proxy on a free loopback port, closed to everybody without the token.

    `async with EgressProxy(guard) as proxy`, or `start` and `close`.

    Args:
        guard: Decides where the program may go, and dials.
        idle: Seconds without a byte after which a connection is closed.
    """

    def __init__(self, guard: Guard, *, idle: float = IDLE_SECONDS) -> None:
        self.token = secrets.token_urlsafe(32)
        self._expected = b"Basic " + b64encode(f"{USER}:{self.token}".encode())
        self._guard = guard
        self._idle = idle
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._reasons: OrderedDict[str, str] = OrderedDict()

    @property
    def url(self) -> str:
        """The proxy's address, without credentials. Raises RuntimeError before `start`."""
        if not self._server:
            raise RuntimeError("the proxy has not been started")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url_with_credentials(self) -> str:
        """The address as `HTTPS_PROXY` takes it. A secret."""
        return self.url.replace("://", f"://{USER}:{self.token}@")

    def reason(self, host: str) -> str | None:
        """Why this host was refused last, if it was; browsers hide what a proxy says."""
        return self._reasons.get(host)

    async def start(self, path: Path | None = None) -> None:
        """Begins to listen; on a Unix socket at `path`, which has no `url`, if one is given."""
        if path is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, start_serving=False)
        else:
            self._server = await asyncio.start_unix_server(self._accept, path, start_serving=False)
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

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= CONNECTIONS:
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(Client(reader, writer)))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, client: Client) -> None:
        try:
            await self._answer(client)
        except h11.RemoteProtocolError as error:
            with suppress(*BROKEN):
                await client.answer(error.error_status_hint, "this is no proxy request")
        except (TimeoutError, *BROKEN):
            pass
        finally:
            await client.aclose()

    async def _answer(self, client: Client) -> None:
        with anyio.fail_after(HEAD_SECONDS):
            request = await client.event()
        if not isinstance(request, h11.Request):
            return
        if not self._knows(request):
            await client.answer(407, "the token is missing", [(b"proxy-authenticate", b'Basic realm="outrider"')])
            return
        try:
            await self._forward(client, request)
        except OutriderError as error:
            # RFC 9209 tells our answer from a server's, whose headers of that name are not passed on.
            own = [(b"proxy-status", f'{USER}; details="{error.code}"'.encode("ascii", "replace"))]
            await client.answer(STATUS.get(type(error), 502), f"{error.message}\n{error.hint}\n", own)

    def _knows(self, request: h11.Request) -> bool:
        given = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        return secrets.compare_digest(given, self._expected)

    async def _forward(self, client: Client, request: h11.Request) -> None:
        """Lets one request through. Raises OutriderError before anything was answered."""
        text = request.target.decode("latin-1")
        target = None if request.method == b"CONNECT" else self._plain(text)
        host, port = (target.host, target.port) if target else read_authority(text)
        async with await self._dial(host, port) as server:
            if target is None:
                await relay_tunnel(client, server, self._idle)
                return
            try:
                await relay_request(client, request, target, server, self._idle)
            except BROKEN:
                if not client.answered:
                    raise Unavailable(f"{host} does not keep to HTTP, or broke off", code="protocol") from None

    @staticmethod
    def _plain(text: str) -> Target:
        target = read_target(text)
        if target.scheme != "http":
            raise InvalidInput("only http:// goes without a tunnel", code="bad_url")
        return target

    async def _dial(self, host: str, port: int) -> SocketStream:
        try:
            with anyio.fail_after(DIAL_SECONDS):
                return await self._guard.dial(host, port)
        except TimeoutError:
            raise Unavailable(f"no connection to {host}:{port} in time", code="timeout") from None
        except Refused as error:
            self._note(host, error)
            raise

    def _note(self, host: str, error: Refused) -> None:
        self._reasons[host] = f"{error.message}; {error.hint}"
        self._reasons.move_to_end(host)
        if len(self._reasons) > REASONS_KEPT:
            self._reasons.popitem(last=False)
