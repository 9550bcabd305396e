"""What a Word 97 file says of its characters and paragraphs (MS-DOC)."""

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.readers.office97.compound_file import CompoundFile, CompoundFileError

FIB_MAGIC, WORD_97 = 0xA5EC, 193
ENCRYPTED_FLAG, TABLE_1_FLAG = 0x0100, 0x0200  # section 2.5.1
CLX, CHPX, PAPX, ENDNOTE_TABLE, LIST_TABLE, LIST_OVERRIDE_TABLE = (
    33,
    12,
    13,
    46,
    73,
    74,
)  # places in the table of tables (section 2.5.6)
OPERAND_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes of an operand by the upper bits of its property (section 2.6.1)
WIDE_OPERANDS = frozenset({0xD608, 0xD606})
SPECIAL_CHAR = re.compile("[\\x00-\\x1f\\xa0]")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CharacterProperties:
    """What holds of a run of characters."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    deleted: bool = False
    rise: int = 0


@dataclass(frozen=True, slots=True)
class ParagraphProperties:
    """What holds of a paragraph: style by number, list with its level, and its place in a table.

    The one that ends a row has its `cells`: where each ends, and whether it goes on from the one before or above.
    """

    style: int = 0
    list: int = 0
    level: int = 0
    outline: int = 9
    in_table: bool = False
    row_end: bool = False
    cells: tuple[tuple[int, str], ...] = ()


@dataclass
class PropertyRuns:
    """Properties by the offsets in the file from which they hold."""

    starts: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def get_at(self, offset: int) -> Any:
        """What holds at an offset; None if nothing does."""
        place = bisect_right(self.starts, offset) - 1
        return self.values[place] if place >= 0 else None

    def find_next_start(self, offset: int) -> int | None:
        """Where something else begins to hold; None if nothing does."""
        place = bisect_right(self.starts, offset)
        return self.starts[place] if place < len(self.starts) else None


class WordFile:
    """The main stream and the tables of a document.

    Raises:
        BrokenCompound: it is cut or damaged.
    """

    def __init__(self, files: CompoundFile) -> None:
        self.main = files.read("WordDocument")
        if len(self.main) < 0x200 or struct.unpack_from("<H", self.main)[0] != FIB_MAGIC:
            raise CompoundFileError("its main stream is missing")
        self.version, flags = struct.unpack_from("<H6xH", self.main, 2)
        self.encrypted = bool(flags & ENCRYPTED_FLAG)
        self._tables = files.read("1Table" if flags & TABLE_1_FLAG else "0Table")

    def get_text_ranges(self) -> tuple[range, range, range, range]:
        """The places of the text, its footnotes, its comments and its endnotes (section 2.5.4)."""
        text, foot, head, macros, comments, ends = struct.unpack_from("<6L", self.main, 76)
        places, at = [], 0
        for length in (text, foot, head, macros, comments, ends):
            places.append(range(at, at + length))
            at += length
        return places[0], places[1], places[4], places[5]

    def find_endnotes(self) -> frozenset[int]:
        """The places in the text that refer to endnotes; all other signs of notes refer to footnotes."""
        plc = self.read_table(ENDNOTE_TABLE)
        count = max(0, len(plc) - 4) // 6
        return frozenset(struct.unpack_from(f"<{count}L", plc)) if count else frozenset()

    def read_table(self, number: int) -> bytes:
        """One of the tables; empty if there is none."""
        if len(self.main) < 162 + 8 * number:
            return b""
        start, size = struct.unpack_from("<LL", self.main, 154 + 8 * number)
        return self._tables[start : start + size]

    def iter_stretches(self, part: range, letters: PropertyRuns) -> Iterator[tuple[int, int, str]]:
        """Place, offset in the main stream and characters: signs alone, others as long as the same holds of them."""
        for first, last, offset, narrow in self.iter_pieces():
            start, end = max(first, part.start), min(last, part.stop)
            if start >= end:
                continue
            width = 1 if narrow else 2
            begin = offset + (start - first) * width
            text = _decode_text(self.main[begin : begin + (end - start) * width], narrow=narrow)
            at = 0
            while at < len(text):
                changes = letters.find_next_start(begin + at * width)
                limit = len(text) if changes is None else max(at + 1, (changes - begin) // width)
                sign = SPECIAL_CHAR.search(text, at, limit)
                stop = max(at + 1, sign.start() if sign else min(limit, len(text)))
                yield start + at, begin + at * width, _join_surrogates(text[at:stop])
                at = stop

    def iter_pieces(self) -> Iterator[tuple[int, int, int, bool]]:
        """First and last place, offset in the main stream, and whether a character takes one byte (section 2.4.1)."""
        max_pieces = 200_000
        clx, at = self.read_table(CLX), 0
        while at + 3 <= len(clx) and clx[at] == 1:
            at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
        if at + 5 > len(clx) or clx[at] != 2:
            raise CompoundFileError("its table of pieces is missing")
        size = struct.unpack_from("<L", clx, at + 1)[0]
        plc = clx[at + 5 : at + 5 + size]
        count = min(max_pieces, max(0, len(plc) - 4) // 12)
        places = struct.unpack_from(f"<{count + 1}L", plc)
        for number in range(count):
            offset = struct.unpack_from("<L", plc, 4 * (count + 1) + 8 * number + 2)[0]
            narrow = bool(offset & 0x40000000)
            offset &= 0x3FFFFFFF
            yield places[number], places[number + 1], offset // 2 if narrow else offset, narrow

    def read_character_runs(self) -> PropertyRuns:
        """What holds of characters."""
        return self._read_property_runs(CHPX, 1, lambda page, at: _parse_character(page[at + 1 : at + 1 + page[at]]))

    def read_paragraph_runs(self) -> PropertyRuns:
        """What holds of paragraphs."""
        return self._read_property_runs(PAPX, 13, _parse_paragraph)

    def _read_property_runs(self, table: int, width: int, parse: Callable[[bytes, int], object]) -> PropertyRuns:
        """Properties from pages of 512 bytes (sections 2.9.33 and 2.9.174)."""
        max_runs = 2_000_000
        page_bytes = 512
        plc, found = self.read_table(table), PropertyRuns()
        count = max(0, len(plc) - 4) // 8
        numbers = struct.unpack_from(f"<{count}L", plc, 4 * (count + 1)) if count else ()
        for number in numbers:
            page = self.main[(number & 0x3FFFFF) * page_bytes : ((number & 0x3FFFFF) + 1) * page_bytes]
            if len(page) < page_bytes or len(found.starts) > max_runs:
                continue
            runs = page[-1]
            if 4 * (runs + 1) + width * runs > page_bytes:
                continue
            starts = struct.unpack_from(f"<{runs}L", page)
            for at in range(runs):
                place = 2 * page[4 * (runs + 1) + width * at]
                found.starts.append(starts[at])
                found.values.append(parse(page, place) if 0 < place < page_bytes - 2 else None)
        if any(one > other for one, other in zip(found.starts, found.starts[1:], strict=False)):
            order = sorted(range(len(found.starts)), key=found.starts.__getitem__)
            found.starts, found.values = [found.starts[at] for at in order], [found.values[at] for at in order]
        return found

    def read_lists(self) -> dict[int, tuple[int, list[tuple[str, str]]]]:
        """Identity, and number format and text of each level, by the number by which paragraphs call a list.

        Several may be one list, which goes on counting (section 2.9.131).
        """
        try:
            kinds = _read_list_levels(self.read_table(LIST_TABLE), self._tables, self.main)
            plc = self.read_table(LIST_OVERRIDE_TABLE)
            count = min(2_000, struct.unpack_from("<L", plc)[0])
            names = [struct.unpack_from("<L", plc, 4 + 16 * at)[0] for at in range(count)]
            return {at: (name, kinds.get(name, [])) for at, name in enumerate(names, 1)}
        except (struct.error, IndexError):
            return {}


def _decode_text(body: bytes, *, narrow: bool) -> str:
    """One character for each place: those beyond the basic plane, which have two, stay in halves."""
    if narrow:
        return body.decode("cp1252", "replace")
    return "".join(map(chr, struct.unpack_from(f"<{len(body) // 2}H", body)))


def _join_surrogates(text: str) -> str:
    """The characters with their halves together."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _read_list_levels(table: bytes, tables: bytes, main: bytes) -> dict[int, list[tuple[str, str]]]:
    """The levels of each list by its identity; they stand behind the table that names the lists."""
    number_formats = {
        0: "decimal",
        1: "upperRoman",
        2: "lowerRoman",
        3: "upperLetter",
        4: "lowerLetter",
        22: "decimalZero",
    }
    bullet_format = 23  # number format (MS-OSHARED section 2.2.1.3)
    count = struct.unpack_from("<H", table)[0]
    at = struct.unpack_from("<L", main, 154 + 8 * LIST_TABLE)[0] + len(table)
    found: dict[int, list[tuple[str, str]]] = {}
    for number in range(min(count, 2_000)):
        identity, simple = struct.unpack_from("<L22xB", table, 2 + 28 * number)
        levels = []
        for _ in range(1 if simple & 1 else 9):
            way, letters, paragraph = tables[at + 4], tables[at + 24], tables[at + 25]
            at += 28 + letters + paragraph
            length = struct.unpack_from("<H", tables, at)[0]
            text = tables[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
            at += 2 + 2 * length
            levels.append(("bullet" if way == bullet_format else number_formats.get(way, "decimal"), text))
        found[identity] = levels
    return found


def _iter_properties(group: bytes) -> Iterator[tuple[int, int]]:
    """Properties with the number that each is set to."""
    at = 0
    while at + 2 < len(group):
        name = group[at] | group[at + 1] << 8
        size = OPERAND_SIZES[name >> 13]
        at += 2
        if not size:
            size = 1 + (struct.unpack_from("<H", group + b"\x00", at)[0] if name in WIDE_OPERANDS else group[at])
        yield name, int.from_bytes(group[at : at + size], "little")
        at += size


def _parse_cells(table: int) -> tuple[tuple[int, str], ...]:
    """The cells of a row by its definition (TDefTableOperand, section 2.9.315)."""
    body = table.to_bytes(max(3, (table.bit_length() + 7) // 8), "little")
    count = min(63, body[2])
    body = body.ljust(5 + 2 * count + 20 * count, b"\x00")
    ends = struct.unpack_from(f"<{count + 1}h", body, 3) if count else ()
    flags = [struct.unpack_from("<H", body, 5 + 2 * count + 20 * at)[0] for at in range(count)]
    ways = ("beside" if each & 0x2 else "above" if each & 0x60 == 0x20 else "" for each in flags)
    return tuple(zip(ends[1:], ways, strict=True))


def _parse_character(group: bytes) -> CharacterProperties:
    known = dict(_iter_properties(group))
    return CharacterProperties(
        bold=known.get(0x0835) in (1, 0x81),
        italic=known.get(0x0836) in (1, 0x81),
        struck=known.get(0x0837) == 1 or known.get(0x2A53) == 1,
        hidden=known.get(0x083C) in (1, 0x81),
        deleted=known.get(0x0800) == 1,
        rise={1: 1, 2: -1}.get(known.get(0x2A48, 0), 0),
    )


def _parse_paragraph(page: bytes, at: int) -> ParagraphProperties:
    size = page[at]
    group = page[at + 2 : at + 2 + 2 * page[at + 1]] if not size else page[at + 1 : at + 2 * size]
    if len(group) < 2:
        return ParagraphProperties()
    known = dict(_iter_properties(group[2:]))
    return ParagraphProperties(
        group[0] | group[1] << 8,
        known.get(0x460B, 0),
        min(8, known.get(0x260A, 0)),
        known.get(0x2640, 9),
        in_table=bool(known.get(0x2416) or known.get(0x6649)),
        row_end=bool(known.get(0x2417)),
        cells=_parse_cells(known.get(0xD608, 0)),
    )
