"""The lines of a PDF page with their places: what PDFium tells of its characters, asked as seldom as will do.

A call into PDFium costs a microsecond and a page has thousands of characters. So only the ends of
lines and of the gaps in them are asked for their boxes: two milliseconds a page in all.
"""

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from statistics import median_low
from typing import Any

from outrider.pages.readers.parts.pdf.bidi import LEFTWARD, Letter, is_leftward, read_order, strays
from outrider.pages.readers.parts.pdf.drawn import Box
from outrider.pages.readers.parts.pdf.line import Cell, Line
from outrider.pages.readers.parts.pdf.turn import Turn, quarters
from outrider.pages.readers.parts.signs import shown, unset

SECOND = "\ufdd0"  # the place of the second half of a character that PDFium counts twice
HYPHEN = "\ufffe"  # what PDFium puts for a hyphen at a line's end; the word goes on behind it
SOFT = "\u00ad"
BROKEN = re.compile("[\r\n]{0,2}\u00ad[\r\n]{1,2}")  # a hyphen that a program put at a line's end
BREAK = re.compile(r"(\r\n|[\r\n\ufffe])")
BREAKS = "\r\n "
SPACE = re.compile(r" +")
BOLD = 600  # weight, which PDFium guesses from the stems where the font does not say it
HEAVY = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
WORD = re.compile(r"[^\s\ufffe]{3,500}")
SUSPECT = re.compile(r"[^\W\d_]{26,}|[^\W\d_][.,;:)][^\W\d_]{2}")  # words that run into one another
SUSPECTS = 3  # on a page; addresses and code have one or two
SPACED = 0.13  # of the type size: the least width of a space in a line that is set tightly
FIXED = 1  # font flag (ISO 32000-1 table 123)
MONOSPACED = re.compile(rb"mono|courier|consol|typewriter|CMTT|SFTT|lmtt|code|menlo|fixed", re.IGNORECASE)
GAP = 1.0  # of the type size: wider ones stand between cells, not between words
OUTSIDE = (-math.inf, -math.inf)  # where a character stands that has no place
LEVEL = 0.5  # of the type size, by which letters of one line may stand off it
GAPS = 400  # of one line that are measured
RAISED = re.compile(r"(?<=[^\s\d])\d{1,20}|(?<!\d)\d{2,20}")  # digits of which the last may be an exponent
SMALLER = 0.8  # of the type size before it: an index
SMALL = 0.92  # of the type size before them: digits that are so may be raised
ABOVE, BELOW = 0.15, 0.08  # of the type size before them, by which they stand off the line
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
WHITE = 250  # of 255
FAINT = 13  # of 255: ink that lets all but a twentieth of the paper through
NAME = 128  # bytes of a font's name


Place = tuple[float, float, float, float]  # left, bottom, right and top of a character
Row = tuple[tuple[Cell, ...], float, float]  # cells, bottom and top


class Characters:
    """The characters of a page by their index.

    Args:
        textpage: Of pypdfium2.
        limit: How many characters are looked at.
        turn: How most of them are turned.
    """

    def __init__(self, textpage: Any, limit: int, turn: Turn) -> None:
        import pypdfium2.raw as pdfium

        self._turn = turn
        self._textpage = textpage

        self._pdfium = pdfium
        self._page = textpage.raw
        count = min(textpage.count_chars(), limit)
        text = textpage.get_text_range(0, count) if count > 0 else ""
        # One letter an index, except where PDFium or UTF-16 sees it otherwise: then each is asked for.
        self.text = text if len(text) == count else "".join(map(self._letter, range(count)))
        self.text = shown(self.text)  # as many letters as before
        if SOFT in self.text:
            self.text = BROKEN.sub(lambda found: HYPHEN.rjust(len(found[0])), self.text)
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._at: Sequence[int] = range(count)  # what PDFium calls each character
        self.leftward = False  # whether most of them run that way
        self._high: dict[int, tuple[float, float]] = {}  # bottom and top of its line, where signs of it are lower
        if not self.text.isspace():
            self.text = RAISED.sub(self._raised, self.text)
        if LEFTWARD.search(self.text):
            self._reorder()
        self._missed = self._unspaced()

    @property
    def reordered(self) -> bool:
        """Whether PDFium's order is not that in which they are read."""
        return bool(self._high)

    @cached_property
    def _middles(self) -> list[tuple[float, float]]:
        places = (self._place(at) for at in range(len(self.text)))
        return [((place[0] + place[2]) / 2, (place[1] + place[3]) / 2) if place else OUTSIDE for place in places]

    def within(self, box: Box) -> str:
        """What stands in a rectangle, in the order in which it is read."""
        inside = [box.left < x < box.right and box.bottom < y < box.top for x, y in self._middles]
        return "".join(
            letter if inside[at] else "\n" if at and inside[at - 1] else "" for at, letter in enumerate(self.text)
        ).replace(SECOND, "")

    def lines(self) -> list[Line]:
        """The lines of the page in the order of its content."""
        found: list[Line] = []
        at = 0
        for piece in BREAK.split(self.text):
            if piece == HYPHEN and found:
                found[-1] = replace(found[-1], hyphenated=True)
            elif piece.strip() and not BREAK.fullmatch(piece):
                found += self._lines(at, piece)
            at += len(piece)
        return found

    def _reorder(self) -> None:
        """Puts the letters of lines that hold words which run to the left into the order in which they are read."""
        self.leftward = page = is_leftward(self.text)
        text, places = list[str](), list[int]()
        high: dict[int, tuple[float, float]] = {}
        for row in self._heights():
            piece = "".join(self.text[at] for at in row)
            if not (LEFTWARD.search(piece) or (page and strays(piece))):
                text.append(piece)
                places += row
                continue
            size = self._type(row)
            read = read_order([letter for at in row if (letter := self._seen(at))], size, page=page)
            boxes = [place for at in row if (place := self._place(at))]
            extent = min((box[1] for box in boxes), default=0.0), max((box[3] for box in boxes), default=0.0)
            text += [*(letter.text for letter in read), "\n"]
            high |= dict.fromkeys(range(len(places), len(places) + sum(len(letter.text) for letter in read)), extent)
            places += [letter.at for letter in read for _ in letter.text] + row[-1:]
        self.text, self._at, self._high = "".join(text), places, high

    def _heights(self) -> list[list[int]]:
        """The characters of each height; what goes on beside words that run to the left is no line of its own."""
        rows: list[list[int]] = []
        breaks: list[int] = []
        at = 0
        for piece in BREAK.split(self.text):
            row, at = list(range(at, at + len(piece))), at + len(piece)
            if not piece.strip(BREAKS):
                breaks += row
                continue
            for level in self._levels(row) if LEFTWARD.search(piece) else [row]:
                if rows and self._goes_on(rows[-1], level):
                    rows[-1] += level
                else:
                    rows += [breaks, level] if breaks else [level]
                breaks = []
        return [*rows, breaks]

    def _levels(self, row: list[int]) -> list[list[int]]:
        """What of a line, as PDFium sees it, is on one height."""
        levels: list[list[int]] = []
        base = size = 0.0
        for at in row:
            seen = not self.text[at].isspace()
            if seen and (not levels or abs(self._baseline(at) - base) > LEVEL * size):
                base, size = self._baseline(at), self._type_size(at)
                levels.append([])
            if levels:
                levels[-1].append(at)
        return levels

    def _goes_on(self, before: list[int], row: list[int]) -> bool:
        """Whether characters stand beside others on their height, and some of these run to the left."""
        if not any(LEFTWARD.match(self.text[at]) for at in (*before, *row)):
            return False
        last, first = ([place for at in each if (place := self._place(at))] for each in (before, row))
        size = self._type(row)
        if not last or not first or abs(self._baseline(row[0]) - self._baseline(before[0])) > LEVEL * size:
            return False
        near = max(place[2] for place in first) + GAP * size, max(place[2] for place in last) + GAP * size
        return near[0] > min(place[0] for place in last) and near[1] > min(place[0] for place in first)

    def _type_size(self, index: int) -> float:
        """The size of type in points: the one that is given, scaled as the page is where browsers print."""
        given = self._pdfium.FPDFText_GetFontSize(self._page, index)
        if not self._pdfium.FPDFText_GetMatrix(self._page, index, self._matrix):
            return given
        return given * (math.hypot(self._matrix.c, self._matrix.d) or 1.0)

    def _type(self, row: list[int]) -> float:
        """The size of type; spaces that PDFium adds have none of their own."""
        letters = [at for at in row if not self.text[at].isspace()] or row
        return self._type_size(letters[len(letters) // 2])

    def _seen(self, index: int) -> Letter | None:
        place = self._place(index)
        return place and Letter(self.text[index], index, place[0], place[2], self._origin(index).left)

    def _letter(self, index: int) -> str:
        """One character; of one that PDFium counts as two, it stands in the place of the first."""
        code = self._pdfium.FPDFText_GetUnicode(self._page, index)
        if 0xD800 <= code < 0xDC00:
            low = self._pdfium.FPDFText_GetUnicode(self._page, index + 1)
            return unset(chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00)) if 0xDC00 <= low < 0xE000 else "\ufffd"
        if 0xDC00 <= code < 0xE000:
            high = self._pdfium.FPDFText_GetUnicode(self._page, index - 1) if index else 0
            return SECOND if 0xD800 <= high < 0xDC00 else "\ufffd"
        return chr(code) if code else "\ufffd"

    def _raised(self, found: re.Match[str]) -> str:
        """Digits whose last ones stand smaller above or below the line, as such: 10⁶ is not 106."""
        start, last = found.span()[0], found.end() - 1
        before = start - 1 if start and not self.text[start - 1].isspace() else start
        size = self._type_size(before)
        if self._type_size(last) > SMALL * size:
            return found[0]
        rise = self._baseline(last) - self._baseline(before)
        if -BELOW * size <= rise <= ABOVE * size:
            return found[0]
        first = next(at for at in range(start, last + 1) if self._type_size(at) <= SMALL * size)
        signs = SUPERSCRIPT if rise > 0 else SUBSCRIPT
        return found[0][: first - start] + found[0][first - start :].translate(signs)

    def _baseline(self, index: int) -> float:
        return self._origin(index).bottom

    def _origin(self, index: int) -> Box:
        x, y = ctypes.c_double(), ctypes.c_double()
        self._pdfium.FPDFText_GetCharOrigin(self._page, index, x, y)
        return self._turn.box(Box(x.value, y.value, x.value, y.value))

    def _ink(self, index: int) -> str:
        """Whether a character is not drawn (text rendering mode 3), or in white."""
        pdfium = self._pdfium
        drawn = pdfium.FPDFText_GetTextObject(self._page, index)
        if drawn and pdfium.FPDFTextObj_GetTextRenderMode(drawn) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
            return "none"
        colours = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFText_GetFillColor(self._page, index, *colours):
            return ""
        *ink, alpha = (colour.value for colour in colours)
        return "white" if min(ink) >= WHITE or alpha < FAINT else ""

    def _lines(self, start: int, piece: str) -> list[Line]:
        """What PDFium calls a line, as one or several: what a form holds it strings together."""
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip()) - 1
        left, right = self._place(first), self._place(last)
        if left is None or right is None:
            return []
        samples = self._samples(first, last)
        places = [(self._at[at], self._place(at) or left) for at in samples]
        size = median_low(self._size(at, place[3] - place[1]) for at, place in places)
        fonts = [self._font(self._at[at]) for at in samples]
        bold, mono = all(bold for bold, _ in fonts), all(mono for _, mono in fonts)
        inks = {self._ink(self._at[at]) for at in samples}
        ink = inks.pop() if len(inks) == 1 else ""
        aslant = quarters(self._textpage, self._at[first]) != self._turn.quarters
        rows = self._rows(first, last, left, right, size)
        if self.text[first : first + 2] == "o " and fonts[0][1] and not mono:  # Word's point of the second level
            (point, *rest), low, high = rows[0]
            rows[0] = (replace(point, text="•" + point.text[1:]), *rest), low, high
        return [Line(cells, low, high, size, bold, mono, ink=ink, aslant=aslant) for cells, low, high in rows]

    def _samples(self, first: int, last: int) -> tuple[int, ...]:
        """The letters by whose fonts a line is judged: its first, one in its middle and its last; bullets are none."""
        letters = [at for at in range(first, last + 1) if self.text[at].isalnum()] or [first]
        return tuple(dict.fromkeys((letters[0], letters[len(letters) // 2], letters[-1])))

    def _rows(self, first: int, last: int, left: Place, right: Place, size: float) -> list[Row]:
        """The cells between wide gaps, those on one height together, with that height."""
        rows: list[Row] = []
        cells: list[Cell] = []
        begin, edge, start = first, left, left
        mixed = self._gaps(first, last, size) if self._high and LEFTWARD.search(self.text, first, last + 1) else None
        for number, gap in enumerate(SPACE.finditer(self.text, first, last)):
            if number >= GAPS:
                break
            before, after = self._place(gap.start() - 1), self._place(gap.end())
            if before is None or after is None:
                continue
            jumped = not start[1] < (after[1] + after[3]) / 2 < start[3] and after[0] < before[2]
            # Where a script runs to the left, the next word stands there, or behind those that do among others.
            wide = max(after[0] - before[2], before[0] - after[2]) > GAP * size
            if jumped or (wide and (mixed is None or _is_across(before, after, mixed))):
                cells.append(_cell(self._text(begin, gap.start()), edge, before))
                begin, edge = gap.end(), after
            if jumped:
                rows.append((tuple(cells), min(start[1], before[1]), max(start[3], before[3])))
                cells, start = [], after
        cells.append(_cell(self._text(begin, last + 1), edge, right))
        return [*rows, (tuple(cells), min(start[1], right[1]), max(start[3], right[3]))]

    def _gaps(self, first: int, last: int, size: float) -> list[tuple[float, float]]:
        """Where nothing stands in a line that is wider than a space, from the left to the right."""
        places = (self._place(at) for at in range(first, last + 1) if not self.text[at].isspace())
        spans = sorted((place[0], place[2]) for place in places if place)
        found, reach = list[tuple[float, float]](), spans[0][1] if spans else 0.0
        for left, right in spans:
            if left - reach > GAP * size:
                found.append((reach, left))
            reach = max(reach, right)
        return found

    def _place(self, index: int) -> Place | None:
        """Left, bottom, right and top of a character, its font's height included."""
        if not self._pdfium.FPDFText_GetLooseCharBox(self._page, self._at[index], self._box):
            return None
        box = self._box
        if self._turn.quarters:
            box = self._turn.box(Box(box.left, box.bottom, box.right, box.top))
        bottom, top = self._high.get(index, (box.bottom, box.top))
        return box.left, bottom, box.right, top

    def _size(self, index: int, height: float) -> float:
        """The size of type; its height where the size that is given is scaled by something else."""
        given = self._type_size(index)
        return round(given if 0.5 * given <= height <= 2 * given else max(height, 1.0), 1)

    def _font(self, index: int) -> tuple[bool, bool]:
        """Whether a character's font is bold, and whether it has a fixed width."""
        name, flags = ctypes.create_string_buffer(NAME), ctypes.c_int()
        self._pdfium.FPDFText_GetFontInfo(self._page, index, name, NAME, flags)
        called = name.raw
        bold = self._pdfium.FPDFText_GetFontWeight(self._page, index) >= BOLD or HEAVY.search(called) is not None
        return bold, bool(flags.value & FIXED) or MONOSPACED.search(called) is not None

    def _unspaced(self) -> frozenset[int]:
        """The characters behind which a space belongs that PDFium did not see, on pages where it misses some."""
        if len(SUSPECT.findall(self.text)) < SUSPECTS:
            return frozenset()
        found = set()
        for word in WORD.finditer(self.text):
            size = self._type_size(self._at[word.start()])
            before = self._place(word.start())
            for at in range(word.start() + 1, word.end()):
                place = self._place(at)
                if before and place and SPACED * size < place[0] - before[2] < size:
                    found.add(at - 1)
                before = place
        return frozenset(found)

    def _text(self, start: int, end: int) -> str:
        """The characters from one to another, with the spaces between them."""
        if not self._missed:
            return self.text[start:end].replace(SECOND, "")
        return (
            "".join(
                letter + (" " if at in self._missed else "") for at, letter in enumerate(self.text[start:end], start)
            )
            .replace(SECOND, "")
            .strip()
        )


def _is_across(one: Place, other: Place, gaps: list[tuple[float, float]]) -> bool:
    """Whether a gap lies between two characters."""
    left, right = min(one[2], other[2]), max(one[0], other[0])
    return any(left <= start + 1 and end <= right + 1 for start, end in gaps)


def _cell(text: str, first: Place, last: Place) -> Cell:
    """Characters between two places, whichever stands further left."""
    return Cell(text, min(first[0], last[0]), max(first[2], last[2]))
