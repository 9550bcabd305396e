"""CDP over a WebSocket, for browsers that this process did not start.

The `websockets` package speaks RFC 6455; the bytes travel over the egress guard's connection.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from outrider.core.egress import EgressGuard
from outrider.core.egress.raw_connection import DuplexStream, connect_endpoint
from outrider.core.errors import InvalidInput, OutriderError, Unavailable

READ_CHUNK_BYTES = 1 << 18


class WebSocketTransport:
    """A WebSocket connection after its opening handshake.

    Args:
        duplex: The connection below.
        websocket: The protocol's state; frames that came right after the handshake are in it.
    """

    def __init__(self, duplex: DuplexStream, websocket: ClientProtocol) -> None:
        self._duplex = duplex
        self._websocket = websocket
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._on_lost: Callable[[str], None] = lambda _: None
        self._on_message: Callable[[bytes], None] = lambda _: None

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Start reading and writing."""
        self._on_message, self._on_lost = received, lost
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._read_messages()), loop.create_task(self._write_frames())]

    def send(self, message: bytes) -> None:
        """Queue a message; a closed connection drops it."""
        if self._websocket.state is State.OPEN:
            self._websocket.send_text(message)
            self._queue_output()

    async def aclose(self) -> None:
        """Send a close frame and close the connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._websocket.state is State.OPEN:
            self._websocket.send_close(1000)
            with suppress(OutriderError, TimeoutError):
                async with asyncio.timeout(1):
                    await _write_output(self._duplex, self._websocket)
        await self._duplex.aclose()

    async def _write_frames(self) -> None:
        try:
            while True:
                await self._duplex.write(await self._outgoing.get())
        except OutriderError as error:
            self._on_lost(error.message)

    async def _read_messages(self) -> None:
        """Hand over whole messages until the connection closes or the server breaks the protocol."""
        fragments: list[bytes] = []
        while True:
            for event in self._websocket.events_received():
                if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                    fragments.append(bytes(event.data))
                    if event.fin:
                        self._on_message(b"".join(fragments))
                        fragments.clear()
            self._queue_output()  # pongs and the answer to a close frame
            if self._websocket.state is not State.OPEN or not (data := await self._duplex.read(READ_CHUNK_BYTES)):
                break
            self._websocket.receive_data(data)
        self._on_lost("the connection to it was closed")

    def _queue_output(self) -> None:
        for data in filter(None, self._websocket.data_to_send()):
            self._outgoing.put_nowait(data)


async def open_websocket(guard: EgressGuard, url: str) -> WebSocketTransport:
    """Connect to a `ws://` or `wss://` address that the operator configured.

    Raises:
        InvalidInput: It is not such an address.
        Refused, Unavailable: The guard, the network or the server refused the connection.
    """
    timeout_s = 15.0
    max_message_bytes = 512 << 20
    try:
        address = parse_uri(url)
    except (InvalidURI, ValueError):
        hint = "write it like ws://127.0.0.1:9222/devtools/…"
        raise InvalidInput("browser.cdp_urls: not a ws:// or wss:// address", hint=hint) from None
    duplex = await connect_endpoint(guard, address.host, address.port, tls=address.secure, seconds=timeout_s)
    websocket = ClientProtocol(address, max_size=max_message_bytes)
    try:
        async with asyncio.timeout(timeout_s):
            await _perform_handshake(duplex, websocket)
    except BaseException as error:
        await duplex.aclose()
        if isinstance(error, TimeoutError):
            raise Unavailable(f"{address.host} did not complete the WebSocket handshake", code="timeout") from None
        raise
    return WebSocketTransport(duplex, websocket)


async def _perform_handshake(duplex: DuplexStream, websocket: ClientProtocol) -> None:
    max_response_bytes = 65_536
    websocket.send_request(websocket.connect())
    await _write_output(duplex, websocket)
    received_bytes = 0
    while websocket.state is State.CONNECTING and websocket.handshake_exc is None:
        data = await duplex.read(READ_CHUNK_BYTES)
        received_bytes += len(data)
        if data:
            websocket.receive_data(data)
        else:
            websocket.receive_eof()
        if websocket.state is State.CONNECTING and received_bytes > max_response_bytes:
            break
    if websocket.handshake_exc is None and websocket.state is not State.CONNECTING:
        return
    if isinstance(websocket.handshake_exc, InvalidStatus):
        response = websocket.handshake_exc.response
        hint = "403: start the browser with --remote-allow-origins; 404: its address has changed"
        answer = f"HTTP {response.status_code} {response.reason_phrase}"[:100].strip()
        raise Unavailable(f"the browser's address answers {answer}", code="protocol", hint=hint)
    raise Unavailable("the browser's address does not answer as a WebSocket", code="protocol")


async def _write_output(duplex: DuplexStream, websocket: ClientProtocol) -> None:
    for data in filter(None, websocket.data_to_send()):
        await duplex.write(data)
