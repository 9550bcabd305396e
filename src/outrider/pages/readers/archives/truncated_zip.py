"""Read zip archives whose table of contents, at the end, is missing.

Each file has its own header, which may leave its sizes to a record after it (APPNOTE.TXT 4.3.6 to 4.3.9).
"""

import struct
import zlib
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

HEADER_BYTES = 30  # before the name


@dataclass(frozen=True)
class ZipEntry:
    """A file by its header: the offsets of its bytes, and whether all of them are there."""

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
        Unavailable: code `broken_file`, if it holds not even one file.
    """

    def __init__(self, source: ReaderInput) -> None:
        self._source = source
        self._bytes_left = MAX_TOTAL_BYTES
        self.files: list[ZipEntry] = []
        body, at, signature = source.body, 0, b"PK\x03\x04"
        for _ in range(MAX_MEMBERS):
            if not body.startswith(signature, at) or at + HEADER_BYTES > len(body):
                break
            entry = self._parse_entry(at)
            if entry is None:
                break
            if not entry.name.endswith("/"):
                self.files.append(entry)
            at = body.find(signature, entry.end, entry.end + 64) if entry.is_whole else -1
            if at < 0:
                break
        if not self.files:
            raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged")

    def read_head(self, name: str, size: int) -> bytes:
        """Return at most `size` bytes of a complete file.

        Raises:
            Refused: code `encrypted` or `too_large`.
            Unavailable: code `broken_file`, for a file that is cut or damaged.
        """
        entry = next((entry for entry in self.files if entry.name == name), None)
        if entry is None:
            return b""
        if entry.flags & ENCRYPTED_FLAG:
            raise build_encrypted_error(self._source, ARCHIVE_KIND)
        if entry.size > MAX_MEMBER_BYTES:
            raise build_too_large_error(self._source, ARCHIVE_KIND, "it unpacks to more than can be read")
        if not entry.is_whole:
            raise build_broken_error(self._source, ARCHIVE_KIND, "that file is cut")
        if entry.method not in (STORED, DEFLATED):
            raise build_broken_error(self._source, ARCHIVE_KIND, "that file has an unknown compression method")
        body = self._source.body[entry.start : entry.end]
        try:
            return zlib.decompressobj(-15).decompress(body, size) if entry.method == DEFLATED else body[:size]
        except zlib.error as error:
            raise build_broken_error(self._source, ARCHIVE_KIND, "a part of it is damaged") from error

    def _parse_entry(self, at: int) -> ZipEntry | None:
        """Return the file whose header begins there; None if the header is cut or has no name."""
        descriptor_flag, utf8_flag = 0x8, 0x800
        zip64_size = 0xFFFFFFFF  # the size is in a field after the name (4.5.3)
        body = self._source.body
        flags, method, _, day, _, packed, size, name_bytes, extra_bytes = struct.unpack_from("<HHHHLLLHH", body, at + 6)
        start = at + HEADER_BYTES + name_bytes + extra_bytes
        if start > len(body) or not name_bytes:
            return None
        name = body[at + HEADER_BYTES : at + HEADER_BYTES + name_bytes]
        date = ((day >> 9) + 1980, day >> 5 & 15, day & 31)
        if zip64_size in (packed, size):
            field = start - extra_bytes
            while field + 4 <= start:
                kind, length = struct.unpack_from("<HH", body, field)
                if kind == 1 and length >= 16:
                    size, packed = struct.unpack_from("<QQ", body, field + 4)
                field += 4 + length
        end, is_whole = start + packed, start + packed <= len(body)
        if flags & descriptor_flag and not packed:
            end, size, is_whole = self._measure_entry(start, method)
        title = name.decode("utf-8" if flags & utf8_flag else "cp437", "replace")
        return ZipEntry(title, date, flags, method, size, start, end, is_whole)

    def _measure_entry(self, start: int, method: int) -> tuple[int, int, bool]:
        """Return the end, unpacked size and completeness of a file whose header lacks its size."""
        chunk_bytes = 1 << 16
        body = self._source.body
        if method != DEFLATED:
            end = body.find(b"PK\x07\x08", start)  # the descriptor's signature
            return (end, end - start, True) if end >= 0 else (len(body), len(body) - start, False)
        unpacker, size, at = zlib.decompressobj(-15), 0, start
        try:
            while not unpacker.eof and at < len(body) and self._bytes_left > 0:
                unpacked = len(unpacker.decompress(body[at : at + chunk_bytes]))
                size, at, self._bytes_left = size + unpacked, at + chunk_bytes, self._bytes_left - unpacked
        except zlib.error:
            return len(body), size, False
        return min(at, len(body)) - len(unpacker.unused_data), size, unpacker.eof
