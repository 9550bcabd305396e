"""Content codings, undone in bounded pieces (RFC 9110 section 8.4.1, RFC 7932, RFC 8878)."""

import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

PIECE = 65_536  # bytes that one step yields, give or take what a library overshoots
SLICE = 8_192  # input of one step: bounds what a decompressor copies when a member ends early in it
MEMBER_LIMIT = 10_000  # gzip members or zstd frames in one body
DEPTH_LIMIT = 3  # codings on top of each other
ZSTD_WINDOW_LOG = 23  # 8 MB of memory, RFC 9659


class Garbled(Exception):
    """The body is not what its Content-Encoding says."""


class TooMuch(Exception):
    """The body grows, or is cut into pieces, beyond all reason."""


class Stage(Protocol):
    """One coding being undone."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` makes available, in pieces of at most PIECE."""
        ...


class Members:
    """gzip and zstd: members that follow each other make one body; what follows the last is ignored."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._member: Any = None
        self._begun = 0
        self._rest = b""
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        data = self._rest + data
        self._rest = b""
        while data and not self._ended:
            if self._member is None and not self._begin(data):
                return
            member: Any = self._member
            yield from _drain(member, data)
            if not member.eof:
                return
            data, self._member = member.unused_data, None

    def _begin(self, data: bytes) -> bool:
        """Starts the next member if `data` holds one; waits for more bytes when that is not yet clear."""
        magic = MAGIC[self._coding]
        if self._begun and not data.startswith(magic):
            self._ended = not magic.startswith(data)
            self._rest = b"" if self._ended else data
            return False
        self._begun += 1
        if self._begun > MEMBER_LIMIT:
            raise TooMuch
        self._member = _decompressor(self._coding)
        return True


class Deflate:
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
        yield from _drain(self._inflate, data)


class Brotli:
    """br."""

    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            # The library may allocate twice what it is asked for.
            piece = self._stream.process(data, output_buffer_limit=PIECE // 2)
            if not piece:
                return
            yield piece
            data = b""


class Decoder:
    """Undoes what a Content-Encoding header names, outermost coding first.

    Args:
        codings: The header's value; codings that are not known are taken for labels and left alone.
        budget: Bytes that any one coding may grow to.

    Raises:
        Garbled: for more than three codings; `feed`, for bytes that are not in that coding.
        TooMuch: for ten thousand members, or `budget` bytes.
    """

    def __init__(self, codings: str, budget: int) -> None:
        named = [each.strip().lower().removeprefix("x-") for each in codings.split(",")]
        self._stages = [_stage(each) for each in reversed(named) if each in KNOWN]
        if len(self._stages) > DEPTH_LIMIT:
            raise Garbled("a tower of codings")
        self._left = [budget] * len(self._stages)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` makes available, in pieces of about 64 KB at most."""
        pieces: Iterable[bytes] = [data]
        for number in range(len(self._stages)):
            pieces = self._through(number, pieces)
        try:
            yield from pieces
        except _errors() as error:
            raise Garbled(type(error).__name__) from None

    def _through(self, number: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            for start in range(0, len(piece), SLICE):
                for decoded in self._stages[number].feed(piece[start : start + SLICE]):
                    self._left[number] -= len(decoded)
                    if self._left[number] < 0:
                        raise TooMuch
                    yield decoded


KNOWN = ("gzip", "deflate", "br", "zstd")
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
ACCEPTED = ", ".join(KNOWN)


def _stage(coding: str) -> Stage:
    if coding == "br":
        return Brotli()
    return Deflate() if coding == "deflate" else Members(coding)


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _decompressor(coding: str) -> Any:
    if coding == "gzip":
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    zstd = _zstd()
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})


def _drain(member: Any, data: bytes) -> Iterator[bytes]:
    """What one decompressor makes of the data, piece by piece."""
    while not member.eof:
        piece = member.decompress(data, PIECE)
        if piece:
            yield piece
        data = getattr(member, "unconsumed_tail", b"")  # zlib hands back what it has not taken, zstd keeps it
        if not data and len(piece) < PIECE:
            return


def _errors() -> tuple[type[Exception], ...]:
    import brotli

    return zlib.error, brotli.error, _zstd().ZstdError
