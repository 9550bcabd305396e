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
from outrider.pages.reader import Source
from outrider.pages.readers.parts.archives.archive import LOCKED, MEMBER, MEMBERS, TOTAL, Archive
from outrider.pages.readers.parts.archives.cut import CutZip
from outrider.pages.readers.parts.refusals import broken, too_large

KIND = "archive"
MEMORY = 256 << 20  # bytes that unpacking xz may take
CHUNK = 1 << 14  # bytes that are unpacked at once: what stands before damage is kept
BLOCK = 512  # bytes of a header of tar
USTAR = slice(257, 262)  # where one says so (POSIX.1 pax, ustar Interchange Format)
DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError)


@dataclass(frozen=True)
class Member:
    """A file in an archive: its name, its bytes, the date of its last change (may be empty), what is wrong with it."""

    name: str
    size: int
    changed: str = ""
    locked: bool = False
    cut: bool = False


class Zipped:
    """A zip archive; of one whose end is missing, what is there."""

    def __init__(self, source: Source) -> None:
        self._source, self._whole = source, Archive(source, KIND)
        self._archive: Archive | CutZip = self._whole
        self.cut = False

    def members(self) -> list[Member]:
        """Its files. Raises Unavailable, code `broken_file`."""
        try:
            return [
                Member(each.filename, each.file_size, _date(*each.date_time[:3]), bool(each.flag_bits & LOCKED))
                for each in self._whole.infos
                if not each.is_dir()
            ]
        except Unavailable:
            found = CutZip(self._source)
        self._archive, self.cut = found, True
        return [
            Member(each.name, each.size, _date(*each.date), bool(each.flags & LOCKED), cut=not each.whole)
            for each in found.files
        ]

    def read(self, name: str) -> bytes:
        """A file of it. Raises as `Archive.chunks`."""
        return self._archive.read(name)


class Tarred:
    """A tar archive, packed or not; what is behind damage, or behind all bounds, is left out."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.cut = False

    def members(self) -> list[Member]:
        """Its files, as far as it is whole."""
        found: list[Member] = []
        try:
            found.extend(Member(each.name, each.size, _day(each.mtime)) for each, _ in self._opened())
        except OutriderError:
            if not found:
                raise
            self.cut = True
        return found

    def read(self, name: str) -> bytes:
        """A file of it; empty if there is none of that name. Raises Unavailable or Refused."""
        for each, archive in self._opened():
            if each.name != name:
                continue
            if each.size > MEMBER:
                raise too_large(self._source, KIND, "that file is larger than can be read")
            file = archive.extractfile(each)
            return file.read() if file else b""
        return b""

    def _opened(self) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
        stream: Any = unpacking(self._source)  # nothing of a file is asked for but its next bytes
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for at, each in enumerate(archive):
                    if at >= MEMBERS:
                        raise too_large(self._source, KIND, "it holds too many files")
                    if each.isfile():
                        yield each, archive
        except DAMAGE as error:
            raise broken(self._source, KIND, "it is cut or damaged") from error


def unpacking(source: Source) -> "Bounded":
    """The bytes that are packed, as a stream that ends in Refused where they are beyond all bounds."""
    packed: Any = io.BytesIO(source.body)
    if source.body.startswith(b"\x1f\x8b"):
        packed = gzip.GzipFile(fileobj=packed)
    elif source.body.startswith(b"BZh"):
        packed = bz2.BZ2File(packed)
    elif source.body.startswith(b"\xfd7zXZ"):
        packed = _Xz(source.body)
    return Bounded(packed, source)


def is_tar(source: Source) -> bool:
    """Whether what is packed begins as a tar archive does. Raises Unavailable for what cannot be unpacked at all."""
    try:
        return unpacking(source).read(BLOCK)[USTAR] == b"ustar"
    except DAMAGE as error:
        raise broken(source, KIND, "it is cut or damaged") from error


def unpacked(source: Source, limit: int) -> tuple[bytes, bool]:
    """At most so many of the bytes that are packed, and whether their end is missing."""
    stream, found = unpacking(source), bytearray()
    try:
        while len(found) <= limit and (chunk := stream.read(CHUNK)):
            found += chunk
    except DAMAGE as error:
        if not found:
            raise broken(source, KIND, "it is cut or damaged") from error
        return bytes(found), True
    return bytes(found[:limit]), len(found) > limit


class Bounded:
    """A stream whose length is bounded; tar asks it for nothing but the next bytes."""

    def __init__(self, packed: Any, source: Source) -> None:
        self._packed, self._source, self._left = packed, source, TOTAL

    def read(self, size: int) -> bytes:
        """The next bytes. Raises Refused, code `too_large`."""
        chunk = self._packed.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise too_large(self._source, KIND, "it unpacks to more than can be read")
        return chunk


class _Xz:
    """A stream of xz, whose memory is bounded; the standard library's own file has no such bound."""

    def __init__(self, body: bytes) -> None:
        self._unpacker = lzma.LZMADecompressor(memlimit=MEMORY)
        self._body: bytes | None = body

    def read(self, size: int) -> bytes:
        if self._unpacker.eof:
            return b""
        given, self._body = self._body or b"", None
        chunk = self._unpacker.decompress(given, max_length=max(size, 1))
        if not chunk and not self._unpacker.eof:
            raise EOFError("its end is missing")
        return chunk


def _day(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _date(year: int, month: int, day: int) -> str:
    """A date; empty for the one from which zip counts, which programs write that tell none."""
    return f"{year:04}-{month:02}-{day:02}" if (year, month, day) > (1980, 1, 1) else ""
