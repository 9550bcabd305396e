"""Streams of a compound file (MS-CFB), the file system in a file of Office before 2007."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FREE = 0xFFFFFFF0  # from here on numbers of sectors are marks (section 2.1)
ENTRY = 128  # bytes of a directory's entry
ENTRIES = 20_000
DEEPEST = 30  # folders in folders
STORAGE, STREAM, ROOT = 1, 2, 5
FACTS = {"title": 2, "description": 3, "author": 4, "published": 12}
TEXT, TIME = 30, 64  # kinds of values (MS-OLEPS section 2.15)
SINCE_1601 = 11_644_473_600  # seconds from 1601 to 1970
LAST = 4_102_444_800  # 2100


class BrokenCompound(Exception):
    """The file is cut or damaged."""


@dataclass(frozen=True)
class Entry:
    """What stands in the directory: a file, or a folder with the number of one of the entries in it."""

    name: str
    kind: int
    near: tuple[int, int]  # entries of the same folder
    inside: int
    first: int
    size: int


class Compound:
    """The streams by name, wherever they stand, or by path (`folder/name`).

    Raises:
        BrokenCompound: at once or when a stream is read.
    """

    def __init__(self, body: bytes) -> None:
        if not body.startswith(MAGIC) or len(body) < 512:
            raise BrokenCompound("it is cut")
        self._body = body
        shift, mini = struct.unpack_from("<HH", body, 30)
        if shift not in (9, 12) or mini != 6:
            raise BrokenCompound("its header is damaged")
        self._size = 1 << shift
        self._sectors_in = len(body) >> shift
        self._fat = self._table(self._difat())
        first, cutoff, mini_first = struct.unpack_from("<L4xLL", body, 48)
        self._cutoff = cutoff
        self._listed = self._directory(b"".join(self._sectors(first)))
        self._entries = {
            "" if each.kind == ROOT else each.name: (each.first, each.size)
            for each in reversed(self._listed)
            if each.kind in (STREAM, ROOT)
        }
        self._mini_fat = self._table(list(self._chain(mini_first, self._fat, self._sectors_in)))
        root = self._entries.get("", (0, 0))
        self._mini = b"".join(self._sectors(root[0]))[: root[1]]

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def lacks(self, name: str) -> bool:
        """Whether the end of a stream is missing."""
        return len(self.read(name)) < self._entries.get(name, (FREE, 0))[1]

    def read(self, name: str) -> bytes:
        """A stream; empty if there is none of that name."""
        return self._read(*self._entries.get(name, (FREE, 0)))

    def at(self, path: str) -> bytes:
        """The stream in its folder; empty if there is none."""
        return self._read(*self.paths.get(path, (FREE, 0)))

    def _read(self, first: int, size: int) -> bytes:
        if size >= self._cutoff:
            return b"".join(self._sectors(first))[:size]
        pieces = (
            self._mini[at * 64 : at * 64 + 64] for at in self._chain(first, self._mini_fat, len(self._mini) // 64)
        )
        return b"".join(pieces)[:size]

    def _difat(self) -> list[int]:
        """The sectors that hold the table of sectors."""
        found = list(struct.unpack_from("<109L", self._body, 76))
        at, left = struct.unpack_from("<L", self._body, 68)[0], len(self._body) // self._size
        while at < FREE and left > 0:
            *more, at = self._numbers(self._sector(at))
            found += more
            left -= 1
        found = [each for each in found if each < FREE]
        if len(set(found)) < len(found):  # a table that is larger than its file
            raise BrokenCompound("its table of sectors is damaged")
        return found

    def _table(self, sectors: list[int]) -> list[int]:
        return [number for each in sectors for number in self._numbers(self._sector(each))]

    @staticmethod
    def _numbers(sector: bytes) -> tuple[int, ...]:
        return struct.unpack_from(f"<{len(sector) // 4}L", sector)

    def _sector(self, number: int) -> bytes:
        return self._body[(number + 1) * self._size : (number + 2) * self._size]

    def _sectors(self, first: int) -> Iterator[bytes]:
        return (self._sector(at) for at in self._chain(first, self._fat, self._sectors_in))

    def _chain(self, first: int, table: list[int], most: int) -> Iterator[int]:
        """The numbers of a chain; one that is longer than all there is bites its own tail, and is damaged."""
        at, left = first, most + 1  # the last one may be cut
        while at < FREE:
            if at >= len(table) or left <= 0:
                raise BrokenCompound("its table of sectors is damaged")
            yield at
            at, left = table[at], left - 1

    def _directory(self, body: bytes) -> list[Entry]:
        """The entries as they stand: the root first."""
        found: list[Entry] = []
        for at in range(0, min(len(body), ENTRY * ENTRIES) - ENTRY + 1, ENTRY):
            length, kind, left, right, inside = struct.unpack_from("<HBxLLL", body, at + 64)
            name = body[at : at + max(0, min(64, length) - 2)].decode("utf-16-le", "replace")
            first, size = struct.unpack_from("<LL", body, at + 116)
            found.append(Entry(name, kind, (left, right), inside, first, size))
        return found

    @cached_property
    def paths(self) -> dict[str, tuple[int, int]]:
        """First sector and size of each stream by its path; an entry that stands in two folders is damaged."""
        found: dict[str, tuple[int, int]] = {}
        waiting, seen = [(self._listed[0].inside, "", 0)] if self._listed else [], set[int]()
        while waiting:
            number, folder, depth = waiting.pop()
            if number >= len(self._listed) or number in seen or depth > DEEPEST:
                continue
            seen.add(number)
            each = self._listed[number]
            waiting += [(near, folder, depth) for near in each.near]
            if each.kind == STREAM:
                found.setdefault(folder + each.name, (each.first, each.size))
            elif each.kind == STORAGE:
                waiting.append((each.inside, f"{folder}{each.name}/", depth + 1))
        return found


def facts(stream: bytes) -> dict[str, str]:
    """Title, subject, author and creation date of a property set (MS-OLEPS section 2.21); empty if it is damaged."""
    try:
        start = struct.unpack_from("<L", stream, 44)[0]
        count = min(100, struct.unpack_from("<L", stream, start + 4)[0])
        places = dict(struct.unpack_from("<LL", stream, start + 8 + 8 * at) for at in range(count))
        page = struct.unpack_from("<H", stream, start + places[1] + 4)[0] if 1 in places else 1252
        found = {}
        for name, number in FACTS.items():
            if number in places:
                found[name] = _value(stream, start + places[number], page)
    except (struct.error, ValueError):
        return {}
    return found


def _value(stream: bytes, at: int, page: int) -> str:
    kind = struct.unpack_from("<L", stream, at)[0]
    if kind == TIME:
        moment = struct.unpack_from("<Q", stream, at + 4)[0] // 10_000_000 - SINCE_1601
        return datetime.fromtimestamp(moment, UTC).date().isoformat() if 0 < moment < LAST else ""
    size = struct.unpack_from("<L", stream, at + 4)[0] if kind == TEXT else 0
    codec = "utf-8" if page == 65_001 else f"cp{page}"
    try:
        return stream[at + 8 : at + 8 + min(size, 2_000)].decode(codec, "replace").rstrip("\x00")
    except LookupError:
        return ""
