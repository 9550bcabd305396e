"""List and read files in archives and compressed streams, in memory.

Zip and tar archives; gzip, bzip2 and xz streams.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from outrider.core.errors import OutriderError, Unavailable
from outrider.pages.reader import ReaderInput
from outrider.pages.readers.archives.truncated_zip import TruncatedZip
from outrider.pages.readers.archives.zip_archive import (
    ENCRYPTED_FLAG,
    MAX_MEMBER_BYTES,
    MAX_MEMBERS,
    MAX_TOTAL_BYTES,
    ZipArchive,
)
from outrider.pages.readers.parsing.errors import build_broken_error, build_too_large_error

ARCHIVE_KIND = "archive"
DAMAGE_ERRORS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError)


@dataclass(frozen=True)
class PackedFile:
    """A file in an archive; `modified` is an ISO date or empty."""

    name: str
    size: int
    modified: str = ""
    is_encrypted: bool = False
    is_cut: bool = False


class ZipContents:
    """A zip archive; of a truncated one, the files that are there."""

    def __init__(self, source: ReaderInput) -> None:
        self._source, self._complete = source, ZipArchive(source, ARCHIVE_KIND)
        self._archive: ZipArchive | TruncatedZip = self._complete
        self.is_cut = False

    def list_members(self) -> list[PackedFile]:
        """Return its files. Raises Unavailable, code `broken_file`."""
        try:
            return [
                PackedFile(
                    info.filename,
                    info.file_size,
                    _format_date(*info.date_time[:3]),
                    bool(info.flag_bits & ENCRYPTED_FLAG),
                )
                for info in self._complete.infos
                if not info.is_dir()
            ]
        except Unavailable:
            truncated = TruncatedZip(self._source)
        self._archive, self.is_cut = truncated, True
        return [
            PackedFile(
                entry.name,
                entry.size,
                _format_date(*entry.date),
                bool(entry.flags & ENCRYPTED_FLAG),
                is_cut=not entry.is_whole,
            )
            for entry in truncated.files
        ]

    def read(self, name: str, limit: int) -> tuple[bytes, bool]:
        """Return at most `limit` bytes of a file, and whether there may be more. Raises as `iter_chunks`."""
        body = self._archive.read_head(name, limit)
        return body, len(body) >= limit


class TarContents:
    """A tar archive, compressed or not; files after damage or past the bounds are left out."""

    def __init__(self, source: ReaderInput) -> None:
        self._source = source
        self.is_cut = False

    def list_members(self) -> list[PackedFile]:
        """Return its files up to the first damage. Raises Unavailable or Refused if there is none."""
        members: list[PackedFile] = []
        try:
            for info, _ in self._iter_files():
                date = ""
                with suppress(OverflowError, ValueError, OSError):
                    date = datetime.fromtimestamp(info.mtime, UTC).date().isoformat() if info.mtime > 0 else ""
                members.append(PackedFile(info.name, info.size, date))
        except OutriderError:
            if not members:
                raise
            self.is_cut = True
        return members

    def read(self, name: str, limit: int) -> tuple[bytes, bool]:
        """Return at most `limit` bytes of a file, and whether there are more. Raises Unavailable or Refused."""
        for info, archive in self._iter_files():
            if info.name != name:
                continue
            if info.size > MAX_MEMBER_BYTES:
                raise build_too_large_error(self._source, ARCHIVE_KIND, "that file is larger than can be read")
            file, unpacked = archive.extractfile(info), io.BytesIO()  # whose value is not a copy
            while file and (chunk := file.read(min(1 << 18, limit - unpacked.tell()))):
                unpacked.write(chunk)
            return unpacked.getvalue(), info.size > limit
        return b"", False

    def _iter_files(self) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
        stream: Any = open_stream(self._source)  # tarfile's type asks for a whole file, but it only calls `read`
        try:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedHeader) as archive:
                for number, info in enumerate(archive):
                    if number >= MAX_MEMBERS:
                        raise build_too_large_error(self._source, ARCHIVE_KIND, "it holds too many files")
                    if info.isfile():
                        yield info, archive
        except DAMAGE_ERRORS as error:
            raise build_broken_error(self._source, ARCHIVE_KIND, "it is cut or damaged") from error


class _BoundedHeader(tarfile.TarInfo):
    """A header of a tar archive; one that announces megabytes of names or attributes is refused."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        max_bytes = 1 << 20
        info = super().frombuf(buf, encoding, errors)
        if info.type in b"xgXLK" and info.size > max_bytes:  # of pax, Solaris and GNU
            raise tarfile.HeaderError("an extended header is too large")
        return info


def open_stream(source: ReaderInput) -> "BoundedStream":
    """Return the unpacked bytes as a stream that raises Refused past the size limit."""
    packed: Any = io.BytesIO(source.body)
    if source.body.startswith(b"\x1f\x8b"):
        packed = gzip.GzipFile(fileobj=packed)
    elif source.body.startswith(b"BZh"):
        packed = bz2.BZ2File(packed)
    elif source.body.startswith(b"\xfd7zXZ"):
        packed = _XzStream(source.body)
    return BoundedStream(packed, source)


def is_tar(source: ReaderInput) -> bool:
    """Return whether the unpacked bytes are a tar archive. Raises Unavailable if nothing can be unpacked."""
    try:
        return open_stream(source).read(512)[257:262] == b"ustar"  # POSIX.1 pax, ustar Interchange Format
    except DAMAGE_ERRORS as error:
        raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged") from error


def read_unpacked(source: ReaderInput, limit: int) -> tuple[bytes, bool]:
    """Return at most `limit` unpacked bytes, and whether more of them are missing."""
    chunk_bytes = 1 << 14  # small, so that the bytes before any damage are kept
    stream, unpacked = open_stream(source), io.BytesIO()
    try:
        while (room := limit - unpacked.tell()) >= 0 and (chunk := stream.read(chunk_bytes)):
            unpacked.write(chunk[:room])
            if len(chunk) > room:
                return unpacked.getvalue(), True
    except DAMAGE_ERRORS as error:
        if not unpacked.tell():
            raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged") from error
        return unpacked.getvalue(), True
    return unpacked.getvalue(), False


class BoundedStream:
    """A readable stream whose total length is bounded."""

    def __init__(self, packed: Any, source: ReaderInput) -> None:
        self._packed, self._source, self._bytes_left = packed, source, MAX_TOTAL_BYTES

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises Refused, code `too_large`."""
        chunk = self._packed.read(size)
        self._bytes_left -= len(chunk)
        if self._bytes_left < 0:
            raise build_too_large_error(self._source, ARCHIVE_KIND, "it unpacks to more than can be read")
        return chunk


class _XzStream:
    """An xz stream with bounded memory, which `lzma.LZMAFile` does not offer."""

    def __init__(self, body: bytes) -> None:
        self._unpacker = lzma.LZMADecompressor(memlimit=256 << 20)
        self._body: bytes | None = body

    def read(self, size: int) -> bytes:
        if self._unpacker.eof:
            return b""
        body, self._body = self._body or b"", None  # handed over once; the decompressor keeps it
        chunk = self._unpacker.decompress(body, max_length=max(size, 1))
        if not chunk and not self._unpacker.eof:
            raise EOFError("its end is missing")
        return chunk


def _format_date(year: int, month: int, day: int) -> str:
    """Return an ISO date; empty for zip's epoch, which programs write if they record no date."""
    return f"{year:04}-{month:02}-{day:02}" if (year, month, day) > (1980, 1, 1) else ""
