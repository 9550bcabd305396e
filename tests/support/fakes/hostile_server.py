"""A misbehaving server: raw TCP on loopback, one trick per handler.

`async with serve_hostile(TRICKS["gzip_bomb"]) as url` serves one trick at every path. Handlers made by
`raw`, `body` and `redirect` serve others.
"""

import asyncio
import gzip
import itertools
import re
import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Any

from outrider.core.egress.server_shutdown import stop_listening

Trick = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
MEGABYTE_BYTES = 1 << 20
OK_STATUS_LINE = b"HTTP/1.1 200 OK\r\n"
ENDLESS_PAUSE_S = 3600.0


@asynccontextmanager
async def serve_hostile(trick: Trick) -> AsyncGenerator[str]:
    """Serve the trick; yield its address. `trick` takes each request's head and the writer."""
    tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def answer_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            while True:
                await trick(await reader.readuntil(b"\r\n\r\n"), writer)
                await writer.drain()

    def accept_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(answer_requests(reader, writer))
        tasks[task] = writer
        task.add_done_callback(end_connection)

    def end_connection(task: asyncio.Task[None]) -> None:
        writer = tasks.pop(task)  # kept until the transport is closed, because collecting it earlier warns
        writer.transport.abort()

    server = await asyncio.start_server(accept_connection, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await stop_listening(server)
        ending = list(tasks)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.sleep(0)  # let the transports close


def send_pieces(
    pieces: list[bytes] | Callable[[], Iterable[bytes]], *, pause: float = 0.0, close: bool = True
) -> Trick:
    """Send these pieces for any request, endlessly if they are endless, and slowly with `pause`."""

    async def write_pieces(_: bytes, writer: asyncio.StreamWriter) -> None:
        for piece in pieces if isinstance(pieces, list) else pieces():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if close:
            raise ConnectionAbortedError

    return write_pieces


def send_body(content: bytes, *headers: bytes) -> Trick:
    """Send an ordinary response with this body and these headers."""
    lines = [b"Content-Length: %d" % len(content), *headers]
    return send_pieces([OK_STATUS_LINE + b"\r\n".join(lines) + b"\r\n\r\n" + content], close=False)


def send_redirect(location: bytes, status: int = 302) -> Trick:
    """Send a redirect with an endless body."""
    head = b"HTTP/1.1 %d Elsewhere\r\nLocation: %b\r\n\r\n" % (status, location)
    return send_pieces(lambda: itertools.chain([head], itertools.repeat(b"x" * 65_536)))


def send_encoded(coding: bytes, pieces: Callable[[], Iterable[bytes]]) -> Trick:
    """Send a body in a Content-Encoding, ended by closing the connection."""
    return send_pieces(
        lambda: itertools.chain([OK_STATUS_LINE + b"Content-Encoding: " + coding + b"\r\n\r\n"], pieces())
    )


@cache
def build_zeros(size: int = 10 * MEGABYTE_BYTES) -> bytes:
    return bytes(size)


@cache
def build_gzip_member() -> bytes:
    """Return ten kilobytes that decompress to ten megabytes."""
    return gzip.compress(build_zeros())


def iter_deflate_stream(bits: int) -> Iterator[bytes]:
    """Yield an endless deflate stream: a full flush makes the same block valid repeatedly."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    yield packer.compress(build_zeros(MEGABYTE_BYTES)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(build_zeros(MEGABYTE_BYTES)) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from itertools.repeat(block)


@cache
def build_brotli_bomb() -> bytes:
    import brotli

    return brotli.compress(build_zeros(128 * MEGABYTE_BYTES), quality=1)


def import_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


@cache
def build_zstd_frame() -> bytes:
    zstd = import_zstd()
    return zstd.compress(build_zeros(64 * MEGABYTE_BYTES))


@cache
def build_wide_zstd_frame() -> bytes:
    """Return a frame that requires a window of 512 MB."""
    zstd = import_zstd()
    wide = {int(zstd.CompressionParameter.window_log): 29}
    packer = zstd.ZstdCompressor(options=wide)
    return packer.compress(build_zeros()) + packer.flush()


@cache
def build_nested_gzip(depth: int) -> bytes:
    content = build_gzip_member() * 100
    for _ in range(depth - 1):
        content = gzip.compress(content)
    return content


def iter_endless_headers() -> Iterator[bytes]:
    yield OK_STATUS_LINE
    for number in itertools.count():
        yield b"X-%d: %b\r\n" % (number, b"x" * 1000)


def redirect_to_next_number(head: bytes, writer: asyncio.StreamWriter) -> Awaitable[None]:
    number = int(re.search(rb"/(\d*)", head)[1] or b"0") + 1
    writer.write(b"HTTP/1.1 302 On\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n" % number)
    return writer.drain()


def send_smuggled_response(_: bytes, writer: asyncio.StreamWriter) -> Awaitable[None]:
    """Send a second response after the first, for the next request on this connection."""
    writer.write(
        OK_STATUS_LINE + b"Content-Length: 5\r\n\r\nfirst" + OK_STATUS_LINE + b"Content-Length: 6\r\n\r\npoison"
    )
    return writer.drain()


CHUNKED_HEAD = OK_STATUS_LINE + b"Transfer-Encoding: chunked\r\n\r\n"
HTML_HEADER = b"Content-Type: text/html"

TRICKS: dict[str, Trick] = {
    # Compression
    "gzip_bomb": send_encoded(b"gzip", lambda: iter_deflate_stream(31)),
    "gzip_bomb_in_members": send_encoded(b"gzip", lambda: itertools.repeat(build_gzip_member())),
    "gzip_empty_members": send_encoded(b"gzip", lambda: itertools.repeat(gzip.compress(b"") * 500)),
    "gzip_in_gzip": send_encoded(b"gzip, gzip", lambda: itertools.repeat(build_nested_gzip(2), 20)),
    "gzip_in_gzip_in_gzip": send_encoded(b"gzip, gzip, gzip", lambda: itertools.repeat(build_nested_gzip(3), 20)),
    "gzip_ten_times": send_encoded(b"gzip, " * 9 + b"gzip", lambda: [build_nested_gzip(2)]),
    "deflate_bomb": send_encoded(b"deflate", lambda: iter_deflate_stream(15)),
    "raw_deflate_bomb": send_encoded(b"deflate", lambda: iter_deflate_stream(-15)),
    "brotli_bomb": send_encoded(b"br", lambda: [build_brotli_bomb()]),
    "zstd_bomb": send_encoded(b"zstd", lambda: itertools.repeat(build_zstd_frame())),
    "zstd_wide_window": send_encoded(b"zstd", lambda: [build_wide_zstd_frame()]),
    "gzip_of_nonsense": send_encoded(b"gzip", lambda: [b"\x1f\x8b\x08\x00" + b"\xff" * 800]),
    "gzip_that_is_none": send_body(b"<p>plain</p>", HTML_HEADER, b"Content-Encoding: gzip"),
    "unknown_coding": send_body(b"plain", b"Content-Encoding: utf-8"),
    # Size
    "endless_body": send_pieces(lambda: itertools.chain([OK_STATUS_LINE + b"\r\n"], itertools.repeat(b"x" * 65_536))),
    "endless_chunks": send_pieces(lambda: itertools.chain([CHUNKED_HEAD], itertools.repeat(b"1\r\nx\r\n" * 10_000))),
    "endless_chunk_extensions": send_pieces(
        lambda: itertools.chain([CHUNKED_HEAD], itertools.repeat((b"1;" + b"e" * 8000 + b"\r\nx\r\n") * 8))
    ),
    "declared_terabytes": send_pieces([OK_STATUS_LINE + b"Content-Length: 9999999999999\r\n\r\nx"], close=False),
    "trailers_without_end": send_pieces(
        lambda: itertools.chain([CHUNKED_HEAD + b"0\r\n"], itertools.repeat(b"T: t\r\n" * 1000))
    ),
    # Time
    "silence": send_pieces([], pause=0, close=False),
    "slow_headers": send_pieces(lambda: itertools.chain([OK_STATUS_LINE], itertools.repeat(b"X: y\r\n")), pause=0.05),
    "slow_body": send_pieces(lambda: itertools.chain([OK_STATUS_LINE + b"\r\n"], itertools.repeat(b".")), pause=0.05),
    "slow_gzip": send_encoded(b"gzip", lambda: itertools.repeat(b"")),
    # Headers
    "huge_header": send_pieces([OK_STATUS_LINE + b"X: " + b"x" * 90_000 + b"\r\n\r\n"]),
    "many_headers": send_pieces(
        [OK_STATUS_LINE + b"".join(b"X-%d: y\r\n" % number for number in range(201)) + b"\r\n"]
    ),
    "headers_without_end": send_pieces(iter_endless_headers),
    "interim_without_end": send_pieces(lambda: itertools.repeat(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)),
    "bytes_in_headers": send_pieces([OK_STATUS_LINE + b"X: \x00\x01\r\nContent-Length: 0\r\n\r\n"]),
    # Redirects
    "redirect_loop": send_redirect(b"/again"),
    "redirect_chain": redirect_to_next_number,
    "redirect_to_metadata": send_redirect(b"http://169.254.169.254/latest/meta-data/"),
    "redirect_to_loopback": send_redirect(b"http://[::1]:80/", 307),
    "redirect_to_localhost": send_redirect(b"http://localhost/", 301),
    "redirect_to_spelled_loopback": send_redirect(b"//0x7f.1/", 308),
    "redirect_to_port": send_redirect(b"http://example.com:6379/"),
    "redirect_to_file": send_redirect(b"file:///etc/passwd"),
    "redirect_to_javascript": send_redirect(b"javascript:alert(1)"),
    "redirect_to_data": send_redirect(b"data:text/html,hello"),
    "redirect_to_password": send_redirect(b"http://user:password@example.com/"),
    "redirect_to_nonsense": send_redirect(b"http://[nonsense"),
    # Protocol
    "nothing": send_pieces([]),
    "status_nonsense": send_pieces([b"HTTP/1.1 abc nonsense\r\n\r\n"]),
    "not_http": send_pieces([b"SSH-2.0-OpenSSH_9.6\r\n" * 10]),
    "chunk_nonsense": send_pieces([CHUNKED_HEAD + b"zz\r\nnonsense\r\n"]),
    "chunk_size_overflow": send_pieces([CHUNKED_HEAD + b"f" * 40 + b"\r\nx"]),
    "length_too_long": send_pieces([OK_STATUS_LINE + b"Content-Length: 100\r\n\r\nshort"]),
    "length_twice": send_pieces([OK_STATUS_LINE + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello"]),
    "length_negative": send_pieces([OK_STATUS_LINE + b"Content-Length: -1\r\n\r\nhello"]),
    "reset_in_body": send_pieces([OK_STATUS_LINE + b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000]),
    "switching_protocols": send_pieces([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + b"x" * 1000]),
    "smuggled_answer": send_smuggled_response,
    # Content
    "wrong_charset": send_body("日本語".encode("shift_jis"), b"Content-Type: text/html; charset=klingon"),
    "html_as_png": send_body(b"<h1>hello</h1>", b"Content-Type: image/png"),
    "deep_nesting": send_body(b"<div>" * 200_000 + b"deep", HTML_HEADER),
    "traversal_name": send_body(b"x", b'Content-Disposition: attachment; filename="../../../etc/passwd"'),
}
