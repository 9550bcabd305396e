"""The WebSocket transport against a server of our own that speaks RFC 6455 by hand."""

import asyncio
from base64 import b64encode
from hashlib import sha1

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.browser.protocol.websocket import HANDSHAKE_GUID, TEXT, build_frame, open_websocket
from outrider.core.egress import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from support.fakes import http_servers


def unmasked(data: bytes) -> bytes:
    size = data[1] & 0x7F
    start = 2 if size < 126 else 4 if size == 126 else 10
    size = size if size < 126 else int.from_bytes(data[2:start], "big")
    mask, body = data[start : start + 4], data[start + 4 :]
    assert len(body) == size
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(body))


@given(st.binary(max_size=70_000))
def test_frames_are_masked_and_whole(data):
    whole = build_frame(TEXT, data)
    assert whole[0] == 0x81
    assert whole[1] & 0x80
    assert unmasked(whole) == data


async def shake(reader, writer) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
    accept = b64encode(sha1((key + HANDSHAKE_GUID).encode()).digest()).decode()
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    writer.write("\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode())


async def opened(url: str):
    """A transport, what it receives, and why it was lost."""
    transport = await open_websocket(EgressGuard(), url.replace("http", "ws") + "/devtools/browser/1")
    received: asyncio.Queue[bytes] = asyncio.Queue()
    lost: asyncio.Queue[str] = asyncio.Queue()
    transport.start(received.put_nowait, lost.put_nowait)
    return transport, received, lost


async def test_messages_go_both_ways_in_pieces_and_between_pings():
    async def server(reader, writer):
        await shake(reader, writer)
        data = await reader.read(1_000)
        assert unmasked(data) == b"hello"
        writer.write(b"\x01\x03one" + b"\x89\x01p" + b"\x80\x03two")
        pong = await reader.read(1_000)
        assert (pong[0], unmasked(pong)) == (0x8A, b"p")
        writer.write(b"\x81\x7e\x01\x00" + b"x" * 256)
        writer.write(b"\x88\x00")
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, received, lost = await opened(url)
        transport.send(b"hello")
        with anyio.fail_after(5):
            assert await received.get() == b"onetwo"
            assert await received.get() == b"x" * 256
            assert "closed" in await lost.get()
        await transport.aclose()


@pytest.mark.parametrize("bad", [b"\x81\x81aaaab", b"\x81\x7f" + b"\xff" * 8, b"\x81"])
async def test_a_server_that_breaks_the_rules_is_left(bad):
    async def server(reader, writer):
        await shake(reader, writer)
        writer.write(bad)
        writer.write_eof()
        await reader.read()
        writer.close()

    async with http_servers.serve_raw_tcp(server) as url:
        transport, received, lost = await opened(url)
        with anyio.fail_after(5):
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
        with anyio.fail_after(5), pytest.raises(Unavailable):
            await open_websocket(EgressGuard(), url.replace("http", "ws"))


async def test_other_addresses_are_refused():
    for url in ("http://127.0.0.1/", "ws://", "file:///x"):
        with pytest.raises(InvalidInput):
            await open_websocket(EgressGuard(), url)
    with pytest.raises(OutriderError):
        await open_websocket(EgressGuard(), "ws://169.254.169.254/")
