"""The lines of a PDF page with their places: what PDFium tells of its characters, asked as seldom as will do.

A call into PDFium costs a microsecond and a page has thousands of characters. So only the ends of
lines and of the gaps in them are asked for their boxes: two milliseconds a page in all.
"""

import ctypes
import re
from dataclasses import dataclass, replace
from typing import Any

HYPHEN = "\ufffe"  # what PDFium puts for a hyphen at a line's end; the word goes on behind it
BREAK = re.compile(r"(\r\n|[\r\n\ufffe])")
SPACE = re.compile(r" +")
BOLD = 600  # weight, which PDFium guesses from the stems where the font does not say it
FIXED = 1  # font flag (ISO 32000-1 table 123)
MONOSPACED = re.compile(rb"mono|courier|consol|typewriter|CMTT|SFTT|lmtt|code|menlo|fixed", re.IGNORECASE)
GAP = 1.0  # of the type size: wider ones stand between cells, not between words
GAPS = 400  # of one line that are measured
NAME = 128  # bytes of a font's name


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """Characters on one height, in points from the page's lower left corner.

    `hyphenated` lines end inside of a word; their hyphen is gone already.
    """

    cells: tuple[Cell, ...]
    bottom: float
    top: float
    size: float
    bold: bool = False
    mono: bool = False
    hyphenated: bool = False

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def left(self) -> float:
        return self.cells[0].left

    @property
    def right(self) -> float:
        return max(cell.right for cell in self.cells)


def lines(textpage: Any, limit: int) -> list[Line]:
    """The lines of a page in the order of its content.

    Args:
        textpage: Of pypdfium2.
        limit: How many characters are looked at.
    """
    return Characters(textpage, limit).lines()


class Characters:
    """The characters of a page by their index."""

    def __init__(self, textpage: Any, limit: int) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = textpage.raw
        count = min(textpage.count_chars(), limit)
        text = textpage.get_text_range(0, count) if count > 0 else ""
        # One letter an index, except where PDFium or UTF-16 sees it otherwise: then each is asked for.
        self.text = text if len(text) == count else "".join(map(self._letter, range(count)))
        self._box = pdfium.FS_RECTF()

    def lines(self) -> list[Line]:
        found: list[Line] = []
        at = 0
        for piece in BREAK.split(self.text):
            line = self._line(at, piece) if piece.strip() and not BREAK.fullmatch(piece) else None
            if line:
                found.append(line)
            elif piece == HYPHEN and found:
                found[-1] = replace(found[-1], hyphenated=True)
            at += len(piece)
        return found

    def _letter(self, index: int) -> str:
        code = self._pdfium.FPDFText_GetUnicode(self._page, index)
        return chr(code) if code and not 0xD800 <= code < 0xE000 else "\ufffd"

    def _line(self, start: int, piece: str) -> Line | None:
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip()) - 1
        left, right = self._place(first), self._place(last)
        if left is None or right is None:
            return None
        samples = self._samples(first, last)
        middle = self._place(samples[0]) or left
        size = self._size(samples[0], middle[3] - middle[1])
        cells = self._cells(first, last, left[0], right[2], size)
        bold = all(self._pdfium.FPDFText_GetFontWeight(self._page, at) >= BOLD for at in samples)
        mono = all(map(self._mono, samples))
        return Line(cells, min(left[1], right[1]), max(left[3], right[3]), size, bold, mono)

    def _samples(self, first: int, last: int) -> tuple[int, ...]:
        """The letters by whose fonts a line is judged: its first, one in its middle and its last; bullets are none."""
        letters = [at for at in range(first, last + 1) if self.text[at].isalnum()] or [first]
        return tuple(dict.fromkeys((letters[0], letters[len(letters) // 2], letters[-1])))

    def _cells(self, first: int, last: int, left: float, right: float, size: float) -> tuple[Cell, ...]:
        cells: list[Cell] = []
        begin, edge = first, left
        for number, gap in enumerate(SPACE.finditer(self.text, first, last)):
            if number >= GAPS:
                break
            before, after = self._place(gap.start() - 1), self._place(gap.end())
            if before and after and after[0] - before[2] > GAP * size:
                cells.append(Cell(self.text[begin : gap.start()], edge, before[2]))
                begin, edge = gap.end(), after[0]
        return (*cells, Cell(self.text[begin : last + 1], edge, max(right, edge)))

    def _place(self, index: int) -> tuple[float, float, float, float] | None:
        """Left, bottom, right and top of a character, its font's height included."""
        if not self._pdfium.FPDFText_GetLooseCharBox(self._page, index, self._box):
            return None
        box = self._box
        return box.left, box.bottom, box.right, box.top

    def _size(self, index: int, height: float) -> float:
        """The size of type; its height where the size that is given is scaled by something else."""
        given = self._pdfium.FPDFText_GetFontSize(self._page, index)
        return round(given if 0.5 * given <= height <= 2 * given else max(height, 1.0), 1)

    def _mono(self, index: int) -> bool:
        name, flags = ctypes.create_string_buffer(NAME), ctypes.c_int()
        self._pdfium.FPDFText_GetFontInfo(self._page, index, name, NAME, flags)
        return bool(flags.value & FIXED) or MONOSPACED.search(name.raw) is not None
