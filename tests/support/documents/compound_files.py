"""Build small compound files (MS-CFB) with sectors of 512 bytes; a storage's entries form one branch."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

SECTOR_BYTES, MINI_SECTOR_BYTES, MINI_STREAM_CUTOFF_BYTES = 512, 64, 4_096
FAT_SECTOR, END_OF_CHAIN, NO_SECTOR = 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF
STORAGE_ENTRY, STREAM_ENTRY, ROOT_ENTRY = 1, 2, 5
CompoundTree = Mapping[str, "bytes | CompoundTree"]


@dataclass
class CompoundEntry:
    name: str
    kind: int
    content: bytes = b""
    right_sibling: int = NO_SECTOR
    child: int = NO_SECTOR
    first_sector: int = 0


def build_compound_file(tree: CompoundTree) -> bytes:
    """Return a compound file of streams (bytes) and storages (mappings)."""
    entries = [CompoundEntry("Root Entry", ROOT_ENTRY)]
    entries[0].child = _add_entries(entries, tree)
    minis, sectors = [], []
    root, streams = entries[0], [entry for entry in entries if entry.kind == STREAM_ENTRY]
    small = [stream for stream in streams if len(stream.content) < MINI_STREAM_CUTOFF_BYTES]
    root.content = b"".join(_allocate_sectors(stream, minis, MINI_SECTOR_BYTES) for stream in small)
    body = b"".join(
        _allocate_sectors(entry, sectors, SECTOR_BYTES)
        for entry in [root, *(stream for stream in streams if stream not in small)]
    )
    table = CompoundEntry("", STREAM_ENTRY, struct.pack(f"<{len(minis)}L", *minis))
    body += _allocate_sectors(table, sectors, SECTOR_BYTES)
    directory = CompoundEntry("", STREAM_ENTRY, b"".join(map(_pack_entry, entries)))
    body += _allocate_sectors(directory, sectors, SECTOR_BYTES)
    fats = next(number for number in count(1) if (len(sectors) + number) * 4 <= number * SECTOR_BYTES)
    places = [*range(len(sectors), len(sectors) + fats), *[NO_SECTOR] * (109 - fats)]
    header = struct.pack(
        "<8s16x5H6x9L",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, fats, directory.first_sector, 0,
        MINI_STREAM_CUTOFF_BYTES, table.first_sector, -(-len(table.content) // SECTOR_BYTES), END_OF_CHAIN, 0,
    )  # fmt: skip
    numbers = struct.pack(f"<{len(sectors) + fats}L", *sectors, *[FAT_SECTOR] * fats)
    return header + struct.pack("<109L", *places) + body + numbers.ljust(fats * SECTOR_BYTES, b"\xff")


def _add_entries(entries: list[CompoundEntry], tree: CompoundTree) -> int:
    """Append a storage's entries to the directory; return the index of the first."""
    previous, first = None, NO_SECTOR
    for name, content in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
        index = len(entries)
        entry = (
            CompoundEntry(name, STREAM_ENTRY, content)
            if isinstance(content, bytes)
            else CompoundEntry(name, STORAGE_ENTRY)
        )
        entries.append(entry)
        if not isinstance(content, bytes):
            entry.child = _add_entries(entries, content)
        if previous:
            previous.right_sibling = index
        previous, first = entry, index if first == NO_SECTOR else first
    return first


def _allocate_sectors(entry: CompoundEntry, table: list[int], unit: int) -> bytes:
    """Allocate sectors for an entry; return its content padded to whole sectors."""
    length = -(-len(entry.content) // unit)
    entry.first_sector = len(table) if length else END_OF_CHAIN
    table += [*range(len(table) + 1, len(table) + length), END_OF_CHAIN] if length else []
    return entry.content.ljust(length * unit, b"\0")


def _pack_entry(entry: CompoundEntry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    places = (NO_SECTOR, entry.right_sibling, entry.child)
    return struct.pack(
        "<64sHBB3L36xLQ", name, len(name), entry.kind, 1, *places, entry.first_sector, len(entry.content)
    )
