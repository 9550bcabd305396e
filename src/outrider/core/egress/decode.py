"""Content codings, undone in bounded pieces (RFC 9110 section 8.4.1, RFC 7932, RFC 8878)."""

import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

MAX_PIECE_BYTES = 65_536  # bytes that one step yields, give or take what a library overshoots


class ContentDecodingError(Exception):
    """The body is not what its Content-Encoding says."""


class BodyTooLarge(Exception):
    """The body grows, or is cut into pieces, beyond all reason."""


class ContentDecoder(Protocol):
    """One coding being undone."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` makes available, in pieces of at most PIECE."""
        ...


class MultiMemberDecoder:
    """gzip and zstd: members that follow each other make one body; what follows the last is ignored."""

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
        """Starts the next member if `data` holds one; waits for more bytes when that is not yet clear."""
        magic_by_coding = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
        max_members = 10_000  # gzip members or zstd frames in one body
        magic = magic_by_coding[self._coding]
        if self._member_count and not data.startswith(magic):
            self._is_finished = not magic.startswith(data)
            self._rest = b"" if self._is_finished else data
            return False
        self._member_count += 1
        if self._member_count > max_members:
            raise BodyTooLarge
        self._member = _decompressor(self._coding)
        return True


class DeflateDecoder:
    """deflate: zlib's wrapper as the RFC says, or the bare stream that some servers send."""

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
    """br."""

    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            # The library may allocate twice what it is asked for.
            piece = self._stream.process(data, output_buffer_limit=MAX_PIECE_BYTES // 2)
            if not piece:
                return
            yield piece
            data = b""


class BodyDecoder:
    """Undoes what a Content-Encoding header names, outermost coding first.

    Args:
        codings: The header's value; codings that are not known are taken for labels and left alone.
        budget: Bytes that any one coding may grow to.

    Raises:
        Garbled: for more than three codings; `feed`, for bytes that are not in that coding.
        TooMuch: for ten thousand members, or `budget` bytes.
    """

    def __init__(self, codings: str, budget: int) -> None:
        max_codings = 3  # codings on top of each other
        named = [each.strip().lower().removeprefix("x-") for each in codings.split(",")]
        self._decoders = [_build_decoder(each) for each in reversed(named) if each in SUPPORTED_CODINGS]
        if len(self._decoders) > max_codings:
            raise ContentDecodingError("a tower of codings")
        self._bytes_left = [budget] * len(self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` makes available, in pieces of about 64 KB at most."""
        pieces: Iterable[bytes] = [data]
        for number in range(len(self._decoders)):
            pieces = self._run_decoder(number, pieces)
        try:
            yield from pieces
        except _list_decoder_errors() as error:
            raise ContentDecodingError(type(error).__name__) from None

    def _run_decoder(self, number: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
        slice_bytes = 8_192  # input of one step: bounds what a decompressor copies when a member ends early in it
        for piece in pieces:
            for start in range(0, len(piece), slice_bytes):
                for decoded in self._decoders[number].feed(piece[start : start + slice_bytes]):
                    self._bytes_left[number] -= len(decoded)
                    if self._bytes_left[number] < 0:
                        raise BodyTooLarge
                    yield decoded


SUPPORTED_CODINGS = ("gzip", "deflate", "br", "zstd")
ACCEPT_ENCODING = ", ".join(SUPPORTED_CODINGS)


def _build_decoder(coding: str) -> ContentDecoder:
    if coding == "br":
        return BrotliDecoder()
    return DeflateDecoder() if coding == "deflate" else MultiMemberDecoder(coding)


def _import_zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _decompressor(coding: str) -> Any:
    max_window_log = 23  # 8 MB of memory, RFC 9659
    if coding == "gzip":
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    zstd = _import_zstd()
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: max_window_log})


def _iter_decompressed(member: Any, data: bytes) -> Iterator[bytes]:
    """What one decompressor makes of the data, piece by piece."""
    while not member.eof:
        piece = member.decompress(data, MAX_PIECE_BYTES)
        if piece:
            yield piece
        data = getattr(member, "unconsumed_tail", b"")  # zlib hands back what it has not taken, zstd keeps it
        if not data and len(piece) < MAX_PIECE_BYTES:
            return


def _list_decoder_errors() -> tuple[type[Exception], ...]:
    import brotli

    return zlib.error, brotli.error, _import_zstd().ZstdError
