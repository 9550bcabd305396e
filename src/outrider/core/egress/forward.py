"""Carries bytes between a program that asked the proxy and the server that it was let through to."""

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
    """The program's side of one connection: one request, then it is closed.

    Args:
        reader: From the program.
        writer: To the program.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)

    @property
    def has_answered(self) -> bool:
        """Whether a reply has begun."""
        return self._http.our_state is not h11.IDLE and self._http.our_state is not h11.SEND_RESPONSE

    @property
    def early_data(self) -> bytes:
        """What came behind a CONNECT without waiting for its reply."""
        return self._http.trailing_data[0]

    async def read_event(self) -> object:
        """The next part of the request. Raises h11.RemoteProtocolError."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self.send_event(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self.reader.read(READ_BYTES))
        return event

    async def send_event(self, event: h11.Event) -> None:
        """Sends a part of the reply."""
        self.writer.write(self._http.send(event) or b"")
        await self.writer.drain()

    async def send_response(self, status: int, text: str, headers: HeaderPairs = ()) -> None:
        """A whole reply of the proxy's own."""
        body = text.encode()
        length = str(len(body)).encode()
        own = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length), (b"connection", b"close")]
        await self.send_event(h11.Response(status_code=status, headers=[*own, *headers]))
        await self.send_event(h11.Data(data=body))
        await self.send_event(h11.EndOfMessage())

    async def aclose(self) -> None:
        """Closes the connection; a program that does not read cannot hold it open."""
        close_timeout_s = 1.0
        self.writer.close()
        with anyio.move_on_after(close_timeout_s, shield=True) as scope, suppress(*FORWARD_ERRORS):
            await self.writer.wait_closed()
        if scope.cancelled_caught:
            self.writer.transport.abort()


class IdleTimeout:
    """Ends what runs inside it once nothing has moved for so many seconds.

    Args:
        seconds: How long nothing may move.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def restart(self) -> None:
        self.scope.deadline = anyio.current_time() + self._seconds


async def forward_tunnel(client: ProxyClient, server: SocketStream, seconds: float) -> None:
    """Bytes both ways until the server ends, a side breaks, or nothing moves for so long."""
    quiet = IdleTimeout(seconds)
    await client.send_event(h11.Response(status_code=200, headers=[]))
    with quiet.scope:
        async with anyio.create_task_group() as both:
            both.start_soon(_forward_upstream, client, server, quiet.restart)
            with suppress(*FORWARD_ERRORS):
                await _downwards(client, server, quiet.restart)
            both.cancel_scope.cancel()


async def forward_request(
    client: ProxyClient, request: h11.Request, target: RequestTarget, server: SocketStream, seconds: float
) -> None:
    """One plain request and its reply, framed anew on both sides. Raises what `BROKEN` lists."""
    quiet, http = IdleTimeout(seconds), h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
    headers = [(b"host", target.authority.encode()), *filter_end_to_end(request.headers), (b"connection", b"close")]
    head = h11.Request(method=request.method, target=target.path.encode(), headers=headers)
    await server.send(http.send(head) or b"")
    failed: list[Exception] = []
    with quiet.scope:
        async with anyio.create_task_group() as both:
            both.start_soon(_forward_body, client, http, server, quiet.restart)
            try:
                await _forward_response(client, http, server, quiet.restart)
            except FORWARD_ERRORS as error:
                failed.append(error)
            both.cancel_scope.cancel()
    if failed:
        raise failed[0]


def filter_end_to_end(headers: HeaderPairs) -> list[tuple[bytes, bytes]]:
    """The headers that are meant for the other end."""
    # Headers between neighbours only (RFC 9110 section 7.6.1), and those that the proxy sets anew.
    hop_headers = frozenset({b"connection", b"expect", b"host", b"keep-alive", b"te", b"trailer", b"upgrade"})
    named = {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")}
    return [
        (name, value)
        for name, value in headers
        if name not in hop_headers and name not in named and not name.startswith(b"proxy-")
    ]


async def _forward_upstream(client: ProxyClient, server: SocketStream, on_data: Callable[[], None]) -> None:
    with suppress(*FORWARD_ERRORS):
        data = client.early_data or await client.reader.read(READ_BYTES)
        while data:
            await server.send(data)
            on_data()
            data = await client.reader.read(READ_BYTES)
        await server.send_eof()


async def _downwards(client: ProxyClient, server: SocketStream, moved: Callable[[], None]) -> None:
    while True:
        client.writer.write(await server.receive(READ_BYTES))
        await client.writer.drain()
        moved()


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
    max_interim_replies = 20  # 1xx replies before the real one
    interim, event = 0, None
    while not isinstance(event, h11.EndOfMessage):
        event = await _read_server_event(http, server)
        on_data()
        if isinstance(event, h11.InformationalResponse) and (interim := interim + 1) <= max_interim_replies:
            continue
        if isinstance(event, h11.Response):
            kept = [*filter_end_to_end(event.headers), (b"connection", b"close")]
            event = h11.Response(status_code=event.status_code, headers=kept, reason=event.reason)
        if not isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
            raise h11.RemoteProtocolError("no reply")
        await client.send_event(event)


async def _read_server_event(http: h11.Connection, server: SocketStream) -> object:
    while (event := http.next_event()) is h11.NEED_DATA:
        try:
            http.receive_data(await server.receive(READ_BYTES))
        except anyio.EndOfStream:
            http.receive_data(b"")
    return event
