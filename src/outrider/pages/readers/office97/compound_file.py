"""Read streams of compound files (MS-CFB).

They are the file system inside Office files before 2007.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

COMPOUND_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FIRST_SPECIAL_SECTOR = 0xFFFFFFF0  # sector numbers from here on have special meanings (section 2.1)
STORAGE, STREAM, ROOT = 1, 2, 5


class CompoundFileError(Exception):
    """The file is cut or damaged."""


@dataclass(frozen=True)
class CompoundEntry:
    """A directory entry: a stream, or a storage with the number of one of its entries."""

    name: str
    kind: int
    siblings: tuple[int, int]  # entries of the same folder
    child: int
    first_sector: int
    size: int


class CompoundFile:
    """The streams of a compound file by name or path.

    Names are in any storage and any case; a path is `storage/name`.

    Raises:
        CompoundFileError: if the file is cut or damaged, at once or when a stream is read.
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
            "" if entry.kind == ROOT else entry.name.upper(): (entry.first_sector, entry.size)
            for entry in reversed(self._directory_entries)
            if entry.kind in (STREAM, ROOT)
        }
        # Embedded documents have streams of the same names.
        self._entries |= {path.upper(): place for path, place in self.paths.items() if "/" not in path}
        self._mini_fat = self._read_sector_table(list(self._iter_chain(mini_first, self._fat, self._sector_count)))
        root = self._entries.get("", (0, 0))
        self._mini = b"".join(self._iter_sectors(root[0]))[: root[1]]

    def __contains__(self, name: str) -> bool:
        return name.upper() in self._entries

    def is_truncated(self, name: str) -> bool:
        """Return whether the end of a stream is missing."""
        return len(self.read(name)) < self._entries.get(name.upper(), (FIRST_SPECIAL_SECTOR, 0))[1]

    def read(self, name: str) -> bytes:
        """Return a stream; empty if there is none of that name."""
        return self._read_stream(*self._entries.get(name.upper(), (FIRST_SPECIAL_SECTOR, 0)))

    def read_path(self, path: str) -> bytes:
        """Return the stream at a path; empty if there is none."""
        return self._read_stream(*self.paths.get(path, (FIRST_SPECIAL_SECTOR, 0)))

    def _read_stream(self, first: int, size: int) -> bytes:
        if size >= self._cutoff:
            return b"".join(self._iter_sectors(first))[:size]
        numbers = self._iter_chain(first, self._mini_fat, len(self._mini) // 64)
        return b"".join(self._mini[number * 64 : number * 64 + 64] for number in numbers)[:size]

    def _read_difat(self) -> list[int]:
        """Return the sectors that hold the file allocation table."""
        sectors = list(struct.unpack_from("<109L", self._body, 76))
        next_sector, sectors_left = struct.unpack_from("<L", self._body, 68)[0], len(self._body) // self._sector_bytes
        while next_sector < FIRST_SPECIAL_SECTOR and sectors_left > 0:
            *more, next_sector = self._read_numbers(next_sector)
            sectors += more
            sectors_left -= 1
        sectors = [sector for sector in sectors if sector < FIRST_SPECIAL_SECTOR]
        if len(set(sectors)) < len(sectors):  # repeated sectors would make the table larger than the file
            raise CompoundFileError("its table of sectors is damaged")
        return sectors

    def _read_sector_table(self, sectors: list[int]) -> list[int]:
        return [number for sector in sectors for number in self._read_numbers(sector)]

    def _read_numbers(self, sector: int) -> tuple[int, ...]:
        body = self._read_sector(sector)
        return struct.unpack_from(f"<{len(body) // 4}L", body)

    def _read_sector(self, number: int) -> bytes:
        return self._body[(number + 1) * self._sector_bytes : (number + 2) * self._sector_bytes]

    def _iter_sectors(self, first: int) -> Iterator[bytes]:
        return (self._read_sector(number) for number in self._iter_chain(first, self._fat, self._sector_count))

    def _iter_chain(self, first: int, table: list[int], sector_count: int) -> Iterator[int]:
        """Yield the sector numbers of a chain; one with more sectors than there are is circular."""
        number, sectors_left = first, sector_count + 1  # the last sector of a file may be cut
        while number < FIRST_SPECIAL_SECTOR:
            if number >= len(table) or sectors_left <= 0:
                raise CompoundFileError("its table of sectors is damaged")
            yield number
            number, sectors_left = table[number], sectors_left - 1

    def _parse_directory(self, body: bytes) -> list[CompoundEntry]:
        """Return the directory entries in file order, the root first."""
        max_entries = 20_000
        entry_bytes = 128
        entries: list[CompoundEntry] = []
        for at in range(0, min(len(body), entry_bytes * max_entries) - entry_bytes + 1, entry_bytes):
            length, kind, left, right, child = struct.unpack_from("<HBxLLL", body, at + 64)
            name = body[at : at + max(0, min(64, length) - 2)].decode("utf-16-le", "replace")
            first, size = struct.unpack_from("<LL", body, at + 116)
            entries.append(CompoundEntry(name, kind, (left, right), child, first, size))
        return entries

    @cached_property
    def paths(self) -> dict[str, tuple[int, int]]:
        """The first sector and size of each stream by its path."""
        max_depth = 30  # nested storages
        paths: dict[str, tuple[int, int]] = {}
        pending, seen = [(self._directory_entries[0].child, "", 0)] if self._directory_entries else [], set[int]()
        while pending:
            number, folder, depth = pending.pop()
            # In a damaged file an entry may be listed twice, or even contain itself.
            if number >= len(self._directory_entries) or number in seen or depth > max_depth:
                continue
            seen.add(number)
            entry = self._directory_entries[number]
            pending += [(sibling, folder, depth) for sibling in entry.siblings]
            if entry.kind == STREAM:
                paths.setdefault(folder + entry.name, (entry.first_sector, entry.size))
            elif entry.kind == STORAGE:
                pending.append((entry.child, f"{folder}{entry.name}/", depth + 1))
        return paths


def read_properties(stream: bytes) -> dict[str, str]:
    """Return title, subject, author and creation date of a property set (MS-OLEPS section 2.21).

    They are empty if it is damaged.
    """
    property_ids = {"title": 2, "description": 3, "author": 4, "published": 12}
    try:
        start = struct.unpack_from("<L", stream, 44)[0]
        count = min(100, struct.unpack_from("<L", stream, start + 4)[0])
        offsets = dict(struct.unpack_from("<LL", stream, start + 8 + 8 * number) for number in range(count))
        code_page = struct.unpack_from("<H", stream, start + offsets[1] + 4)[0] if 1 in offsets else 1252
        return {
            name: _read_value(stream, start + offsets[number], code_page)
            for name, number in property_ids.items()
            if number in offsets
        }
    except (struct.error, ValueError):
        return {}


def _read_value(stream: bytes, at: int, code_page: int) -> str:
    lpstr_type, filetime_type = 30, 64  # MS-OLEPS section 2.15
    max_timestamp_s = 4_102_444_800  # 2100
    epoch_offset_s = 11_644_473_600  # from 1601 to 1970
    kind = struct.unpack_from("<L", stream, at)[0]
    if kind == filetime_type:
        timestamp = struct.unpack_from("<Q", stream, at + 4)[0] // 10_000_000 - epoch_offset_s
        return datetime.fromtimestamp(timestamp, UTC).date().isoformat() if 0 < timestamp < max_timestamp_s else ""
    size = struct.unpack_from("<L", stream, at + 4)[0] if kind == lpstr_type else 0
    codec = "utf-8" if code_page == 65_001 else f"cp{code_page}"
    try:
        return stream[at + 8 : at + 8 + min(size, 2_000)].decode(codec, "replace").rstrip("\x00")
    except LookupError:
        return ""
