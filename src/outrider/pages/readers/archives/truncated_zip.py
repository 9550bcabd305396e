"""What a zip archive tells whose list of contents, which stands at its end, is missing: file by file, by their headers.

APPNOTE.TXT 4.3.6 to 4.3.9: each file stands behind a header of its own, which may leave its sizes to what follows it.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from outrider.pages.reader import ReaderInput
from outrider.pages.readers.archives.zip_archive import (
    DEFLATED,
    ENCRYPTED_FLAG,
    MAX_MEMBER_BYTES,
    MAX_MEMBERS,
    MAX_TOTAL_BYTES,
    STORED,
)
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, build_too_large_error

ARCHIVE_KIND = "archive"
FILE_SIGNATURE, DESCRIPTOR_SIGNATURE = b"PK\x03\x04", b"PK\x07\x08"
HEADER_BYTES = 30  # bytes of a header before the name
DESCRIPTOR_FLAG, UTF8_FLAG = 0x8, 0x800  # flags: the sizes follow the file; the name is UTF-8


@dataclass(frozen=True)
class ZipEntry:
    """A file by its header: where its bytes begin and end, and whether all of them are there."""

    name: str
    date: tuple[int, int, int]
    flags: int
    method: int
    size: int
    start: int
    end: int
    is_whole: bool


class TruncatedZip:
    """The files of an archive that is cut.

    Raises:
        Unavailable: code `broken_file`, if not even the first is there.
    """

    def __init__(self, source: ReaderInput) -> None:
        self._source = source
        self._bytes_left = MAX_TOTAL_BYTES
        self.files = list(self._iter_entries())
        if not self.files:
            raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged")

    def read(self, name: str) -> bytes:
        """A file that is whole. Raises Unavailable for others, Refused for one that is locked or too large."""
        found = next((each for each in self.files if each.name == name), None)
        if found is None:
            return b""
        if found.flags & ENCRYPTED_FLAG:
            raise build_encrypted_error(self._source, ARCHIVE_KIND)
        if found.size > MAX_MEMBER_BYTES:
            raise build_too_large_error(self._source, ARCHIVE_KIND, "it unpacks to more than can be read")
        body = self._source.body[found.start : found.end]
        if not found.is_whole or found.method not in (STORED, DEFLATED):
            raise build_broken_error(
                self._source, ARCHIVE_KIND, "that file is cut" if not found.is_whole else "that file is packed oddly"
            )
        try:
            return zlib.decompressobj(-15).decompress(body, MAX_MEMBER_BYTES) if found.method == DEFLATED else body
        except zlib.error as error:
            raise build_broken_error(self._source, ARCHIVE_KIND, "a part of it is damaged") from error

    def _iter_entries(self) -> Iterator[ZipEntry]:
        body, at = self._source.body, 0
        for _ in range(MAX_MEMBERS):
            if not body.startswith(FILE_SIGNATURE, at) or at + HEADER_BYTES > len(body):
                return
            found = self._parse_entry(at)
            if found is None:
                return
            if not found.name.endswith("/"):
                yield found
            at = body.find(FILE_SIGNATURE, found.end, found.end + 64) if found.is_whole else -1
            if at < 0:
                return

    def _parse_entry(self, at: int) -> ZipEntry | None:
        """The file whose header stands there; None if the header itself is cut, or names none."""
        zip64_size = 0xFFFFFFFF  # the size stands in a field behind the name (4.5.3)
        flags, method, _, day, _, packed, size, name, extra = struct.unpack_from(
            "<HHHHLLLHH", self._source.body, at + 6
        )
        start = at + HEADER_BYTES + name + extra
        if start > len(self._source.body) or not name:
            return None
        title = self._source.body[at + HEADER_BYTES : at + HEADER_BYTES + name].decode(
            "utf-8" if flags & UTF8_FLAG else "cp437", "replace"
        )
        date = ((day >> 9) + 1980, day >> 5 & 15, day & 31)
        if zip64_size in (packed, size):
            packed, size = self._read_zip64_sizes(start - extra, start, packed, size)
        end, whole = start + packed, start + packed <= len(self._source.body)
        if flags & DESCRIPTOR_FLAG and not packed:
            end, size, whole = self._measure_entry(start, method)
        return ZipEntry(title, date, flags, method, size, start, end, whole)

    def _read_zip64_sizes(self, at: int, end: int, packed: int, size: int) -> tuple[int, int]:
        """The two sizes where they take eight bytes each."""
        while at + 4 <= end:
            kind, length = struct.unpack_from("<HH", self._source.body, at)
            if kind == 1 and length >= 16:
                size, packed = struct.unpack_from("<QQ", self._source.body, at + 4)
            at += 4 + length
        return packed, size

    def _measure_entry(self, start: int, method: int) -> tuple[int, int, bool]:
        """Where a file ends that does not say it, its size unpacked, and whether it does end."""
        chunk_bytes = 1 << 16
        body = self._source.body
        if method != DEFLATED:
            end = body.find(DESCRIPTOR_SIGNATURE, start)
            return (end, end - start, True) if end >= 0 else (len(body), len(body) - start, False)
        unpacker, size, at = zlib.decompressobj(-15), 0, start
        try:
            while not unpacker.eof and at < len(body) and self._bytes_left > 0:
                made = len(unpacker.decompress(body[at : at + chunk_bytes]))
                size, at, self._bytes_left = size + made, at + chunk_bytes, self._bytes_left - made
        except zlib.error:
            return len(body), size, False
        return min(at, len(body)) - len(unpacker.unused_data), size, unpacker.eof
