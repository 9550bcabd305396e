"""The protocol over a WebSocket (RFC 6455): for browsers that somebody else has started, here or elsewhere."""

import asyncio
import os
import struct
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha1
from urllib.parse import urlsplit

from outrider.core.egress import EgressGuard
from outrider.core.egress.raw_connection import DuplexStream, connect_endpoint
from outrider.core.errors import InvalidInput, OutriderError, Unavailable

HANDSHAKE_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3
MAX_MESSAGE_BYTES = 512 << 20  # bytes of one message
READ_CHUNK_BYTES = 1 << 18
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


class WebSocketTransport:
    """A connection that has shaken hands.

    Args:
        duplex: The bytes below.
        rest: What came after the handshake already.
    """

    def __init__(self, duplex: DuplexStream, rest: bytes = b"") -> None:
        self._duplex = duplex
        self._buffer = bytearray(rest)
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._on_lost: Callable[[str], None] = lambda _: None
        self._on_message: Callable[[bytes], None] = lambda _: None

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Begins to read and write."""
        self._on_message, self._on_lost = received, lost
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._read_messages()), loop.create_task(self._write_frames())]

    def send(self, message: bytes) -> None:
        """Queues a message."""
        self._outgoing.put_nowait(build_frame(TEXT, message))

    async def aclose(self) -> None:
        """Says goodbye and closes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OutriderError, TimeoutError):
            async with asyncio.timeout(1):
                await self._duplex.write(build_frame(CLOSE, struct.pack("!H", 1000)))
        await self._duplex.aclose()

    async def _write_frames(self) -> None:
        try:
            while True:
                await self._duplex.write(await self._outgoing.get())
        except OutriderError as error:
            self._on_lost(error.message)

    async def _read_messages(self) -> None:
        parts: list[bytes] = []
        while (got := await self._read_frame()) is not None:
            final, kind, data = got
            if kind == PING:
                self._outgoing.put_nowait(build_frame(PONG, data))
            elif kind == CLOSE:
                break
            elif kind in (CONTINUATION, TEXT, BINARY):
                parts.append(data)
                if final:
                    self._on_message(b"".join(parts))
                    parts.clear()
                elif sum(map(len, parts)) > MAX_MESSAGE_BYTES:
                    break
        self._on_lost("the connection to it was closed")

    async def _read_frame(self) -> tuple[bool, int, bytes] | None:
        """The next frame as (final, kind, data); None at the end."""
        head = await self._read_exactly(2)
        if head is None:
            return None
        size, masked = head[1] & 0x7F, head[1] & 0x80
        if size >= 126:
            longer = await self._read_exactly(2 if size == 126 else 8)
            if longer is None:
                return None
            size = int.from_bytes(longer, "big")
        if masked or size > MAX_MESSAGE_BYTES:  # a server must not mask (section 5.1)
            return None
        data = await self._read_exactly(size)
        return None if data is None else (bool(head[0] & 0x80), head[0] & 0x0F, data)

    async def _read_exactly(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            data = await self._duplex.read(READ_CHUNK_BYTES)
            if not data:
                return None
            self._buffer += data
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def build_frame(kind: int, data: bytes) -> bytes:
    """A whole frame as a client sends it, masked (section 5.2)."""
    size = len(data)
    if size < 126:
        head = bytes((0x80 | kind, 0x80 | size))
    elif size < 65_536:
        head = bytes((0x80 | kind, 0x80 | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((0x80 | kind, 0x80 | 127)) + size.to_bytes(8, "big")
    mask = os.urandom(4)
    pattern = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(data, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")
    return head + mask + masked


async def open_websocket(guard: EgressGuard, url: str, headers: dict[str, str] | None = None) -> WebSocketTransport:
    """Shakes hands with `ws://` or `wss://`, an address of the operator's. Raises InvalidInput or Unavailable."""
    timeout_s = 15.0
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise InvalidInput("cdp_url: is no ws:// or wss:// address", hint="for instance ws://127.0.0.1:9222/devtools/…")
    tls = parts.scheme == "wss"
    port = parts.port or (443 if tls else 80)
    duplex = await connect_endpoint(guard, parts.hostname, port, tls=tls, seconds=timeout_s)
    try:
        async with asyncio.timeout(timeout_s):
            rest = await _perform_handshake(
                duplex, parts.netloc.rpartition("@")[2], _path(parts.path, parts.query), headers or {}
            )
    except BaseException as error:
        await duplex.aclose()
        if isinstance(error, TimeoutError):
            raise Unavailable(f"{parts.hostname} does not shake hands", code="timeout") from None
        raise
    return WebSocketTransport(duplex, rest)


def _path(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"


async def _perform_handshake(duplex: DuplexStream, host: str, path: str, headers: dict[str, str]) -> bytes:
    """The opening handshake (section 4); returns what came after it."""
    max_head_bytes = 65_536
    key = b64encode(os.urandom(16)).decode()
    own = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Version": "13",
    }
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (own | headers).items()), "", ""]
    await duplex.write("\r\n".join(lines).encode("latin-1"))
    data = b""
    while b"\r\n\r\n" not in data:
        piece = await duplex.read(READ_CHUNK_BYTES)
        data += piece
        if not piece or len(data) > max_head_bytes:
            raise Unavailable("the browser's address does not answer as a WebSocket", code="protocol")
    head, _, rest = data.partition(b"\r\n\r\n")
    _check_handshake(head.decode("latin-1"), key)
    return rest


def _check_handshake(head: str, key: str) -> None:
    status, *lines = head.split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    expected = b64encode(sha1((key + HANDSHAKE_GUID).encode(), usedforsecurity=False).digest()).decode()
    parts = status.split(" ", 2)
    if len(parts) < 2 or parts[1] != "101" or fields.get("sec-websocket-accept") != expected:
        hint = "403 means that the browser wants --remote-allow-origins; 404 that the address is old"
        raise Unavailable(f"the browser's address answers: {status[:100]}", code="protocol", hint=hint)
