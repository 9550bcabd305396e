"""What a zip archive tells whose list of contents, which stands at its end, is missing: file by file, by their headers.

APPNOTE.TXT 4.3.6 to 4.3.9: each file stands behind a header of its own, which may leave its sizes to what follows it.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from outrider.pages.reader import Source
from outrider.pages.readers.parts.archives.archive import DEFLATED, LOCKED, MEMBER, MEMBERS, STORED, TOTAL
from outrider.pages.readers.parts.refusals import broken, encrypted, too_large

KIND = "archive"
HEADER, FOLLOWING = b"PK\x03\x04", b"PK\x07\x08"
FIXED = 30  # bytes of a header before the name
LATER, UTF8 = 0x8, 0x800  # flags: the sizes follow the file; the name is UTF-8
WIDE = 0xFFFFFFFF  # the size stands in a field behind the name (4.5.3)
CHUNK = 1 << 16


@dataclass(frozen=True)
class Found:
    """A file by its header: where its bytes begin and end, and whether all of them are there."""

    name: str
    date: tuple[int, int, int]
    flags: int
    method: int
    size: int
    start: int
    end: int
    whole: bool


class CutZip:
    """The files of an archive that is cut.

    Raises:
        Unavailable: code `broken_file`, if not even the first is there.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = TOTAL
        self.files = list(self._walked())
        if not self.files:
            raise broken(source, KIND, "it is cut or damaged")

    def read(self, name: str) -> bytes:
        """A file that is whole. Raises Unavailable for others, Refused for one that is locked or too large."""
        found = next((each for each in self.files if each.name == name), None)
        if found is None:
            return b""
        if found.flags & LOCKED:
            raise encrypted(self._source, KIND)
        if found.size > MEMBER:
            raise too_large(self._source, KIND, "it unpacks to more than can be read")
        body = self._source.body[found.start : found.end]
        if not found.whole or found.method not in (STORED, DEFLATED):
            raise broken(self._source, KIND, "that file is cut" if not found.whole else "that file is packed oddly")
        try:
            return zlib.decompressobj(-15).decompress(body, MEMBER) if found.method == DEFLATED else body
        except zlib.error as error:
            raise broken(self._source, KIND, "a part of it is damaged") from error

    def _walked(self) -> Iterator[Found]:
        body, at = self._source.body, 0
        for _ in range(MEMBERS):
            if not body.startswith(HEADER, at) or at + FIXED > len(body):
                return
            found = self._found(at)
            if found is None:
                return
            if not found.name.endswith("/"):
                yield found
            at = body.find(HEADER, found.end, found.end + 64) if found.whole else -1
            if at < 0:
                return

    def _found(self, at: int) -> Found | None:
        """The file whose header stands there; None if the header itself is cut, or names none."""
        flags, method, _, day, _, packed, size, name, extra = struct.unpack_from(
            "<HHHHLLLHH", self._source.body, at + 6
        )
        start = at + FIXED + name + extra
        if start > len(self._source.body) or not name:
            return None
        title = self._source.body[at + FIXED : at + FIXED + name].decode(
            "utf-8" if flags & UTF8 else "cp437", "replace"
        )
        date = ((day >> 9) + 1980, day >> 5 & 15, day & 31)
        if WIDE in (packed, size):
            packed, size = self._wide(start - extra, start, packed, size)
        end, whole = start + packed, start + packed <= len(self._source.body)
        if flags & LATER and not packed:
            end, size, whole = self._measured(start, method)
        return Found(title, date, flags, method, size, start, end, whole)

    def _wide(self, at: int, end: int, packed: int, size: int) -> tuple[int, int]:
        """The two sizes where they take eight bytes each."""
        while at + 4 <= end:
            kind, length = struct.unpack_from("<HH", self._source.body, at)
            if kind == 1 and length >= 16:
                size, packed = struct.unpack_from("<QQ", self._source.body, at + 4)
            at += 4 + length
        return packed, size

    def _measured(self, start: int, method: int) -> tuple[int, int, bool]:
        """Where a file ends that does not say it, its size unpacked, and whether it does end."""
        body = self._source.body
        if method != DEFLATED:
            end = body.find(FOLLOWING, start)
            return (end, end - start, True) if end >= 0 else (len(body), len(body) - start, False)
        unpacker, size, at = zlib.decompressobj(-15), 0, start
        try:
            while not unpacker.eof and at < len(body) and self._left > 0:
                made = len(unpacker.decompress(body[at : at + CHUNK]))
                size, at, self._left = size + made, at + CHUNK, self._left - made
        except zlib.error:
            return len(body), size, False
        return min(at, len(body)) - len(unpacker.unused_data), size, unpacker.eof
