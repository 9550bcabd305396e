"""What archives hold: zip, tar, and what gzip, bzip2 and xz pack, in memory and within bounds."""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

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
    """A file in an archive: its name, its bytes, the date of its last change (may be empty), what is wrong with it."""

    name: str
    size: int
    modified: str = ""
    is_encrypted: bool = False
    is_cut: bool = False


class ZipContents:
    """A zip archive; of one whose end is missing, what is there."""

    def __init__(self, source: ReaderInput) -> None:
        self._source, self._whole = source, ZipArchive(source, ARCHIVE_KIND)
        self._archive: ZipArchive | TruncatedZip = self._whole
        self.is_cut = False

    def list_members(self) -> list[PackedFile]:
        """Its files. Raises Unavailable, code `broken_file`."""
        try:
            return [
                PackedFile(
                    each.filename,
                    each.file_size,
                    _format_date(*each.date_time[:3]),
                    bool(each.flag_bits & ENCRYPTED_FLAG),
                )
                for each in self._whole.infos
                if not each.is_dir()
            ]
        except Unavailable:
            found = TruncatedZip(self._source)
        self._archive, self.is_cut = found, True
        return [
            PackedFile(
                each.name,
                each.size,
                _format_date(*each.date),
                bool(each.flags & ENCRYPTED_FLAG),
                is_cut=not each.is_whole,
            )
            for each in found.files
        ]

    def read(self, name: str) -> bytes:
        """A file of it. Raises as `Archive.chunks`."""
        return self._archive.read(name)


class TarContents:
    """A tar archive, packed or not; what is behind damage, or behind all bounds, is left out."""

    def __init__(self, source: ReaderInput) -> None:
        self._source = source
        self.is_cut = False

    def list_members(self) -> list[PackedFile]:
        """Its files, as far as it is whole."""
        found: list[PackedFile] = []
        try:
            found.extend(
                PackedFile(each.name, each.size, _format_timestamp(each.mtime)) for each, _ in self._iter_files()
            )
        except OutriderError:
            if not found:
                raise
            self.is_cut = True
        return found

    def read(self, name: str) -> bytes:
        """A file of it; empty if there is none of that name. Raises Unavailable or Refused."""
        for each, archive in self._iter_files():
            if each.name != name:
                continue
            if each.size > MAX_MEMBER_BYTES:
                raise build_too_large_error(self._source, ARCHIVE_KIND, "that file is larger than can be read")
            file = archive.extractfile(each)
            return file.read() if file else b""
        return b""

    def _iter_files(self) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
        stream: Any = open_stream(self._source)  # nothing of a file is asked for but its next bytes
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for at, each in enumerate(archive):
                    if at >= MAX_MEMBERS:
                        raise build_too_large_error(self._source, ARCHIVE_KIND, "it holds too many files")
                    if each.isfile():
                        yield each, archive
        except DAMAGE_ERRORS as error:
            raise build_broken_error(self._source, ARCHIVE_KIND, "it is cut or damaged") from error


def open_stream(source: ReaderInput) -> "BoundedStream":
    """The bytes that are packed, as a stream that ends in Refused where they are beyond all bounds."""
    packed: Any = io.BytesIO(source.body)
    if source.body.startswith(b"\x1f\x8b"):
        packed = gzip.GzipFile(fileobj=packed)
    elif source.body.startswith(b"BZh"):
        packed = bz2.BZ2File(packed)
    elif source.body.startswith(b"\xfd7zXZ"):
        packed = _XzStream(source.body)
    return BoundedStream(packed, source)


def is_tar(source: ReaderInput) -> bool:
    """Whether what is packed begins as a tar archive does. Raises Unavailable for what cannot be unpacked at all."""
    magic_slice = slice(257, 262)  # where one says so (POSIX.1 pax, ustar Interchange Format)
    header_bytes = 512  # bytes of a header of tar
    try:
        return open_stream(source).read(header_bytes)[magic_slice] == b"ustar"
    except DAMAGE_ERRORS as error:
        raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged") from error


def read_unpacked(source: ReaderInput, limit: int) -> tuple[bytes, bool]:
    """At most so many of the bytes that are packed, and whether their end is missing."""
    chunk_bytes = 1 << 14  # bytes that are unpacked at once: what stands before damage is kept
    stream, found = open_stream(source), bytearray()
    try:
        while len(found) <= limit and (chunk := stream.read(chunk_bytes)):
            found += chunk
    except DAMAGE_ERRORS as error:
        if not found:
            raise build_broken_error(source, ARCHIVE_KIND, "it is cut or damaged") from error
        return bytes(found), True
    return bytes(found[:limit]), len(found) > limit


class BoundedStream:
    """A stream whose length is bounded; tar asks it for nothing but the next bytes."""

    def __init__(self, packed: Any, source: ReaderInput) -> None:
        self._packed, self._source, self._bytes_left = packed, source, MAX_TOTAL_BYTES

    def read(self, size: int) -> bytes:
        """The next bytes. Raises Refused, code `too_large`."""
        chunk = self._packed.read(size)
        self._bytes_left -= len(chunk)
        if self._bytes_left < 0:
            raise build_too_large_error(self._source, ARCHIVE_KIND, "it unpacks to more than can be read")
        return chunk


class _XzStream:
    """A stream of xz, whose memory is bounded; the standard library's own file has no such bound."""

    def __init__(self, body: bytes) -> None:
        memory_limit_bytes = 256 << 20  # bytes that unpacking xz may take
        self._unpacker = lzma.LZMADecompressor(memlimit=memory_limit_bytes)
        self._body: bytes | None = body

    def read(self, size: int) -> bytes:
        if self._unpacker.eof:
            return b""
        given, self._body = self._body or b"", None
        chunk = self._unpacker.decompress(given, max_length=max(size, 1))
        if not chunk and not self._unpacker.eof:
            raise EOFError("its end is missing")
        return chunk


def _format_timestamp(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _format_date(year: int, month: int, day: int) -> str:
    """A date; empty for the one from which zip counts, which programs write that tell none."""
    return f"{year:04}-{month:02}-{day:02}" if (year, month, day) > (1980, 1, 1) else ""
