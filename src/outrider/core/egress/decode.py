"""Decode content codings in bounded pieces.

RFC 9110 section 8.4.1, RFC 7932, RFC 8878.
"""

import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

SUPPORTED_CODINGS = ("gzip", "deflate", "br", "zstd")
ACCEPT_ENCODING = ", ".join(SUPPORTED_CODINGS)
MAX_PIECE_BYTES = 65_536  # of one decoded piece, unless a library overshoots


class ContentDecodingError(Exception):
    """The body does not match its Content-Encoding."""


class BodyTooLarge(Exception):
    """The decoded body is too large, or made of too many parts."""


class ContentDecoder(Protocol):
    """A decoder of one coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes that can be decoded now, in pieces of at most MAX_PIECE_BYTES."""
        ...


class MultiMemberDecoder:
    """Decodes gzip and zstd bodies of several members; other data after the last one is ignored."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._member: Any = None
        self._member_count = 0
        self._rest = b""
        self._is_finished = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        data = self._rest + data
        self._rest = b""
        while data and not self._is_finished:
            if self._member is None and not self._start_member(data):
                return
            member: Any = self._member
            yield from _iter_decompressed(member, data)
            if not member.eof:
                return
            data, self._member = member.unused_data, None

    def _start_member(self, data: bytes) -> bool:
        """Start the next member if `data` holds one; keep the data if more bytes are needed to decide."""
        max_members = 10_000
        magic = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}[self._coding]
        if self._member_count and not data.startswith(magic):
            self._is_finished = not magic.startswith(data)
            self._rest = b"" if self._is_finished else data
            return False
        self._member_count += 1
        if self._member_count > max_members:
            raise BodyTooLarge
        if self._coding == "gzip":
            self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        else:
            zstd = _import_zstd()
            max_window_log = 23  # 8 MB of memory, RFC 9659
            self._member = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: max_window_log})
        return True


class DeflateDecoder:
    """Decodes deflate: with zlib's wrapper as the RFC demands, or the bare stream that some servers send."""

    def __init__(self) -> None:
        self._head = b""
        self._inflate: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        yield from _iter_decompressed(self._inflate, data)


class BrotliDecoder:
    """Decodes Brotli."""

    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            # The library may allocate twice its limit.
            piece = self._stream.process(data, output_buffer_limit=MAX_PIECE_BYTES // 2)
            if not piece:
                return
            yield piece
            data = b""


class BodyDecoder:
    """Decodes the codings that a Content-Encoding header names, the last one first.

    Args:
        codings: The header's value; unknown codings are ignored.
        max_bytes: Maximum number of bytes that any coding may produce.

    Raises:
        ContentDecodingError: for more than three codings; from `feed` for bytes that cannot be decoded.
        BodyTooLarge: from `feed`, for more than ten thousand members or `max_bytes`.
    """

    def __init__(self, codings: str, max_bytes: int) -> None:
        max_codings = 3
        names = [name.strip().lower().removeprefix("x-") for name in codings.split(",")]
        self._decoders: list[ContentDecoder] = [
            BrotliDecoder() if name == "br" else DeflateDecoder() if name == "deflate" else MultiMemberDecoder(name)
            for name in reversed(names)
            if name in SUPPORTED_CODINGS
        ]
        if len(self._decoders) > max_codings:
            raise ContentDecodingError(f"more than {max_codings} codings")
        self._bytes_left = [max_bytes] * len(self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes that can be decoded now, in pieces of about 64 KB at most."""
        import brotli

        pieces: Iterable[bytes] = [data]
        for index in range(len(self._decoders)):
            pieces = self._run_decoder(index, pieces)
        try:
            yield from pieces
        except (zlib.error, brotli.error, _import_zstd().ZstdError) as error:
            raise ContentDecodingError(type(error).__name__) from None

    def _run_decoder(self, index: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
        slice_bytes = 8_192  # bounds what a decompressor copies when a member ends early
        for piece in pieces:
            for start in range(0, len(piece), slice_bytes):
                for decoded in self._decoders[index].feed(piece[start : start + slice_bytes]):
                    self._bytes_left[index] -= len(decoded)
                    if self._bytes_left[index] < 0:
                        raise BodyTooLarge
                    yield decoded


def _import_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _iter_decompressed(member: Any, data: bytes) -> Iterator[bytes]:
    """Yield the data decompressed by one member, piece by piece."""
    while not member.eof:
        piece = member.decompress(data, MAX_PIECE_BYTES)
        if piece:
            yield piece
        data = getattr(member, "unconsumed_tail", b"")  # zlib returns unused input, zstd keeps it
        if not data and len(piece) < MAX_PIECE_BYTES:
            return
