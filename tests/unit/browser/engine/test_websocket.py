"""The WebSocket transport against a handwritten RFC 6455 server."""

import asyncio
from base64 import b64encode
from hashlib import sha1

import anyio
import pytest

from outrider.browser.protocol.websocket import open_websocket
from outrider.core.egress import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S

HANDSHAKE_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3


def unmask(data: bytes) -> bytes:
    size = data[1] & 0x7F
    start = 2 if size < 126 else 4 if size == 126 else 10
    size = size if size < 126 else int.from_bytes(data[2:start], "big")
    mask, body = data[start : start + 4], data[start + 4 :]
    assert len(body) == size
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(body))


async def accept_handshake(reader, writer, rest: bytes = b"") -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
    accept = b64encode(sha1((key + HANDSHAKE_GUID).encode()).digest()).decode()
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    writer.write("\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode() + rest)


async def open_transport(url: str):
    """Return a transport, its messages, and the reason why it was lost."""
    transport = await open_websocket(EgressGuard(), url.replace("http", "ws") + "/devtools/browser/1")
    received: asyncio.Queue[bytes] = asyncio.Queue()
    lost: asyncio.Queue[str] = asyncio.Queue()
    transport.start(received.put_nowait, lost.put_nowait)
    return transport, received, lost


async def test_messages_go_both_ways_in_pieces_and_between_pings():
    async def server(reader, writer):
        await accept_handshake(reader, writer)
        data = await reader.read(1_000)
        assert unmask(data) == b"hello"
        writer.write(b"\x01\x03one" + b"\x89\x01p" + b"\x80\x03two")
        pong = await reader.read(1_000)
        assert (pong[0], unmask(pong)) == (0x8A, b"p")
        writer.write(b"\x81\x7e\x01\x00" + b"x" * 256)
        writer.write(b"\x88\x00")
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, received, lost = await open_transport(url)
        transport.send(b"hello")
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert await received.get() == b"onetwo"
            assert await received.get() == b"x" * 256
            assert "closed" in await lost.get()
        await transport.aclose()


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 300_000])
async def test_messages_of_every_size_are_masked_and_whole(size):
    frames: asyncio.Queue[bytes] = asyncio.Queue()

    async def server(reader, writer):
        await accept_handshake(reader, writer)
        header_bytes = 6 if size < 126 else 8 if size < 65_536 else 14
        frames.put_nowait(await reader.readexactly(header_bytes + size))
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, _, _ = await open_transport(url)
        transport.send(b"m" * size)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            frame = await frames.get()
        await transport.aclose()
    assert frame[0] == 0x81
    assert frame[1] & 0x80
    assert unmask(frame) == b"m" * size


async def test_a_message_after_the_connection_is_closed_is_dropped():
    async def server(reader, writer):
        await accept_handshake(reader, writer)
        writer.write(b"\x88\x00")
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, _, lost = await open_transport(url)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert "closed" in await lost.get()
        transport.send(b"too late")
        await transport.aclose()


async def test_a_message_in_the_same_packet_as_the_handshake_is_received():
    async def server(reader, writer):
        await accept_handshake(reader, writer, rest=b"\x81\x05early")
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, received, _ = await open_transport(url)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert await received.get() == b"early"
        await transport.aclose()


@pytest.mark.parametrize("bad", [b"\x81\x81aaaab", b"\x81\x7f" + b"\xff" * 8, b"\x81"])
async def test_a_server_that_violates_the_protocol_is_disconnected(bad):
    async def server(reader, writer):
        await accept_handshake(reader, writer)
        writer.write(bad)
        writer.write_eof()
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, received, lost = await open_transport(url)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert await lost.get()
        assert received.empty()
        await transport.aclose()


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 403 Forbidden\r\n\r\n", b"HTTP/1.1 101 ok\r\nSec-WebSocket-Accept: wrong\r\n\r\n", b"", b"x" * 100_000],
)
async def test_a_handshake_that_fails_is_unavailable(answer):
    async def server(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable):
            await open_websocket(EgressGuard(), url.replace("http", "ws"))


async def test_other_addresses_are_refused():
    for url in ("http://127.0.0.1/", "ws://", "file:///x"):
        with pytest.raises(InvalidInput):
            await open_websocket(EgressGuard(), url)
    with pytest.raises(OutriderError):
        await open_websocket(EgressGuard(), "ws://169.254.169.254/")
