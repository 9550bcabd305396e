"""Read zip archives in memory and within bounds, never unpacked to disk.

A few kilobytes may unpack to gigabytes, and a table of contents may be longer than the contents. So the unpacked
bytes of one member and of all together are bounded, and the number of members.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any
from zipfile import ZipFile, ZipInfo

from outrider.pages.reader import ReaderInput
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, build_too_large_error

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 64 << 20  # unpacked
MAX_TOTAL_BYTES = 256 << 20  # unpacked, of all members that are read
STORED, DEFLATED = 0, 8  # the two methods that office formats allow (ISO/IEC 29500-2 section 7.3.4)
ENCRYPTED_FLAG = 0x1  # general purpose bit 0


@dataclass
class ZipArchive:
    """The members of a zip file.

    Args:
        source: The bytes, and the URL that errors name.
        kind: The name for such files in errors.
    """

    source: ReaderInput
    kind: str
    _bytes_left: int = field(default=MAX_TOTAL_BYTES, init=False)

    @cached_property
    def _zip(self) -> "ZipFile":
        entry_signature = b"PK\x01\x02"  # an entry of the central directory (APPNOTE.TXT 4.3.12)
        if self.source.body.count(entry_signature) > MAX_MEMBERS:
            raise build_too_large_error(self.source, self.kind, "it holds too many files")
        try:
            return ZipFile(BytesIO(self.source.body))
        except Exception as error:  # zipfile raises eight kinds of errors over damage
            raise build_broken_error(self.source, self.kind, "it is cut or damaged") from error

    @cached_property
    def _members(self) -> dict[str, "ZipInfo"]:
        """The members by lower-case name, because part names ignore case (ISO/IEC 29500-2 section 6.2.2.3).

        Some programs separate folders by backslashes, although APPNOTE.TXT 4.4.17 forbids it.
        """
        return {info.filename.lower().replace("\\", "/"): info for info in self._zip.infolist()}

    @property
    def infos(self) -> list["ZipInfo"]:
        """The archive's records of its members."""
        return list(self._members.values())

    @property
    def names(self) -> list[str]:
        """All names in their original spelling."""
        return [info.filename for info in self._members.values()]

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._members

    def read(self, name: str) -> bytes:
        """Return a member; empty if there is none of that name. Raises as `iter_chunks`."""
        return b"".join(self.iter_chunks(name))

    def read_head(self, name: str, size: int) -> bytes:
        """Return at most `size` bytes of a member. Raises as `iter_chunks`."""
        head = BytesIO()
        for chunk in self.iter_chunks(name):  # to its end, so that a damaged or too large one is refused
            head.write(chunk[: size - head.tell()])
        return head.getvalue()

    def iter_chunks(self, name: str) -> Iterator[bytes]:
        """Yield a member's unpacked bytes, up to a megabyte at a time.

        Raises:
            Refused: code `encrypted` or `too_large`.
            Unavailable: code `broken_file`.
        """
        info = self._members.get(name.lower())
        if info is None:
            return
        if info.flag_bits & ENCRYPTED_FLAG:
            raise build_encrypted_error(self.source, self.kind)
        if info.compress_type not in (STORED, DEFLATED):
            raise build_broken_error(self.source, self.kind, "its compression method is not allowed in its format")
        size = 0
        for chunk in self._iter_unpacked(info):
            size += len(chunk)
            self._bytes_left -= len(chunk)
            if size > MAX_MEMBER_BYTES or self._bytes_left < 0:
                raise build_too_large_error(self.source, self.kind, "it unpacks to more than can be read")
            yield chunk

    def _iter_unpacked(self, info: Any) -> Iterator[bytes]:
        chunk_bytes = 1 << 20
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(chunk_bytes):
                    yield chunk
        except Exception as error:
            raise build_broken_error(self.source, self.kind, "a part of it is damaged") from error
