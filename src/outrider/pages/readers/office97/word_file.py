"""Read characters, properties and lists of a Word 97 file (MS-DOC)."""

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from outrider.pages.readers.office97.compound_file import CompoundFileError

LIST_TABLE = 73  # its number among the tables (section 2.5.6)
OPERAND_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes, by the upper three bits of a property (section 2.6.1)
WIDE_OPERANDS = frozenset({0xD608, 0xD606})  # properties whose operand has a length of two bytes
SPECIAL_CHAR = re.compile("[\\x00-\\x1f\\xa0]")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CharacterProperties:
    """Formatting of a run of characters."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    deleted: bool = False
    rise: int = 0


@dataclass(frozen=True, slots=True)
class ParagraphProperties:
    """Formatting of a paragraph: style number, list with its level, and position in a table.

    The paragraph that ends a row has its `cells`: where each ends, and whether it is merged with the cell beside or
    above it.
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
    """Properties by the file offsets from which they apply."""

    starts: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def get_at(self, offset: int) -> Any:
        """Return the properties at an offset, or None."""
        index = bisect_right(self.starts, offset) - 1
        return self.values[index] if index >= 0 else None

    def find_next_start(self, offset: int) -> int | None:
        """Return the next offset at which properties change, or None."""
        index = bisect_right(self.starts, offset)
        return self.starts[index] if index < len(self.starts) else None


class WordFile:
    """The main stream and the tables of a document.

    Raises:
        CompoundFileError: if it is cut or damaged.
    """

    codec = "cp1252"  # of characters that have one byte
    lengths_start, tables_start = 76, 154  # in the header (section 2.5.1)
    page_number_bytes, paragraph_row_bytes = 4, 13

    def __init__(self, main: bytes, tables: bytes) -> None:
        if len(main) < 0x200:
            raise CompoundFileError("its main stream is cut")
        self.main = main
        self._tables = tables

    def get_text_ranges(self) -> tuple[range, range, range, range]:
        """Return the character positions of text, footnotes, comments and endnotes (section 2.5.4)."""
        ends = list(accumulate(struct.unpack_from("<6L", self.main, self.lengths_start)))
        text, footnotes, _headers, _macros, comments, endnotes = map(range, [0, *ends], ends)
        return text, footnotes, comments, endnotes

    def find_endnotes(self) -> frozenset[int]:
        """Return the positions of references to endnotes; all other note references are to footnotes."""
        plc = self.read_table(46)
        count = max(0, len(plc) - 4) // 6
        return frozenset(struct.unpack_from(f"<{count}L", plc)) if count else frozenset()

    def read_table(self, number: int) -> bytes:
        """Return a table by its number (section 2.5.6); empty if there is none."""
        at = self.tables_start + 8 * number
        if len(self.main) < at + 8:
            return b""
        start, size = struct.unpack_from("<LL", self.main, at)
        return self._tables[start : start + size]

    def iter_stretches(self, part: range, letters: PropertyRuns) -> Iterator[tuple[int, int, str]]:
        """Yield position, offset in the main stream, and text of equal properties; special characters alone."""
        for first, last, offset, narrow in self.iter_pieces():
            start, end = max(first, part.start), min(last, part.stop)
            if start >= end:
                continue
            width = 1 if narrow else 2
            begin = offset + (start - first) * width
            body = self.main[begin : begin + (end - start) * width]
            # One character for each position: a surrogate pair stays two characters.
            codes = (
                body.decode(self.codec, "replace") if narrow else map(chr, struct.unpack(f"<{len(body) // 2}H", body))
            )
            text = "".join(codes)
            at = 0
            while at < len(text):
                changes = letters.find_next_start(begin + at * width)
                limit = len(text) if changes is None else max(at + 1, (changes - begin) // width)
                special = SPECIAL_CHAR.search(text, at, limit)
                stop = max(at + 1, special.start() if special else min(limit, len(text)))
                stretch = text[at:stop]
                if not stretch.isascii() and SURROGATE.search(stretch):
                    stretch = stretch.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
                yield start + at, begin + at * width, stretch
                at = stop

    def iter_pieces(self) -> Iterator[tuple[int, int, int, bool]]:
        """Yield the position of each piece and the size of its characters.

        These are first and end position, offset in the main stream, and whether characters have one byte.

        Section 2.4.1.
        """
        for start, end, place in self.iter_raw_pieces():
            narrow, offset = bool(place & 0x40000000), place & 0x3FFFFFFF
            yield start, end, offset // 2 if narrow else offset, narrow

    def iter_raw_pieces(self) -> Iterator[tuple[int, int, int]]:
        """Yield first and end position, and offset, from the table of pieces."""
        max_pieces = 200_000
        clx, at = self.read_table(33), 0
        while at + 3 <= len(clx) and clx[at] == 1:
            at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
        if at + 5 > len(clx) or clx[at] != 2:
            raise CompoundFileError("its table of pieces is missing")
        size = struct.unpack_from("<L", clx, at + 1)[0]
        plc = clx[at + 5 : at + 5 + size]
        count = min(max_pieces, max(0, len(plc) - 4) // 12)
        positions = struct.unpack_from(f"<{count + 1}L", plc)
        for number in range(count):
            yield positions[number], positions[number + 1], struct.unpack_from("<L", plc, 4 * count + 6 + 8 * number)[0]

    def read_character_runs(self) -> PropertyRuns:
        """Return the properties of characters."""
        return self._read_property_runs(12, 1, lambda page, at: self.parse_character(page[at + 1 : at + 1 + page[at]]))

    def read_paragraph_runs(self) -> PropertyRuns:
        """Return the properties of paragraphs."""
        return self._read_property_runs(13, self.paragraph_row_bytes, self.parse_paragraph)

    def _read_property_runs(self, table: int, width: int, parse: Callable[[bytes, int], object]) -> PropertyRuns:
        """Read properties from pages of 512 bytes (sections 2.9.33 and 2.9.174)."""
        max_runs = 2_000_000
        page_bytes = 512
        plc, properties = self.read_table(table), PropertyRuns()
        width_of_number = self.page_number_bytes
        count = max(0, len(plc) - 4) // (4 + width_of_number)
        starts_of_numbers = range(4 * (count + 1), 4 * (count + 1) + count * width_of_number, width_of_number)
        for number in (int.from_bytes(plc[at : at + width_of_number], "little") for at in starts_of_numbers):
            page = self.main[(number & 0x3FFFFF) * page_bytes : ((number & 0x3FFFFF) + 1) * page_bytes]
            if len(page) < page_bytes or len(properties.starts) > max_runs:
                continue
            runs = page[-1]
            if 4 * (runs + 1) + width * runs > page_bytes:
                continue
            starts = struct.unpack_from(f"<{runs}L", page)
            for run in range(runs):
                at = 2 * page[4 * (runs + 1) + width * run]
                properties.starts.append(starts[run])
                properties.values.append(parse(page, at) if 0 < at < page_bytes - 2 else None)
        if any(start > following for start, following in pairwise(properties.starts)):
            order = sorted(range(len(properties.starts)), key=properties.starts.__getitem__)
            properties.starts = [properties.starts[run] for run in order]
            properties.values = [properties.values[run] for run in order]
        return properties

    def parse_character(self, group: bytes) -> CharacterProperties:
        """Return the formatting that a group of properties states."""
        values = dict(_iter_properties(group))
        return CharacterProperties(
            bold=values.get(0x0835) in (1, 0x81),
            italic=values.get(0x0836) in (1, 0x81),
            struck=values.get(0x0837) == 1 or values.get(0x2A53) == 1,
            hidden=values.get(0x083C) in (1, 0x81),
            deleted=values.get(0x0800) == 1,
            rise={1: 1, 2: -1}.get(values.get(0x2A48, 0), 0),
        )

    def parse_paragraph(self, page: bytes, at: int) -> ParagraphProperties:
        """Return the formatting of a paragraph, which is stored at an offset of a page."""
        size = page[at]
        group = page[at + 2 : at + 2 + 2 * page[at + 1]] if not size else page[at + 1 : at + 2 * size]
        if len(group) < 2:
            return ParagraphProperties()
        values = dict(_iter_properties(group[2:]))
        return ParagraphProperties(
            group[0] | group[1] << 8,
            values.get(0x460B, 0),
            min(8, values.get(0x260A, 0)),
            values.get(0x2640, 9),
            in_table=bool(values.get(0x2416) or values.get(0x6649)),
            row_end=bool(values.get(0x2417)),
            cells=parse_cells(values.get(0xD608, 0), 20),
        )

    def read_lists(self) -> dict[int, tuple[int, list[tuple[str, str]]]]:
        """Return list id, and format and text of each level, by the number that paragraphs refer to.

        Several numbers may refer to one list, which continues counting (section 2.9.131).
        """
        try:
            levels = _read_list_levels(self.read_table(LIST_TABLE), self._tables, self.main)
            plc = self.read_table(74)
            count = min(2_000, struct.unpack_from("<L", plc)[0])
            list_ids = [struct.unpack_from("<L", plc, 4 + 16 * number)[0] for number in range(count)]
            return {number: (list_id, levels.get(list_id, [])) for number, list_id in enumerate(list_ids, 1)}
        except (struct.error, IndexError):
            return {}


def _read_list_levels(table: bytes, tables: bytes, main: bytes) -> dict[int, list[tuple[str, str]]]:
    """Return format and text of each list's levels by list id; they follow the table that names the lists."""
    # MS-OSHARED section 2.2.1.3.
    formats = {1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 22: "decimalZero", 23: "bullet"}
    count = struct.unpack_from("<H", table)[0]
    at = struct.unpack_from("<L", main, 154 + 8 * LIST_TABLE)[0] + len(table)
    lists: dict[int, list[tuple[str, str]]] = {}
    for number in range(min(count, 2_000)):
        list_id, is_simple = struct.unpack_from("<L22xB", table, 2 + 28 * number)
        levels = []
        for _ in range(1 if is_simple & 1 else 9):
            number_format, character_bytes, paragraph_bytes = tables[at + 4], tables[at + 24], tables[at + 25]
            at += 28 + character_bytes + paragraph_bytes
            length = struct.unpack_from("<H", tables, at)[0]
            text = tables[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
            at += 2 + 2 * length
            levels.append((formats.get(number_format, "decimal"), text))
        lists[list_id] = levels
    return lists


def _iter_properties(group: bytes) -> Iterator[tuple[int, int]]:
    """Yield properties and their values."""
    at = 0
    while at + 2 < len(group):
        name = group[at] | group[at + 1] << 8
        size = OPERAND_SIZES[name >> 13]
        at += 2
        if not size:
            size = 1 + (struct.unpack_from("<H", group + b"\x00", at)[0] if name in WIDE_OPERANDS else group[at])
        yield name, int.from_bytes(group[at : at + size], "little")
        at += size


def parse_cells(operand: int, format_bytes: int) -> tuple[tuple[int, str], ...]:
    """Return where the cells of a row end, and what they are merged with (TDefTableOperand, section 2.9.315)."""
    body = operand.to_bytes(max(3, (operand.bit_length() + 7) // 8), "little")
    count = min(63, body[2])
    body = body.ljust(5 + 2 * count + format_bytes * count, b"\x00")
    ends = struct.unpack_from(f"<{count + 1}h", body, 3) if count else ()
    flags = [struct.unpack_from("<H", body, 5 + 2 * count + format_bytes * cell)[0] for cell in range(count)]
    merges = ("beside" if flag & 0x2 else "above" if flag & 0x60 == 0x20 else "" for flag in flags)
    return tuple(zip(ends[1:], merges, strict=True))
