"""Forward bytes between a client of the proxy and the server."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import h11
from anyio.abc import SocketStream

from outrider.core.egress.target import RequestTarget

MAX_HEAD_BYTES = 65_536
READ_BYTES = 65_536
FORWARD_ERRORS = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, h11.ProtocolError)
HeaderPairs = Sequence[tuple[bytes, bytes]]


class ProxyClient:
    """The client's side of a connection, for one request.

    Args:
        reader: Reads from the client.
        writer: Writes to the client.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)

    @property
    def has_answered(self) -> bool:
        """Whether a response has been started."""
        return self._http.our_state is not h11.IDLE and self._http.our_state is not h11.SEND_RESPONSE

    @property
    def early_data(self) -> bytes:
        """Bytes that the client sent after a CONNECT without waiting for the response."""
        return self._http.trailing_data[0]

    async def read_event(self) -> object:
        """Read the next part of the request. Raises h11.RemoteProtocolError."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self.send_event(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self.reader.read(READ_BYTES))
        return event

    async def send_event(self, event: h11.Event) -> None:
        """Send a part of the response."""
        self.writer.write(self._http.send(event) or b"")
        await self.writer.drain()

    async def send_response(self, status: int, text: str, headers: HeaderPairs = ()) -> None:
        """Send a complete response of the proxy itself."""
        body = text.encode()
        own_headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await self.send_event(h11.Response(status_code=status, headers=[*own_headers, *headers]))
        await self.send_event(h11.Data(data=body))
        await self.send_event(h11.EndOfMessage())

    async def aclose(self) -> None:
        """Close the connection, even if the client does not read."""
        close_timeout_s = 1.0
        self.writer.close()
        with anyio.move_on_after(close_timeout_s, shield=True) as scope, suppress(*FORWARD_ERRORS):
            await self.writer.wait_closed()
        if scope.cancelled_caught:
            self.writer.transport.abort()


class IdleTimeout:
    """A scope that is cancelled after this many seconds without data.

    Args:
        seconds: Maximum time without data.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def restart(self) -> None:
        """Start the time again, because data arrived."""
        self.scope.deadline = anyio.current_time() + self._seconds


async def forward_tunnel(client: ProxyClient, server: SocketStream, idle_seconds: float) -> None:
    """Forward bytes both ways until one side ends or idles."""
    idle_timeout = IdleTimeout(idle_seconds)

    async def forward_upstream() -> None:
        with suppress(*FORWARD_ERRORS):
            data = client.early_data or await client.reader.read(READ_BYTES)
            while data:
                await server.send(data)
                idle_timeout.restart()
                data = await client.reader.read(READ_BYTES)
            await server.send_eof()

    await client.send_event(h11.Response(status_code=200, headers=[]))
    with idle_timeout.scope:
        async with anyio.create_task_group() as both_ways:
            both_ways.start_soon(forward_upstream)
            with suppress(*FORWARD_ERRORS):
                while True:
                    client.writer.write(await server.receive(READ_BYTES))
                    await client.writer.drain()
                    idle_timeout.restart()
            both_ways.cancel_scope.cancel()


async def forward_request(
    client: ProxyClient, request: h11.Request, target: RequestTarget, server: SocketStream, idle_seconds: float
) -> None:
    """Forward one plain request and its response, parsed on both sides. Raises one of FORWARD_ERRORS."""
    idle_timeout = IdleTimeout(idle_seconds)
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
    headers = [(b"host", target.authority.encode()), *filter_end_to_end(request.headers), (b"connection", b"close")]
    head = h11.Request(method=request.method, target=target.path.encode(), headers=headers)
    await server.send(http.send(head) or b"")
    failures: list[Exception] = []
    with idle_timeout.scope:
        async with anyio.create_task_group() as both_ways:
            both_ways.start_soon(_forward_body, client, http, server, idle_timeout.restart)
            try:
                await _forward_response(client, http, server, idle_timeout.restart)
            except FORWARD_ERRORS as error:
                failures.append(error)
            both_ways.cancel_scope.cancel()
    if failures:
        raise failures[0]


def filter_end_to_end(headers: HeaderPairs) -> list[tuple[bytes, bytes]]:
    """Return the end-to-end headers, without those that the proxy sets itself."""
    # Hop-by-hop headers (RFC 9110 section 7.6.1), those that `Connection` lists, and the host.
    dropped = {b"connection", b"expect", b"host", b"keep-alive", b"te", b"trailer", b"upgrade"}
    dropped |= {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")}
    return [(name, value) for name, value in headers if name not in dropped and not name.startswith(b"proxy-")]


async def _forward_body(
    client: ProxyClient, http: h11.Connection, server: SocketStream, on_data: Callable[[], None]
) -> None:
    with suppress(*FORWARD_ERRORS):
        event = None
        while not isinstance(event, h11.EndOfMessage):
            event = await client.read_event()
            if not isinstance(event, h11.Data | h11.EndOfMessage):
                return
            await server.send(http.send(event) or b"")
            on_data()


async def _forward_response(
    client: ProxyClient, http: h11.Connection, server: SocketStream, on_data: Callable[[], None]
) -> None:
    max_interim_responses = 20  # 1xx
    interim_count, event = 0, None
    while not isinstance(event, h11.EndOfMessage):
        while (event := http.next_event()) is h11.NEED_DATA:
            try:
                http.receive_data(await server.receive(READ_BYTES))
            except anyio.EndOfStream:
                http.receive_data(b"")
        on_data()
        if isinstance(event, h11.InformationalResponse) and interim_count < max_interim_responses:
            interim_count += 1
            continue
        if isinstance(event, h11.Response):
            headers = [*filter_end_to_end(event.headers), (b"connection", b"close")]
            event = h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
        if not isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
            raise h11.RemoteProtocolError("no response")
        await client.send_event(event)
