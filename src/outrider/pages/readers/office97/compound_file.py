"""Streams of a compound file (MS-CFB), the file system in a file of Office before 2007."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

COMPOUND_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FIRST_SPECIAL_SECTOR = 0xFFFFFFF0  # from here on numbers of sectors are marks (section 2.1)
STORAGE, STREAM, ROOT = 1, 2, 5
PROPERTY_IDS = {"title": 2, "description": 3, "author": 4, "published": 12}
VT_LPSTR, VT_FILETIME = 30, 64  # kinds of values (MS-OLEPS section 2.15)


class CompoundFileError(Exception):
    """The file is cut or damaged."""


@dataclass(frozen=True)
class CompoundEntry:
    """What stands in the directory: a file, or a folder with the number of one of the entries in it."""

    name: str
    kind: int
    siblings: tuple[int, int]  # entries of the same folder
    child: int
    first_sector: int
    size: int


class CompoundFile:
    """The streams by name, wherever they stand, or by path (`folder/name`).

    Raises:
        BrokenCompound: at once or when a stream is read.
    """

    def __init__(self, body: bytes) -> None:
        if not body.startswith(COMPOUND_MAGIC) or len(body) < 512:
            raise CompoundFileError("it is cut")
        self._body = body
        shift, mini = struct.unpack_from("<HH", body, 30)
        if shift not in (9, 12) or mini != 6:
            raise CompoundFileError("its header is damaged")
        self._sector_bytes = 1 << shift
        self._sector_count = len(body) >> shift
        self._fat = self._read_sector_table(self._read_difat())
        first, cutoff, mini_first = struct.unpack_from("<L4xLL", body, 48)
        self._cutoff = cutoff
        self._directory_entries = self._parse_directory(b"".join(self._iter_sectors(first)))
        self._entries = {
            "" if each.kind == ROOT else each.name: (each.first_sector, each.size)
            for each in reversed(self._directory_entries)
            if each.kind in (STREAM, ROOT)
        }
        self._mini_fat = self._read_sector_table(list(self._iter_chain(mini_first, self._fat, self._sector_count)))
        root = self._entries.get("", (0, 0))
        self._mini = b"".join(self._iter_sectors(root[0]))[: root[1]]

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def is_truncated(self, name: str) -> bool:
        """Whether the end of a stream is missing."""
        return len(self.read(name)) < self._entries.get(name, (FIRST_SPECIAL_SECTOR, 0))[1]

    def read(self, name: str) -> bytes:
        """A stream; empty if there is none of that name."""
        return self._read_stream(*self._entries.get(name, (FIRST_SPECIAL_SECTOR, 0)))

    def read_path(self, path: str) -> bytes:
        """The stream in its folder; empty if there is none."""
        return self._read_stream(*self.paths.get(path, (FIRST_SPECIAL_SECTOR, 0)))

    def _read_stream(self, first: int, size: int) -> bytes:
        if size >= self._cutoff:
            return b"".join(self._iter_sectors(first))[:size]
        pieces = (
            self._mini[at * 64 : at * 64 + 64] for at in self._iter_chain(first, self._mini_fat, len(self._mini) // 64)
        )
        return b"".join(pieces)[:size]

    def _read_difat(self) -> list[int]:
        """The sectors that hold the table of sectors."""
        found = list(struct.unpack_from("<109L", self._body, 76))
        at, left = struct.unpack_from("<L", self._body, 68)[0], len(self._body) // self._sector_bytes
        while at < FIRST_SPECIAL_SECTOR and left > 0:
            *more, at = self._unpack_numbers(self._read_sector(at))
            found += more
            left -= 1
        found = [each for each in found if each < FIRST_SPECIAL_SECTOR]
        if len(set(found)) < len(found):  # a table that is larger than its file
            raise CompoundFileError("its table of sectors is damaged")
        return found

    def _read_sector_table(self, sectors: list[int]) -> list[int]:
        return [number for each in sectors for number in self._unpack_numbers(self._read_sector(each))]

    @staticmethod
    def _unpack_numbers(sector: bytes) -> tuple[int, ...]:
        return struct.unpack_from(f"<{len(sector) // 4}L", sector)

    def _read_sector(self, number: int) -> bytes:
        return self._body[(number + 1) * self._sector_bytes : (number + 2) * self._sector_bytes]

    def _iter_sectors(self, first: int) -> Iterator[bytes]:
        return (self._read_sector(at) for at in self._iter_chain(first, self._fat, self._sector_count))

    def _iter_chain(self, first: int, table: list[int], most: int) -> Iterator[int]:
        """The numbers of a chain; one that is longer than all there is bites its own tail, and is damaged."""
        at, left = first, most + 1  # the last one may be cut
        while at < FIRST_SPECIAL_SECTOR:
            if at >= len(table) or left <= 0:
                raise CompoundFileError("its table of sectors is damaged")
            yield at
            at, left = table[at], left - 1

    def _parse_directory(self, body: bytes) -> list[CompoundEntry]:
        """The entries as they stand: the root first."""
        max_entries = 20_000
        entry_bytes = 128  # bytes of a directory's entry
        found: list[CompoundEntry] = []
        for at in range(0, min(len(body), entry_bytes * max_entries) - entry_bytes + 1, entry_bytes):
            length, kind, left, right, inside = struct.unpack_from("<HBxLLL", body, at + 64)
            name = body[at : at + max(0, min(64, length) - 2)].decode("utf-16-le", "replace")
            first, size = struct.unpack_from("<LL", body, at + 116)
            found.append(CompoundEntry(name, kind, (left, right), inside, first, size))
        return found

    @cached_property
    def paths(self) -> dict[str, tuple[int, int]]:
        """First sector and size of each stream by its path; an entry that stands in two folders is damaged."""
        max_depth = 30  # folders in folders
        found: dict[str, tuple[int, int]] = {}
        waiting, seen = [(self._directory_entries[0].child, "", 0)] if self._directory_entries else [], set[int]()
        while waiting:
            number, folder, depth = waiting.pop()
            if number >= len(self._directory_entries) or number in seen or depth > max_depth:
                continue
            seen.add(number)
            each = self._directory_entries[number]
            waiting += [(near, folder, depth) for near in each.siblings]
            if each.kind == STREAM:
                found.setdefault(folder + each.name, (each.first_sector, each.size))
            elif each.kind == STORAGE:
                waiting.append((each.child, f"{folder}{each.name}/", depth + 1))
        return found


def read_properties(stream: bytes) -> dict[str, str]:
    """Title, subject, author and creation date of a property set (MS-OLEPS section 2.21); empty if it is damaged."""
    try:
        start = struct.unpack_from("<L", stream, 44)[0]
        count = min(100, struct.unpack_from("<L", stream, start + 4)[0])
        places = dict(struct.unpack_from("<LL", stream, start + 8 + 8 * at) for at in range(count))
        page = struct.unpack_from("<H", stream, start + places[1] + 4)[0] if 1 in places else 1252
        found = {}
        for name, number in PROPERTY_IDS.items():
            if number in places:
                found[name] = _read_value(stream, start + places[number], page)
    except (struct.error, ValueError):
        return {}
    return found


def _read_value(stream: bytes, at: int, page: int) -> str:
    max_timestamp_s = 4_102_444_800  # 2100
    epoch_offset_s = 11_644_473_600  # seconds from 1601 to 1970
    kind = struct.unpack_from("<L", stream, at)[0]
    if kind == VT_FILETIME:
        moment = struct.unpack_from("<Q", stream, at + 4)[0] // 10_000_000 - epoch_offset_s
        return datetime.fromtimestamp(moment, UTC).date().isoformat() if 0 < moment < max_timestamp_s else ""
    size = struct.unpack_from("<L", stream, at + 4)[0] if kind == VT_LPSTR else 0
    codec = "utf-8" if page == 65_001 else f"cp{page}"
    try:
        return stream[at + 8 : at + 8 + min(size, 2_000)].decode(codec, "replace").rstrip("\x00")
    except LookupError:
        return ""
