"""Writes compound files (MS-CFB), as small as tests need them: 512 bytes a sector, each folder's entries one branch."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

SECTOR, MINI, CUTOFF = 512, 64, 4_096
FAT, END, NONE = 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF
STORAGE, STREAM, ROOT = 1, 2, 5
Tree = Mapping[str, "bytes | Tree"]


@dataclass
class Entry:
    name: str
    kind: int
    content: bytes = b""
    right: int = NONE
    inside: int = NONE
    first: int = 0


def compound(tree: Tree) -> bytes:
    """A compound file of streams (bytes) and folders of them."""
    entries = [Entry("Root Entry", ROOT)]
    entries[0].inside = _listed(entries, tree)
    minis, sectors = [], []
    root, streams = entries[0], [each for each in entries if each.kind == STREAM]
    small = [each for each in streams if len(each.content) < CUTOFF]
    root.content = b"".join(_put(each, minis, MINI) for each in small)
    body = b"".join(_put(each, sectors, SECTOR) for each in [root, *(each for each in streams if each not in small)])
    table = Entry("", STREAM, struct.pack(f"<{len(minis)}L", *minis))
    body += _put(table, sectors, SECTOR)
    directory = Entry("", STREAM, b"".join(map(_packed, entries)))
    body += _put(directory, sectors, SECTOR)
    fats = next(number for number in count(1) if (len(sectors) + number) * 4 <= number * SECTOR)
    places = [*range(len(sectors), len(sectors) + fats), *[NONE] * (109 - fats)]
    header = struct.pack(
        "<8s16x5H6x9L",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, fats, directory.first, 0, CUTOFF,
        table.first, -(-len(table.content) // SECTOR), END, 0,
    )  # fmt: skip
    numbers = struct.pack(f"<{len(sectors) + fats}L", *sectors, *[FAT] * fats)
    return header + struct.pack("<109L", *places) + body + numbers.ljust(fats * SECTOR, b"\xff")


def _listed(entries: list[Entry], tree: Tree) -> int:
    """Lists what a folder holds; gives the first of its entries."""
    before, first = None, NONE
    for name, content in sorted(tree.items(), key=lambda each: (len(each[0]), each[0].upper())):
        here = len(entries)
        entry = Entry(name, STREAM, content) if isinstance(content, bytes) else Entry(name, STORAGE)
        entries.append(entry)
        if not isinstance(content, bytes):
            entry.inside = _listed(entries, content)
        if before:
            before.right = here
        before, first = entry, here if first == NONE else first
    return first


def _put(entry: Entry, table: list[int], unit: int) -> bytes:
    """Gives an entry its place; its content, filled up to whole sectors."""
    length = -(-len(entry.content) // unit)
    entry.first = len(table) if length else END
    table += [*range(len(table) + 1, len(table) + length), END] if length else []
    return entry.content.ljust(length * unit, b"\0")


def _packed(entry: Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    places = (NONE, entry.right, entry.inside)
    return struct.pack("<64sHBB3L36xLQ", name, len(name), entry.kind, 1, *places, entry.first, len(entry.content))
