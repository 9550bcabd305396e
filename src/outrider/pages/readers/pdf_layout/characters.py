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

from outrider.pages.readers.parsing.symbol_fonts import normalize_math_letters, replace_private_signs
from outrider.pages.readers.pdf_layout.bidi import (
    RTL_CHAR,
    PlacedLetter,
    has_stray_punctuation,
    is_rtl_text,
    to_reading_order,
)
from outrider.pages.readers.pdf_layout.graphics import Box
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.rotation import PageRotation, get_quarter_turns

SECOND_HALF_MARK = "\ufdd0"  # the place of the second half of a character that PDFium counts twice
PDFIUM_HYPHEN = "\ufffe"  # what PDFium puts for a hyphen at a line's end; the word goes on behind it
SOFT_HYPHEN_BREAK = re.compile("[\r\n]{0,2}\u00ad[\r\n]{1,2}")  # a hyphen that a program put at a line's end
LINE_BREAK = re.compile(r"(\r\n|[\r\n\ufffe])")
SPACE_RUN = re.compile(r" +")
BOLD_FONT_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
LONG_WORD = re.compile(r"[^\s\ufffe]{3,500}")
JOINED_WORDS = re.compile(r"[^\W\d_]{26,}|[^\W\d_][.,;:)][^\W\d_]{2}")  # words that run into one another
MONOSPACED_FONT_NAME = re.compile(rb"mono|courier|consol|typewriter|CMTT|SFTT|lmtt|code|menlo|fixed", re.IGNORECASE)
MIN_CELL_GAP_EM = 1.0  # of the type size: wider ones stand between cells, not between words
MAX_BASELINE_SHIFT_EM = 0.5  # of the type size, by which letters of one line may stand off it
TRAILING_DIGITS = re.compile(r"(?<=[^\s\d])\d{1,20}|(?<!\d)\d{2,20}")  # digits of which the last may be an exponent
MAX_SCRIPT_SIZE_RATIO = 0.8  # of the type size before it: an index
MIN_SUPERSCRIPT_RISE_EM, MIN_SUBSCRIPT_DROP_EM = (
    0.15,
    0.08,
)  # of the type size before them, by which they stand off the line
SUPERSCRIPT_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


CharBox = tuple[float, float, float, float]  # left, bottom, right and top of a character
CellRow = tuple[tuple[PdfCell, ...], float, float]  # cells, bottom and top


class PageCharacters:
    """The characters of a page by their index.

    Args:
        textpage: Of pypdfium2.
        limit: How many characters are looked at.
        rotation: How most of them are turned.
    """

    def __init__(self, textpage: Any, limit: int, rotation: PageRotation) -> None:
        soft_hyphen = "\u00ad"
        import pypdfium2.raw as pdfium

        self._rotation = rotation
        self._textpage = textpage

        self._pdfium = pdfium
        self._page = textpage.raw
        count = min(textpage.count_chars(), limit)
        text = textpage.get_text_range(0, count) if count > 0 else ""
        # One letter an index, except where PDFium or UTF-16 sees it otherwise: then each is asked for.
        self.text = text if len(text) == count else "".join(map(self._read_letter, range(count)))
        self.text = replace_private_signs(self.text)  # as many letters as before
        if soft_hyphen in self.text:
            self.text = SOFT_HYPHEN_BREAK.sub(lambda found: PDFIUM_HYPHEN.rjust(len(found[0])), self.text)
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._char_indices: Sequence[int] = range(count)  # what PDFium calls each character
        self.is_rtl = False  # whether most of them run that way
        self._line_extents: dict[
            int, tuple[float, float]
        ] = {}  # bottom and top of its line, where signs of it are lower
        if not self.text.isspace():
            self.text = TRAILING_DIGITS.sub(self._convert_raised_digits, self.text)
        if RTL_CHAR.search(self.text):
            self._reorder_rtl_lines()
        self._missing_spaces = self._find_missing_spaces()

    @property
    def is_reordered(self) -> bool:
        """Whether PDFium's order is not that in which they are read."""
        return bool(self._line_extents)

    @cached_property
    def _centers(self) -> list[tuple[float, float]]:
        outside = (-math.inf, -math.inf)  # where a character stands that has no place
        places = (self._get_char_box(at) for at in range(len(self.text)))
        return [((place[0] + place[2]) / 2, (place[1] + place[3]) / 2) if place else outside for place in places]

    def read_box(self, box: Box) -> str:
        """What stands in a rectangle, in the order in which it is read."""
        inside = [box.left < x < box.right and box.bottom < y < box.top for x, y in self._centers]
        return "".join(
            letter if inside[at] else "\n" if at and inside[at - 1] else "" for at, letter in enumerate(self.text)
        ).replace(SECOND_HALF_MARK, "")

    def build_lines(self) -> list[PdfLine]:
        """The lines of the page in the order of its content."""
        found: list[PdfLine] = []
        at = 0
        for piece in LINE_BREAK.split(self.text):
            if piece == PDFIUM_HYPHEN and found:
                found[-1] = replace(found[-1], hyphenated=True)
            elif piece.strip() and not LINE_BREAK.fullmatch(piece):
                found += self._build_piece_lines(at, piece)
            at += len(piece)
        return found

    def _reorder_rtl_lines(self) -> None:
        """Puts the letters of lines that hold words which run to the left into the order in which they are read."""
        self.is_rtl = page = is_rtl_text(self.text)
        text, places = list[str](), list[int]()
        high: dict[int, tuple[float, float]] = {}
        for row in self._group_by_height():
            piece = "".join(self.text[at] for at in row)
            if not (RTL_CHAR.search(piece) or (page and has_stray_punctuation(piece))):
                text.append(piece)
                places += row
                continue
            size = self._measure_row_size(row)
            read = to_reading_order([letter for at in row if (letter := self._build_letter(at))], size, page=page)
            boxes = [place for at in row if (place := self._get_char_box(at))]
            extent = min((box[1] for box in boxes), default=0.0), max((box[3] for box in boxes), default=0.0)
            text += [*(letter.text for letter in read), "\n"]
            high |= dict.fromkeys(range(len(places), len(places) + sum(len(letter.text) for letter in read)), extent)
            places += [letter.index for letter in read for _ in letter.text] + row[-1:]
        self.text, self._char_indices, self._line_extents = "".join(text), places, high

    def _group_by_height(self) -> list[list[int]]:
        """The characters of each height; what goes on beside words that run to the left is no line of its own."""
        break_chars = "\r\n "
        rows: list[list[int]] = []
        breaks: list[int] = []
        at = 0
        for piece in LINE_BREAK.split(self.text):
            row, at = list(range(at, at + len(piece))), at + len(piece)
            if not piece.strip(break_chars):
                breaks += row
                continue
            for level in self._split_by_baseline(row) if RTL_CHAR.search(piece) else [row]:
                if rows and self._is_row_continuation(rows[-1], level):
                    rows[-1] += level
                else:
                    rows += [breaks, level] if breaks else [level]
                breaks = []
        return [*rows, breaks]

    def _split_by_baseline(self, row: list[int]) -> list[list[int]]:
        """What of a line, as PDFium sees it, is on one height."""
        levels: list[list[int]] = []
        base = size = 0.0
        for at in row:
            seen = not self.text[at].isspace()
            if seen and (not levels or abs(self._get_baseline(at) - base) > MAX_BASELINE_SHIFT_EM * size):
                base, size = self._get_baseline(at), self._get_type_size(at)
                levels.append([])
            if levels:
                levels[-1].append(at)
        return levels

    def _is_row_continuation(self, before: list[int], row: list[int]) -> bool:
        """Whether characters stand beside others on their height, and some of these run to the left."""
        if not any(RTL_CHAR.match(self.text[at]) for at in (*before, *row)):
            return False
        last, first = ([place for at in each if (place := self._get_char_box(at))] for each in (before, row))
        size = self._measure_row_size(row)
        if (
            not last
            or not first
            or abs(self._get_baseline(row[0]) - self._get_baseline(before[0])) > MAX_BASELINE_SHIFT_EM * size
        ):
            return False
        near = (
            max(place[2] for place in first) + MIN_CELL_GAP_EM * size,
            max(place[2] for place in last) + MIN_CELL_GAP_EM * size,
        )
        return near[0] > min(place[0] for place in last) and near[1] > min(place[0] for place in first)

    def _get_type_size(self, index: int) -> float:
        """The size of type in points: the one that is given, scaled as the page is where browsers print."""
        given = self._pdfium.FPDFText_GetFontSize(self._page, index)
        if not self._pdfium.FPDFText_GetMatrix(self._page, index, self._matrix):
            return given
        return given * (math.hypot(self._matrix.c, self._matrix.d) or 1.0)

    def _measure_row_size(self, row: list[int]) -> float:
        """The size of type; spaces that PDFium adds have none of their own."""
        letters = [at for at in row if not self.text[at].isspace()] or row
        return self._get_type_size(letters[len(letters) // 2])

    def _build_letter(self, index: int) -> PlacedLetter | None:
        place = self._get_char_box(index)
        return place and PlacedLetter(self.text[index], index, place[0], place[2], self._get_origin(index).left)

    def _read_letter(self, index: int) -> str:
        """One character; of one that PDFium counts as two, it stands in the place of the first."""
        code = self._pdfium.FPDFText_GetUnicode(self._page, index)
        if 0xD800 <= code < 0xDC00:
            low = self._pdfium.FPDFText_GetUnicode(self._page, index + 1)
            return (
                normalize_math_letters(chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00))
                if 0xDC00 <= low < 0xE000
                else "\ufffd"
            )
        if 0xDC00 <= code < 0xE000:
            high = self._pdfium.FPDFText_GetUnicode(self._page, index - 1) if index else 0
            return SECOND_HALF_MARK if 0xD800 <= high < 0xDC00 else "\ufffd"
        return chr(code) if code else "\ufffd"

    def _convert_raised_digits(self, found: re.Match[str]) -> str:
        """Digits whose last ones stand smaller above or below the line, as such: 10⁶ is not 106."""
        max_size_ratio = 0.92  # of the type size before them: digits that are so may be raised
        start, last = found.span()[0], found.end() - 1
        before = start - 1 if start and not self.text[start - 1].isspace() else start
        size = self._get_type_size(before)
        if self._get_type_size(last) > max_size_ratio * size:
            return found[0]
        rise = self._get_baseline(last) - self._get_baseline(before)
        if -MIN_SUBSCRIPT_DROP_EM * size <= rise <= MIN_SUPERSCRIPT_RISE_EM * size:
            return found[0]
        first = next(at for at in range(start, last + 1) if self._get_type_size(at) <= max_size_ratio * size)
        signs = SUPERSCRIPT_DIGITS if rise > 0 else SUBSCRIPT_DIGITS
        return found[0][: first - start] + found[0][first - start :].translate(signs)

    def _get_baseline(self, index: int) -> float:
        return self._get_origin(index).bottom

    def _get_origin(self, index: int) -> Box:
        x, y = ctypes.c_double(), ctypes.c_double()
        self._pdfium.FPDFText_GetCharOrigin(self._page, index, x, y)
        return self._rotation.to_upright(Box(x.value, y.value, x.value, y.value))

    def _read_ink(self, index: int) -> str:
        """Whether a character is not drawn (text rendering mode 3), or in white."""
        min_alpha = 13  # of 255: ink that lets all but a twentieth of the paper through
        min_white = 250  # of 255
        pdfium = self._pdfium
        drawn = pdfium.FPDFText_GetTextObject(self._page, index)
        if drawn and pdfium.FPDFTextObj_GetTextRenderMode(drawn) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
            return "none"
        colours = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFText_GetFillColor(self._page, index, *colours):
            return ""
        *ink, alpha = (colour.value for colour in colours)
        return "white" if min(ink) >= min_white or alpha < min_alpha else ""

    def _build_piece_lines(self, start: int, piece: str) -> list[PdfLine]:
        """What PDFium calls a line, as one or several: what a form holds it strings together."""
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip()) - 1
        left, right = self._get_char_box(first), self._get_char_box(last)
        if left is None or right is None:
            return []
        samples = self._samples(first, last)
        places = [(self._char_indices[at], self._get_char_box(at) or left) for at in samples]
        size = median_low(self._estimate_size(at, place[3] - place[1]) for at, place in places)
        fonts = [self._read_font_style(self._char_indices[at]) for at in samples]
        bold, mono = all(bold for bold, _ in fonts), all(mono for _, mono in fonts)
        inks = {self._read_ink(self._char_indices[at]) for at in samples}
        ink = inks.pop() if len(inks) == 1 else ""
        aslant = get_quarter_turns(self._textpage, self._char_indices[first]) != self._rotation.quarter_turns
        rows = self._split_rows(first, last, left, right, size)
        if self.text[first : first + 2] == "o " and fonts[0][1] and not mono:  # Word's point of the second level
            (point, *rest), low, high = rows[0]
            rows[0] = (replace(point, text="•" + point.text[1:]), *rest), low, high
        return [PdfLine(cells, low, high, size, bold, mono, ink=ink, rotated=aslant) for cells, low, high in rows]

    def _samples(self, first: int, last: int) -> tuple[int, ...]:
        """The letters by whose fonts a line is judged: its first, one in its middle and its last; bullets are none."""
        letters = [at for at in range(first, last + 1) if self.text[at].isalnum()] or [first]
        return tuple(dict.fromkeys((letters[0], letters[len(letters) // 2], letters[-1])))

    def _split_rows(self, first: int, last: int, left: CharBox, right: CharBox, size: float) -> list[CellRow]:
        """The cells between wide gaps, those on one height together, with that height."""
        max_gaps = 400  # of one line that are measured
        rows: list[CellRow] = []
        cells: list[PdfCell] = []
        begin, edge, start = first, left, left
        mixed = (
            self._find_gaps(first, last, size)
            if self._line_extents and RTL_CHAR.search(self.text, first, last + 1)
            else None
        )
        for number, gap in enumerate(SPACE_RUN.finditer(self.text, first, last)):
            if number >= max_gaps:
                break
            before, after = self._get_char_box(gap.start() - 1), self._get_char_box(gap.end())
            if before is None or after is None:
                continue
            jumped = not start[1] < (after[1] + after[3]) / 2 < start[3] and after[0] < before[2]
            # Where a script runs to the left, the next word stands there, or behind those that do among others.
            wide = max(after[0] - before[2], before[0] - after[2]) > MIN_CELL_GAP_EM * size
            if jumped or (wide and (mixed is None or _has_gap_between(before, after, mixed))):
                cells.append(_build_cell(self._slice_text(begin, gap.start()), edge, before))
                begin, edge = gap.end(), after
            if jumped:
                rows.append((tuple(cells), min(start[1], before[1]), max(start[3], before[3])))
                cells, start = [], after
        cells.append(_build_cell(self._slice_text(begin, last + 1), edge, right))
        return [*rows, (tuple(cells), min(start[1], right[1]), max(start[3], right[3]))]

    def _find_gaps(self, first: int, last: int, size: float) -> list[tuple[float, float]]:
        """Where nothing stands in a line that is wider than a space, from the left to the right."""
        places = (self._get_char_box(at) for at in range(first, last + 1) if not self.text[at].isspace())
        spans = sorted((place[0], place[2]) for place in places if place)
        found, reach = list[tuple[float, float]](), spans[0][1] if spans else 0.0
        for left, right in spans:
            if left - reach > MIN_CELL_GAP_EM * size:
                found.append((reach, left))
            reach = max(reach, right)
        return found

    def _get_char_box(self, index: int) -> CharBox | None:
        """Left, bottom, right and top of a character, its font's height included."""
        if not self._pdfium.FPDFText_GetLooseCharBox(self._page, self._char_indices[index], self._box):
            return None
        box = self._box
        if self._rotation.quarter_turns:
            box = self._rotation.to_upright(Box(box.left, box.bottom, box.right, box.top))
        bottom, top = self._line_extents.get(index, (box.bottom, box.top))
        return box.left, bottom, box.right, top

    def _estimate_size(self, index: int, height: float) -> float:
        """The size of type; its height where the size that is given is scaled by something else."""
        given = self._get_type_size(index)
        return round(given if 0.5 * given <= height <= 2 * given else max(height, 1.0), 1)

    def _read_font_style(self, index: int) -> tuple[bool, bool]:
        """Whether a character's font is bold, and whether it has a fixed width."""
        max_name_bytes = 128  # bytes of a font's name
        fixed_pitch_flag = 1  # font flag (ISO 32000-1 table 123)
        min_bold_weight = 600  # weight, which PDFium guesses from the stems where the font does not say it
        name, flags = ctypes.create_string_buffer(max_name_bytes), ctypes.c_int()
        self._pdfium.FPDFText_GetFontInfo(self._page, index, name, max_name_bytes, flags)
        called = name.raw
        bold = (
            self._pdfium.FPDFText_GetFontWeight(self._page, index) >= min_bold_weight
            or BOLD_FONT_NAME.search(called) is not None
        )
        return bold, bool(flags.value & fixed_pitch_flag) or MONOSPACED_FONT_NAME.search(called) is not None

    def _find_missing_spaces(self) -> frozenset[int]:
        """The characters behind which a space belongs that PDFium did not see, on pages where it misses some."""
        min_space_em = 0.13  # of the type size: the least width of a space in a line that is set tightly
        min_suspects = 3  # on a page; addresses and code have one or two
        if len(JOINED_WORDS.findall(self.text)) < min_suspects:
            return frozenset()
        found = set()
        for word in LONG_WORD.finditer(self.text):
            size = self._get_type_size(self._char_indices[word.start()])
            before = self._get_char_box(word.start())
            for at in range(word.start() + 1, word.end()):
                place = self._get_char_box(at)
                if before and place and min_space_em * size < place[0] - before[2] < size:
                    found.add(at - 1)
                before = place
        return frozenset(found)

    def _slice_text(self, start: int, end: int) -> str:
        """The characters from one to another, with the spaces between them."""
        if not self._missing_spaces:
            return self.text[start:end].replace(SECOND_HALF_MARK, "")
        return (
            "".join(
                letter + (" " if at in self._missing_spaces else "")
                for at, letter in enumerate(self.text[start:end], start)
            )
            .replace(SECOND_HALF_MARK, "")
            .strip()
        )


def _has_gap_between(one: CharBox, other: CharBox, gaps: list[tuple[float, float]]) -> bool:
    """Whether a gap lies between two characters."""
    left, right = min(one[2], other[2]), max(one[0], other[0])
    return any(left <= start + 1 and end <= right + 1 for start, end in gaps)


def _build_cell(text: str, first: CharBox, last: CharBox) -> PdfCell:
    """Characters between two places, whichever stands further left."""
    return PdfCell(text, min(first[0], last[0]), max(first[2], last[2]))
