"""Carries bytes between a program that asked the proxy and the server that it was let through to."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import h11
from anyio.abc import SocketStream

from outrider.core.egress.target import Target

HEAD_BYTES = 65_536
PIECE = 65_536
INTERIM_LIMIT = 20  # 1xx replies before the real one
CLOSING_SECONDS = 1.0
# Headers between neighbours only (RFC 9110 section 7.6.1), and those that the proxy sets anew.
NEIGHBOURS = frozenset({b"connection", b"expect", b"host", b"keep-alive", b"te", b"trailer", b"upgrade"})
BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, h11.ProtocolError)
Pairs = Sequence[tuple[bytes, bytes]]


class Client:
    """The program's side of one connection: one request, then it is closed.

    Args:
        reader: From the program.
        writer: To the program.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)

    @property
    def answered(self) -> bool:
        """Whether a reply has begun."""
        return self._http.our_state is not h11.IDLE and self._http.our_state is not h11.SEND_RESPONSE

    @property
    def early(self) -> bytes:
        """What came behind a CONNECT without waiting for its reply."""
        return self._http.trailing_data[0]

    async def event(self) -> object:
        """The next part of the request. Raises h11.RemoteProtocolError."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self.reader.read(PIECE))
        return event

    async def send(self, event: h11.Event) -> None:
        """Sends a part of the reply."""
        self.writer.write(self._http.send(event) or b"")
        await self.writer.drain()

    async def answer(self, status: int, text: str, headers: Pairs = ()) -> None:
        """A whole reply of the proxy's own."""
        body = text.encode()
        length = str(len(body)).encode()
        own = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length), (b"connection", b"close")]
        await self.send(h11.Response(status_code=status, headers=[*own, *headers]))
        await self.send(h11.Data(data=body))
        await self.send(h11.EndOfMessage())

    async def aclose(self) -> None:
        """Closes the connection; a program that does not read cannot hold it open."""
        self.writer.close()
        with anyio.move_on_after(CLOSING_SECONDS, shield=True) as scope, suppress(*BROKEN):
            await self.writer.wait_closed()
        if scope.cancelled_caught:
            self.writer.transport.abort()


class Quiet:
    """Ends what runs inside it once nothing has moved for so many seconds.

    Args:
        seconds: How long nothing may move.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def moved(self) -> None:
        self.scope.deadline = anyio.current_time() + self._seconds


async def relay_tunnel(client: Client, server: SocketStream, seconds: float) -> None:
    """Bytes both ways until the server ends, a side breaks, or nothing moves for so long."""
    quiet = Quiet(seconds)
    await client.send(h11.Response(status_code=200, headers=[]))
    with quiet.scope:
        async with anyio.create_task_group() as both:
            both.start_soon(_upwards, client, server, quiet.moved)
            with suppress(*BROKEN):
                await _downwards(client, server, quiet.moved)
            both.cancel_scope.cancel()


async def relay_request(
    client: Client, request: h11.Request, target: Target, server: SocketStream, seconds: float
) -> None:
    """One plain request and its reply, framed anew on both sides. Raises what `BROKEN` lists."""
    quiet, http = Quiet(seconds), h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
    headers = [(b"host", target.authority.encode()), *end_to_end(request.headers), (b"connection", b"close")]
    head = h11.Request(method=request.method, target=target.path.encode(), headers=headers)
    await server.send(http.send(head) or b"")
    failed: list[Exception] = []
    with quiet.scope:
        async with anyio.create_task_group() as both:
            both.start_soon(_send_body, client, http, server, quiet.moved)
            try:
                await _send_reply(client, http, server, quiet.moved)
            except BROKEN as error:
                failed.append(error)
            both.cancel_scope.cancel()
    if failed:
        raise failed[0]


def end_to_end(headers: Pairs) -> list[tuple[bytes, bytes]]:
    """The headers that are meant for the other end."""
    named = {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")}
    return [
        (name, value)
        for name, value in headers
        if name not in NEIGHBOURS and name not in named and not name.startswith(b"proxy-")
    ]


async def _upwards(client: Client, server: SocketStream, moved: Callable[[], None]) -> None:
    with suppress(*BROKEN):
        data = client.early or await client.reader.read(PIECE)
        while data:
            await server.send(data)
            moved()
            data = await client.reader.read(PIECE)
        await server.send_eof()


async def _downwards(client: Client, server: SocketStream, moved: Callable[[], None]) -> None:
    while True:
        client.writer.write(await server.receive(PIECE))
        await client.writer.drain()
        moved()


async def _send_body(client: Client, http: h11.Connection, server: SocketStream, moved: Callable[[], None]) -> None:
    with suppress(*BROKEN):
        event = None
        while not isinstance(event, h11.EndOfMessage):
            event = await client.event()
            if not isinstance(event, h11.Data | h11.EndOfMessage):
                return
            await server.send(http.send(event) or b"")
            moved()


async def _send_reply(client: Client, http: h11.Connection, server: SocketStream, moved: Callable[[], None]) -> None:
    interim, event = 0, None
    while not isinstance(event, h11.EndOfMessage):
        event = await _server_event(http, server)
        moved()
        if isinstance(event, h11.InformationalResponse) and (interim := interim + 1) <= INTERIM_LIMIT:
            continue
        if isinstance(event, h11.Response):
            kept = [*end_to_end(event.headers), (b"connection", b"close")]
            event = h11.Response(status_code=event.status_code, headers=kept, reason=event.reason)
        if not isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
            raise h11.RemoteProtocolError("no reply")
        await client.send(event)


async def _server_event(http: h11.Connection, server: SocketStream) -> object:
    while (event := http.next_event()) is h11.NEED_DATA:
        try:
            http.receive_data(await server.receive(PIECE))
        except anyio.EndOfStream:
            http.receive_data(b"")
    return event
