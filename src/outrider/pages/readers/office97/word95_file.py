"""Read Word 6 and 95 files where they differ from Word 97.

Microsoft's "Word 6.0/95 Binary File Format" has one byte for each character and each property, and all tables in the
main stream. Numbers of lists are not in the text, and not read.
"""

import struct
from collections.abc import Iterator
from itertools import islice

from outrider.pages.mime.charset import decode_body
from outrider.pages.readers.office97.word_file import CharacterProperties, ParagraphProperties, WordFile, parse_cells

STYLE, IN_TABLE, ROW_END, CELLS = 2, 24, 25, 190  # properties of paragraphs
DELETED, BOLD, ITALIC, STRUCK, HIDDEN, RISE = 65, 85, 86, 87, 92, 104  # of characters
SIZED_OPERANDS = frozenset({3, 12, 15, 23, 52, 68, 74, 81, 82, 103, 105, 106, 108, 120, 121, 188, 191})
OPERAND_BYTES = {  # of properties whose operands have no length of their own, 1 where none is listed
    **dict.fromkeys((0, 83), 0),
    **dict.fromkeys((2, 16, 17, 18, 19, 21, 22, 26, 27, 28, *range(30, 37), *range(38, 44), *range(45, 50)), 2),
    **dict.fromkeys((69, 72, 80, 93, 96, 97, 107, 109, 110, 182, 183, 184, 189), 2),
    **dict.fromkeys((73, 95), 3),
    **dict.fromkeys((20, 70, 192), 4),
    187: 12,
}


class Word95File(WordFile):
    """The main stream of a file of Word 6 or 95.

    It holds the tables, too.
    """

    lengths_start, tables_start = 52, 88
    page_number_bytes, paragraph_row_bytes = 2, 7

    def __init__(self, main: bytes) -> None:
        super().__init__(main, main)
        sample_bytes, macintosh = 20_000, 256
        pieces = islice(self.iter_pieces(), 100)
        sample = b" ".join(main[at : at + min(end - start, sample_bytes)] for start, end, at, _ in pieces)
        codec = decode_body(sample[:sample_bytes], markup=False)[1]  # the header states no code page
        if struct.unpack_from("<H", main, 20)[0] == macintosh:
            self.codec = "mac-roman"
        elif codec.startswith("windows-125"):
            self.codec = codec

    def find_endnotes(self) -> frozenset[int]:
        """Return the positions of references to endnotes."""
        start, size = struct.unpack_from("<LL", self.main, 0x1D2)
        count = max(0, min(size, len(self.main) - start) - 4) // 6
        return frozenset(struct.unpack_from(f"<{count}L", self.main, start)) if count else frozenset()

    def read_lists(self) -> dict[int, tuple[int, list[tuple[str, str]]]]:
        """Return nothing: lists have no tables."""
        return {}

    def iter_pieces(self) -> Iterator[tuple[int, int, int, bool]]:
        """Yield first and end position, offset in the main stream, and that characters have one byte."""
        complex_flag = 0x0004
        if struct.unpack_from("<H", self.main, 10)[0] & complex_flag:
            for piece in self.iter_raw_pieces():
                yield *piece, True
        else:
            total = sum(struct.unpack_from("<6L", self.main, self.lengths_start))
            yield 0, total, struct.unpack_from("<L", self.main, 24)[0], True

    def parse_character(self, group: bytes) -> CharacterProperties:
        """Return the formatting that a group of properties states."""
        values = dict(_iter_properties(group))
        return CharacterProperties(
            bold=values.get(BOLD) in (1, 0x81),
            italic=values.get(ITALIC) in (1, 0x81),
            struck=values.get(STRUCK) == 1,
            hidden=values.get(HIDDEN) in (1, 0x81),
            deleted=values.get(DELETED) == 1,
            rise={1: 1, 2: -1}.get(values.get(RISE, 0), 0),
        )

    def parse_paragraph(self, page: bytes, at: int) -> ParagraphProperties:
        """Return the formatting of a paragraph, which is stored at an offset of a page."""
        group = page[at + 1 : at + 1 + 2 * page[at]]
        if len(group) < 2:
            return ParagraphProperties()
        values = dict(_iter_properties(group[2:]))
        return ParagraphProperties(
            group[0],
            in_table=bool(values.get(IN_TABLE)),
            row_end=bool(values.get(ROW_END)),
            cells=parse_cells(values.get(CELLS, 0), 10),
        )


def _iter_properties(group: bytes) -> Iterator[tuple[int, int]]:
    """Yield properties and their values."""
    at = 0
    while at < len(group):
        name, at = group[at], at + 1
        if name == CELLS:
            size = 1 + int.from_bytes(group[at : at + 2], "little")
        elif name in SIZED_OPERANDS:
            size = 1 + (group[at] if at < len(group) else 0)
        else:
            size = OPERAND_BYTES.get(name, 1)
        yield name, int.from_bytes(group[at : at + size], "little")
        at += size
