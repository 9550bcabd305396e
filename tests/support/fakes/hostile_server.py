"""A server that does everything a server should not: raw TCP on loopback, one trick a handler.

`async with serve_hostile(TRICKS["gzip_bomb"]) as url` serves one trick at every path. Handlers made by
`raw`, `body` and `redirect` serve others.
"""

import asyncio
import gzip
import itertools
import re
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import cache

from outrider.core.egress.listening import stop_listening

Trick = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
MEGABYTE = 1 << 20
OK = b"HTTP/1.1 200 OK\r\n"
FOREVER = 3600.0


@asynccontextmanager
async def serve_hostile(trick: Trick) -> AsyncGenerator[str]:
    """Serves the trick; yields its address. `trick` gets each request's head and the writer."""
    tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            while True:
                await trick(await reader.readuntil(b"\r\n\r\n"), writer)
                await writer.drain()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(converse(reader, writer))
        tasks[task] = writer
        task.add_done_callback(lambda done: tasks.pop(done).transport.abort())

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await stop_listening(server)
        ending = list(tasks)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.sleep(0)  # the transports' turn to close


def raw(pieces: list[bytes] | Callable[[], Iterable[bytes]], *, pause: float = 0.0, close: bool = True) -> Trick:
    """Sends these bytes, whatever was asked: without end if they have none, slowly if `pause` says so."""

    async def send(_: bytes, writer: asyncio.StreamWriter) -> None:
        for piece in pieces if isinstance(pieces, list) else pieces():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if close:
            raise ConnectionAbortedError

    return send


def body(content: bytes, *headers: bytes) -> Trick:
    """An ordinary answer with this body and these headers."""
    lines = [b"Content-Length: %d" % len(content), *headers]
    return raw([OK + b"\r\n".join(lines) + b"\r\n\r\n" + content], close=False)


def redirect(location: bytes, status: int = 302) -> Trick:
    """A redirect, with a body that never ends."""
    head = b"HTTP/1.1 %d Elsewhere\r\nLocation: %b\r\n\r\n" % (status, location)
    return raw(lambda: itertools.chain([head], itertools.repeat(b"x" * 65_536)))


def coded(coding: bytes, pieces: Callable[[], Iterable[bytes]]) -> Trick:
    """A body in a Content-Encoding, ended by closing the connection."""
    return raw(lambda: itertools.chain([OK + b"Content-Encoding: " + coding + b"\r\n\r\n"], pieces()))


@cache
def zeros(size: int = 10 * MEGABYTE) -> bytes:
    return bytes(size)


@cache
def gzip_member() -> bytes:
    """Ten megabytes in ten kilobytes."""
    return gzip.compress(zeros())


def deflated(bits: int) -> Iterator[bytes]:
    """A deflate stream that never ends: a full flush makes the same block valid again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    yield packer.compress(zeros(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(zeros(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from itertools.repeat(block)


@cache
def brotli_bomb() -> bytes:
    import brotli

    return brotli.compress(zeros(128 * MEGABYTE), quality=1)


@cache
def zstd_frame() -> bytes:
    from backports import zstd

    return zstd.compress(zeros(64 * MEGABYTE))


@cache
def zstd_wide() -> bytes:
    """A frame that asks for a window of 512 MB."""
    from backports import zstd

    wide = {int(zstd.CompressionParameter.window_log): 29}
    packer = zstd.ZstdCompressor(options=wide)
    return packer.compress(zeros()) + packer.flush()


@cache
def nested(depth: int) -> bytes:
    content = gzip_member() * 100
    for _ in range(depth - 1):
        content = gzip.compress(content)
    return content


def headers_without_end() -> Iterator[bytes]:
    yield OK
    for number in itertools.count():
        yield b"X-%d: %b\r\n" % (number, b"x" * 1000)


def counted_redirect(head: bytes, writer: asyncio.StreamWriter) -> Awaitable[None]:
    number = int(re.search(rb"/(\d*)", head)[1] or b"0") + 1
    writer.write(b"HTTP/1.1 302 On\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n" % number)
    return writer.drain()


def smuggled(_: bytes, writer: asyncio.StreamWriter) -> Awaitable[None]:
    """A second answer behind the first, for whoever asks next on this connection."""
    writer.write(OK + b"Content-Length: 5\r\n\r\nfirst" + OK + b"Content-Length: 6\r\n\r\npoison")
    return writer.drain()


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HTML = b"Content-Type: text/html"

TRICKS: dict[str, Trick] = {
    # Compression
    "gzip_bomb": coded(b"gzip", lambda: deflated(31)),
    "gzip_bomb_in_members": coded(b"gzip", lambda: itertools.repeat(gzip_member())),
    "gzip_empty_members": coded(b"gzip", lambda: itertools.repeat(gzip.compress(b"") * 500)),
    "gzip_in_gzip": coded(b"gzip, gzip", lambda: itertools.repeat(nested(2), 20)),
    "gzip_in_gzip_in_gzip": coded(b"gzip, gzip, gzip", lambda: itertools.repeat(nested(3), 20)),
    "gzip_ten_times": coded(b"gzip, " * 9 + b"gzip", lambda: [nested(2)]),
    "deflate_bomb": coded(b"deflate", lambda: deflated(15)),
    "raw_deflate_bomb": coded(b"deflate", lambda: deflated(-15)),
    "brotli_bomb": coded(b"br", lambda: [brotli_bomb()]),
    "zstd_bomb": coded(b"zstd", lambda: itertools.repeat(zstd_frame())),
    "zstd_wide_window": coded(b"zstd", lambda: [zstd_wide()]),
    "gzip_of_nonsense": coded(b"gzip", lambda: [b"\x1f\x8b\x08\x00" + b"\xff" * 800]),
    "gzip_that_is_none": body(b"<p>plain</p>", HTML, b"Content-Encoding: gzip"),
    "unknown_coding": body(b"plain", b"Content-Encoding: utf-8"),
    # Size
    "endless_body": raw(lambda: itertools.chain([OK + b"\r\n"], itertools.repeat(b"x" * 65_536))),
    "endless_chunks": raw(lambda: itertools.chain([CHUNKED], itertools.repeat(b"1\r\nx\r\n" * 10_000))),
    "endless_chunk_extensions": raw(
        lambda: itertools.chain([CHUNKED], itertools.repeat((b"1;" + b"e" * 8000 + b"\r\nx\r\n") * 8))
    ),
    "declared_terabytes": raw([OK + b"Content-Length: 9999999999999\r\n\r\nx"], close=False),
    "trailers_without_end": raw(lambda: itertools.chain([CHUNKED + b"0\r\n"], itertools.repeat(b"T: t\r\n" * 1000))),
    # Time
    "silence": raw([], pause=0, close=False),
    "slow_headers": raw(lambda: itertools.chain([OK], itertools.repeat(b"X: y\r\n")), pause=0.05),
    "slow_body": raw(lambda: itertools.chain([OK + b"\r\n"], itertools.repeat(b".")), pause=0.05),
    "slow_gzip": coded(b"gzip", lambda: itertools.repeat(b"")),
    # Headers
    "huge_header": raw([OK + b"X: " + b"x" * 90_000 + b"\r\n\r\n"]),
    "many_headers": raw([OK + b"".join(b"X-%d: y\r\n" % number for number in range(201)) + b"\r\n"]),
    "headers_without_end": raw(headers_without_end),
    "interim_without_end": raw(lambda: itertools.repeat(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)),
    "bytes_in_headers": raw([OK + b"X: \x00\x01\r\nContent-Length: 0\r\n\r\n"]),
    # Redirects
    "redirect_loop": redirect(b"/again"),
    "redirect_chain": counted_redirect,
    "redirect_to_metadata": redirect(b"http://169.254.169.254/latest/meta-data/"),
    "redirect_to_loopback": redirect(b"http://[::1]:80/", 307),
    "redirect_to_localhost": redirect(b"http://localhost/", 301),
    "redirect_to_spelled_loopback": redirect(b"//0x7f.1/", 308),
    "redirect_to_port": redirect(b"http://example.com:6379/"),
    "redirect_to_file": redirect(b"file:///etc/passwd"),
    "redirect_to_javascript": redirect(b"javascript:alert(1)"),
    "redirect_to_data": redirect(b"data:text/html,hello"),
    "redirect_to_password": redirect(b"http://user:password@example.com/"),
    "redirect_to_nonsense": redirect(b"http://[nonsense"),
    # Protocol
    "nothing": raw([]),
    "status_nonsense": raw([b"HTTP/1.1 abc nonsense\r\n\r\n"]),
    "not_http": raw([b"SSH-2.0-OpenSSH_9.6\r\n" * 10]),
    "chunk_nonsense": raw([CHUNKED + b"zz\r\nnonsense\r\n"]),
    "chunk_size_overflow": raw([CHUNKED + b"f" * 40 + b"\r\nx"]),
    "length_too_long": raw([OK + b"Content-Length: 100\r\n\r\nshort"]),
    "length_twice": raw([OK + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello"]),
    "length_negative": raw([OK + b"Content-Length: -1\r\n\r\nhello"]),
    "reset_in_body": raw([OK + b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000]),
    "switching_protocols": raw([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + b"x" * 1000]),
    "smuggled_answer": smuggled,
    # Content
    "wrong_charset": body("日本語".encode("shift_jis"), b"Content-Type: text/html; charset=klingon"),
    "html_as_png": body(b"<h1>hello</h1>", b"Content-Type: image/png"),
    "deep_nesting": body(b"<div>" * 200_000 + b"deep", HTML),
    "traversal_name": body(b"x", b'Content-Disposition: attachment; filename="../../../etc/passwd"'),
}
