"""Build lines from PDFium's characters, with as few calls as possible.

A call into PDFium costs a microsecond, and a page has thousands of characters. So only the characters at the ends of
lines and of gaps are asked for their boxes.
"""

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice
from statistics import median_low
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from outrider.pages.readers.parsing.symbol_fonts import (
    decode_symbol_letter,
    normalize_math_letters,
    replace_private_signs,
)
from outrider.pages.readers.pdf_layout.accents import ACCENT, AccentComposer
from outrider.pages.readers.pdf_layout.bidi import (
    RTL_CHAR,
    PlacedLetter,
    has_stray_punctuation,
    is_rtl_text,
    to_reading_order,
)
from outrider.pages.readers.pdf_layout.check_boxes import iter_placeholders
from outrider.pages.readers.pdf_layout.graphics import Box
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.rotation import PageRotation, get_quarter_turns

# What stands alone and may be a symbol: see the tables of symbol fonts.
SYMBOL_LETTER = re.compile(r"(?<!\S)(?:[3-8l-rx](?= {1,3}[^\W\d_]{2})|[¨§àßèðûüýþØ❏-❒](?!\S))")
SECOND_HALF_MARK = "\ufdd0"  # takes the index of the second half of a character that PDFium counts twice
PDFIUM_HYPHEN = "\ufffe"  # PDFium's replacement for a hyphen at a line's end; the word continues after it
SOFT_HYPHEN_BREAK = re.compile("[\r\n]{0,2}\u00ad[\r\n]{1,2}")
LINE_BREAK = re.compile(r"(\r\n|[\r\n\ufffe])")
SPACE_RUN = re.compile(r" +")
BOLD_FONT_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
LONG_WORD = re.compile(r"[^\s\ufffe]{3,500}")
JOINED_WORDS = re.compile(r"[^\W\d_]{26,}|[^\W\d_][.,;:)][^\W\d_]{2}")  # words that lack the space between them
MONOSPACED_FONT_NAME = re.compile(rb"mono|courier|consol|typewriter|CMTT|SFTT|lmtt|code|menlo|fixed", re.IGNORECASE)
MAX_FONT_NAME_BYTES = 128
MIN_CELL_GAP_EM = 1.0  # narrower gaps are between words
MAX_BASELINE_SHIFT_EM = 0.5  # within one line
TRAILING_DIGITS = re.compile(r"(?<=[^\s\d])\d{1,20}|(?<!\d)\d{2,20}")  # digits; the last of them may be raised
MAX_SCRIPT_SIZE_RATIO = 0.8  # of a subscript or superscript to the text before it
SUPERSCRIPT_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class CharacterStyle(NamedTuple):
    """The style of a character.

    `size` is in points; `ink` is `none` where the character is not drawn (text rendering mode 3), or `white`.
    """

    size: float
    bold: bool
    monospaced: bool
    ink: str


CharBox = tuple[float, float, float, float]  # left, bottom, right and top of a character
CellRow = tuple[tuple[PdfCell, ...], float, float]  # cells, bottom and top


class PageCharacters:
    """The characters of a page by their index.

    Args:
        textpage: A text page of pypdfium2.
        limit: How many characters are looked at.
        rotation: The rotation of most of the text.
        signs: Characters that stand for the check boxes of the page, by the address of their placeholder.
    """

    def __init__(self, textpage: Any, limit: int, rotation: PageRotation, signs: dict[int, str]) -> None:
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._name_buffer = ctypes.create_string_buffer(MAX_FONT_NAME_BYTES)
        self._rotation = rotation
        self._textpage = textpage
        self._page = textpage.raw
        count = min(textpage.count_chars(), limit)
        text = textpage.get_text_range(0, count) if count > 0 else ""
        # The text must have one character for each index of PDFium; where it does not, each one is read separately.
        self.text = text if len(text) == count else "".join(map(self._read_letter, range(count)))
        self.text = replace_private_signs(self.text)  # keeps the length
        self._has_signs, self._is_composed = bool(signs), False
        for index in iter_placeholders(self.text) if signs else ():
            text_object = pdfium.FPDFText_GetTextObject(self._page, index)
            sign = signs.get(ctypes.addressof(text_object.contents)) if text_object else None
            self.text = self.text[:index] + (sign or self.text[index]) + self.text[index + 1 :]
        if SYMBOL_LETTER.search(self.text):
            self._decode_symbol_letters()
        if "\u00ad" in self.text:
            self.text = SOFT_HYPHEN_BREAK.sub(lambda hyphen: PDFIUM_HYPHEN.rjust(len(hyphen[0])), self.text)
        self._styles: dict[int, CharacterStyle] = {}  # by the address of the text object
        self._char_indices: Sequence[int] = range(count)  # PDFium's index of each character
        self.is_rtl = False  # whether the page is read from right to left
        # Bottom and top of the line of a reordered character.
        self._line_extents: dict[int, tuple[float, float]] = {}
        if not self.text.isspace():
            self.text = TRAILING_DIGITS.sub(self._convert_raised_digits, self.text)
        if RTL_CHAR.search(self.text):
            self._reorder_rtl_lines()
        elif ACCENT.search(self.text):
            composer = AccentComposer(self.text, lru_cache(maxsize=None)(self._get_char_box), self._get_baseline)
            if composed := composer.compose():
                self.text, self._char_indices, self._is_composed = *composed, True
        self._missing_spaces = self._find_missing_spaces()

    @property
    def is_changed(self) -> bool:
        """Return whether the characters are others than PDFium's, or in another order."""
        return bool(self._line_extents) or self._has_signs or self._is_composed

    @cached_property
    def _centers(self) -> list[tuple[float, float]]:
        outside = (-math.inf, -math.inf)  # of a character without a box
        boxes = (self._get_char_box(index) for index in range(len(self.text)))
        return [((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if box else outside for box in boxes]

    def read_box(self, box: Box) -> str:
        """Return the text in a rectangle in reading order."""
        inside = [box.left < x < box.right and box.bottom < y < box.top for x, y in self._centers]
        pieces = (
            char if inside[index] else "\n" if index and inside[index - 1] else ""
            for index, char in enumerate(self.text)
        )
        return "".join(pieces).replace(SECOND_HALF_MARK, "")

    def build_lines(self) -> list[PdfLine]:
        """Return the lines of the page in the order of its content."""
        lines: list[PdfLine] = []
        index = 0
        for piece in LINE_BREAK.split(self.text):
            if piece == PDFIUM_HYPHEN and lines:
                lines[-1] = replace(lines[-1], hyphenated=True)
            elif piece.strip() and not LINE_BREAK.fullmatch(piece):
                lines += self._build_piece_lines(index, piece)
            index += len(piece)
        return lines

    def _decode_symbol_letters(self) -> None:
        """Replace single letters of fonts with bullets, boxes and ticks by what they show."""
        max_letters = 1_000
        letters, buffer, flags = list(self.text), self._name_buffer, ctypes.c_int()
        for match in islice(SYMBOL_LETTER.finditer(self.text), max_letters):
            buffer[0] = b"\x00"
            pdfium.FPDFText_GetFontInfo(self._page, match.start(), buffer, MAX_FONT_NAME_BYTES, flags)
            letters[match.start()] = decode_symbol_letter(buffer.value.decode("latin-1"), match[0])
        text = "".join(letters)
        self._has_signs = self._has_signs or text != self.text
        self.text = text

    def _reorder_rtl_lines(self) -> None:
        """Put the letters of lines with right-to-left words into reading order."""
        self.is_rtl = is_rtl_text(self.text)
        text, indices = list[str](), list[int]()
        extents: dict[int, tuple[float, float]] = {}
        for row in self._group_by_height():
            row_text = "".join(self.text[index] for index in row)
            if not (RTL_CHAR.search(row_text) or (self.is_rtl and has_stray_punctuation(row_text))):
                text.append(row_text)
                indices += row
                continue
            boxes = {index: box for index in row if (box := self._get_char_box(index))}
            letters = [
                PlacedLetter(self.text[index], index, box[0], box[2], self._get_origin(index).left)
                for index, box in boxes.items()
            ]
            ordered = to_reading_order(letters, self._measure_row_size(row), page=self.is_rtl)
            bottom = min((box[1] for box in boxes.values()), default=0.0)
            top = max((box[3] for box in boxes.values()), default=0.0)
            length = sum(len(letter.text) for letter in ordered)
            extents |= dict.fromkeys(range(len(indices), len(indices) + length), (bottom, top))
            text += [*(letter.text for letter in ordered), "\n"]
            indices += [letter.index for letter in ordered for _ in letter.text] + row[-1:]
        self.text, self._char_indices, self._line_extents = "".join(text), indices, extents

    def _group_by_height(self) -> list[list[int]]:
        """Group characters by height; text that continues right-to-left words joins their group."""
        rows: list[list[int]] = []
        breaks: list[int] = []
        start = 0
        for piece in LINE_BREAK.split(self.text):
            row, start = list(range(start, start + len(piece))), start + len(piece)
            if not piece.strip("\r\n "):
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
        """Split one of PDFium's lines where its baseline changes."""
        levels: list[list[int]] = []
        baseline = size = 0.0
        for index in row:
            is_visible = not self.text[index].isspace()
            if is_visible and (not levels or abs(self._get_baseline(index) - baseline) > MAX_BASELINE_SHIFT_EM * size):
                baseline, size = self._get_baseline(index), self._read_style(index).size
                levels.append([])
            if levels:
                levels[-1].append(index)
        return levels

    def _is_row_continuation(self, previous: list[int], row: list[int]) -> bool:
        """Return whether a row is close to the previous one, and either has right-to-left letters."""
        if not any(RTL_CHAR.match(self.text[index]) for index in (*previous, *row)):
            return False
        previous_boxes = [box for index in previous if (box := self._get_char_box(index))]
        row_boxes = [box for index in row if (box := self._get_char_box(index))]
        size = self._measure_row_size(row)
        shift = abs(self._get_baseline(row[0]) - self._get_baseline(previous[0]))
        if not previous_boxes or not row_boxes or shift > MAX_BASELINE_SHIFT_EM * size:
            return False
        gap = MIN_CELL_GAP_EM * size
        return max(box[2] for box in row_boxes) + gap > min(box[0] for box in previous_boxes) and max(
            box[2] for box in previous_boxes
        ) + gap > min(box[0] for box in row_boxes)

    def _measure_row_size(self, row: list[int]) -> float:
        """Return a row's type size; spaces that PDFium inserts have none."""
        letters = [index for index in row if not self.text[index].isspace()] or row
        return self._read_style(letters[len(letters) // 2]).size

    def _read_letter(self, index: int) -> str:
        """Return the character at an index; a surrogate pair is at the index of its first half."""
        code = pdfium.FPDFText_GetUnicode(self._page, index)
        if 0xD800 <= code < 0xDC00:
            low = pdfium.FPDFText_GetUnicode(self._page, index + 1)
            if not 0xDC00 <= low < 0xE000:
                return "\ufffd"
            return normalize_math_letters(chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00))
        if 0xDC00 <= code < 0xE000:
            high = pdfium.FPDFText_GetUnicode(self._page, index - 1) if index else 0
            return SECOND_HALF_MARK if 0xD800 <= high < 0xDC00 else "\ufffd"
        return chr(code) if code else "\ufffd"

    def _convert_raised_digits(self, digits: re.Match[str]) -> str:
        """Return digits with the small, shifted ones at their end as such: 10⁶ is not 106."""
        max_size_ratio = 0.92
        min_rise_em, min_drop_em = 0.15, 0.08
        start, last = digits.start(), digits.end() - 1
        reference = start - 1 if start and not self.text[start - 1].isspace() else start
        size = self._read_style(reference).size
        if self._read_style(last).size > max_size_ratio * size:
            return digits[0]
        rise = self._get_baseline(last) - self._get_baseline(reference)
        if -min_drop_em * size <= rise <= min_rise_em * size:
            return digits[0]
        first = next(index for index in range(start, last + 1) if self._read_style(index).size <= max_size_ratio * size)
        signs = SUPERSCRIPT_DIGITS if rise > 0 else SUBSCRIPT_DIGITS
        return digits[0][: first - start] + digits[0][first - start :].translate(signs)

    def _get_baseline(self, index: int) -> float:
        return self._get_origin(index).bottom

    def _get_origin(self, index: int) -> Box:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._page, index, x, y)
        return self._rotation.to_upright(Box(x.value, y.value, x.value, y.value))

    def _read_style(self, index: int) -> CharacterStyle:
        """Return the style of a character's piece of text.

        A PDF draws a piece at once.
        """
        text_object = pdfium.FPDFText_GetTextObject(self._page, index)
        if not text_object:  # a space that PDFium inserts
            return self._read_new_style(index, text_object)
        address = ctypes.addressof(text_object.contents)
        style = self._styles.get(address)
        if style is None:
            style = self._styles[address] = self._read_new_style(index, text_object)
        return style

    def _read_new_style(self, index: int, text_object: Any) -> CharacterStyle:
        buffer, flags = self._name_buffer, ctypes.c_int()
        buffer[0] = b"\x00"  # a name that is too long leaves the buffer unchanged
        pdfium.FPDFText_GetFontInfo(self._page, index, buffer, MAX_FONT_NAME_BYTES, flags)
        weight = pdfium.FPDFText_GetFontWeight(self._page, index)
        size = pdfium.FPDFText_GetFontSize(self._page, index)
        if pdfium.FPDFText_GetMatrix(self._page, index, self._matrix):  # by which browsers scale the font size
            size *= math.hypot(self._matrix.c, self._matrix.d) or 1.0
        bold, monospaced = _classify_font(buffer.value, flags.value, weight)
        ink = self._read_ink(index, text_object)
        # The font of invisible text, which was recognized in a picture, says nothing about the picture.
        return CharacterStyle(size, bold and ink != "none", monospaced and ink != "none", ink)

    def _read_ink(self, index: int, text_object: Any) -> str:
        min_alpha, min_white = 13, 250  # of 255
        if text_object and pdfium.FPDFTextObj_GetTextRenderMode(text_object) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
            return "none"
        colors = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFText_GetFillColor(self._page, index, *colors):
            return ""
        *rgb, alpha = (color.value for color in colors)
        return "white" if min(rgb) >= min_white or alpha < min_alpha else ""

    def _build_piece_lines(self, start: int, piece: str) -> list[PdfLine]:
        """Return what PDFium takes for a line as one or several: it joins the values of form fields."""
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip()) - 1
        left, right = self._get_char_box(first), self._get_char_box(last)
        if left is None or right is None:
            return []
        # A line is judged by its first, middle and last letter; bullets have their own fonts.
        letters = [index for index, char in enumerate(piece, start) if char.isalnum()] or [first]
        samples = tuple(dict.fromkeys((letters[0], letters[len(letters) // 2], letters[-1])))
        styles = [self._read_style(self._char_indices[index]) for index in samples]
        sizes: list[float] = []
        for index, style in zip(samples, styles, strict=True):
            box = self._get_char_box(index) or left
            height = box[3] - box[1]
            # Where something else scales the declared size, the height takes its place.
            is_declared = 0.5 * style.size <= height <= 2 * style.size
            sizes.append(round(style.size if is_declared else max(height, 1.0), 1))
        size = median_low(sizes)
        bold, monospaced = all(style.bold for style in styles), all(style.monospaced for style in styles)
        inks = {style.ink for style in styles}
        ink = inks.pop() if len(inks) == 1 else ""
        rotated = get_quarter_turns(self._textpage, self._char_indices[first]) != self._rotation.quarter_turns
        rows = self._split_rows(first, last, left, right, size)
        # Word's bullet of the second level.
        if self.text[first : first + 2] == "o " and styles[0].monospaced and not monospaced:
            (bullet, *rest), bottom, top = rows[0]
            rows[0] = (replace(bullet, text="•" + bullet.text[1:]), *rest), bottom, top
        return [
            PdfLine(cells, bottom, top, size, bold, monospaced, ink=ink, rotated=rotated) for cells, bottom, top in rows
        ]

    def _split_rows(self, first: int, last: int, left: CharBox, right: CharBox, size: float) -> list[CellRow]:
        """Split characters into cells at wide gaps, and into rows where the text jumps to another height."""
        max_gaps = 400
        rows: list[CellRow] = []
        cells: list[PdfCell] = []
        cell_start, cell_box, row_box = first, left, left
        has_rtl = self._line_extents and RTL_CHAR.search(self.text, first, last + 1)
        gaps = self._find_gaps(first, last, size) if has_rtl else None
        for space in islice(SPACE_RUN.finditer(self.text, first, last), max_gaps):
            before, after = self._get_char_box(space.start() - 1), self._get_char_box(space.end())
            if before is None or after is None:
                continue
            is_jump = not row_box[1] < (after[1] + after[3]) / 2 < row_box[3] and after[0] < before[2]
            # In right-to-left text the next word is on the left, or past the left-to-right words in between.
            is_wide = max(after[0] - before[2], before[0] - after[2]) > MIN_CELL_GAP_EM * size
            if is_wide and gaps is not None:
                smaller, far = min(before[2], after[2]), max(before[0], after[0])
                is_wide = any(smaller <= start + 1 and end <= far + 1 for start, end in gaps)
            if is_jump or is_wide:
                cells.append(_build_cell(self._slice_text(cell_start, space.start()), cell_box, before))
                cell_start, cell_box = space.end(), after
            if is_jump:
                rows.append((tuple(cells), min(row_box[1], before[1]), max(row_box[3], before[3])))
                cells, row_box = [], after
        cells.append(_build_cell(self._slice_text(cell_start, last + 1), cell_box, right))
        return [*rows, (tuple(cells), min(row_box[1], right[1]), max(row_box[3], right[3]))]

    def _find_gaps(self, first: int, last: int, size: float) -> list[tuple[float, float]]:
        """Return the gaps between cells of a line, from left to right."""
        boxes = (self._get_char_box(index) for index in range(first, last + 1) if not self.text[index].isspace())
        spans = sorted((box[0], box[2]) for box in boxes if box)
        gaps, reach = list[tuple[float, float]](), spans[0][1] if spans else 0.0
        for left, right in spans:
            if left - reach > MIN_CELL_GAP_EM * size:
                gaps.append((reach, left))
            reach = max(reach, right)
        return gaps

    def _get_char_box(self, index: int) -> CharBox | None:
        """Return a character's edges, with the full height of its font.

        They are left, bottom, right and top.
        """
        if not pdfium.FPDFText_GetLooseCharBox(self._page, self._char_indices[index], self._box):
            return None
        box = self._box
        if self._rotation.quarter_turns:
            box = self._rotation.to_upright(Box(box.left, box.bottom, box.right, box.top))
        if not self._line_extents:
            return box.left, box.bottom, box.right, box.top
        bottom, top = self._line_extents.get(index, (box.bottom, box.top))
        return box.left, bottom, box.right, top

    def _find_missing_spaces(self) -> frozenset[int]:
        """Return the characters after which PDFium missed a space, on pages where it misses some."""
        min_space_em = 0.13  # in tightly set lines
        min_suspects = 3  # URLs and code on a page produce one or two
        if len(JOINED_WORDS.findall(self.text)) < min_suspects:
            return frozenset()
        indices = set()
        for word in LONG_WORD.finditer(self.text):
            size = self._read_style(self._char_indices[word.start()]).size
            previous = self._get_char_box(word.start())
            for index in range(word.start() + 1, word.end()):
                box = self._get_char_box(index)
                if previous and box and min_space_em * size < box[0] - previous[2] < size:
                    indices.add(index - 1)
                previous = box
        return frozenset(indices)

    def _slice_text(self, start: int, end: int) -> str:
        """Return a range of the text, with missing spaces added."""
        text = self.text[start:end]
        if self._missing_spaces:
            pieces = (char + " " if index in self._missing_spaces else char for index, char in enumerate(text, start))
            text = "".join(pieces).strip()
        text = text.replace(SECOND_HALF_MARK, "")
        return text.replace("‘‘", "“").replace("’’", "”") if "‘‘" in text or "’’" in text else text


@lru_cache(maxsize=2_000)
def _classify_font(name: bytes, flags: int, weight: int) -> tuple[bool, bool]:
    """Return whether a font is bold, and whether it is monospaced."""
    fixed_pitch_flag = 1  # ISO 32000-1 table 123
    min_bold_weight = 600  # PDFium estimates the weight where the font does not state it
    bold = weight >= min_bold_weight or BOLD_FONT_NAME.search(name) is not None
    return bold, bool(flags & fixed_pitch_flag) or MONOSPACED_FONT_NAME.search(name) is not None


def _build_cell(text: str, first: CharBox, last: CharBox) -> PdfCell:
    return PdfCell(text, min(first[0], last[0]), max(first[2], last[2]))
