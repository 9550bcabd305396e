"""Read one page of a PDF: visible lines, links and ruled tables."""

import ctypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from outrider.pages.readers.parsing.draft import format_link
from outrider.pages.readers.parsing.symbol_fonts import normalize_math_letters
from outrider.pages.readers.pdf_layout.annotations import PdfLink, iter_links, read_comments, take_choices
from outrider.pages.readers.pdf_layout.characters import PageCharacters
from outrider.pages.readers.pdf_layout.check_boxes import take_form_boxes, write_signs
from outrider.pages.readers.pdf_layout.graphics import Box, PageGraphics, collect_graphics
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.missing_fonts import find_missing_fonts
from outrider.pages.readers.pdf_layout.rotated_lines import join_rotated_lines
from outrider.pages.readers.pdf_layout.rotation import PageRotation, detect_rotation
from outrider.pages.readers.pdf_layout.ruled_tables import RuledGrid, find_grids
from outrider.pages.readers.pdf_layout.writing_modes import order_rtl_columns

MAX_BOX_CHARS = 2_000
BROKEN_HYPHEN = re.compile("\ufffe(?:\\r\\n|[\\r\\n])?")  # PDFium's mark for a hyphen at a line's end


@dataclass
class PdfPage:
    """A page: its lines, its bottom and top in points, comments, and whether it could be read.

    `hidden_lines` counts the lines that are not visible; `has_picture` says whether any picture is drawn.
    `missing_fonts` names the fonts without which some of its text could not be read; `is_recognized` says whether its
    text was recognized in a picture.
    """

    lines: list[PdfLine]
    bottom: float = 0
    top: float = 0
    is_readable: bool = True
    comments: list[str] = field(default_factory=list)
    hidden_lines: int = 0
    has_picture: bool = False
    missing_fonts: list[str] = field(default_factory=list)
    is_recognized: bool = False

    @property
    def has_letters(self) -> bool:
        return any(line.has_letters for line in self.lines)

    @property
    def height(self) -> float:
        return self.top - self.bottom

    def is_at_edge(self, line: PdfLine) -> bool:
        """Return whether a line is in the top or bottom 9 % of the page."""
        edge = 0.09 * self.height
        return not line.table_rows and (line.bottom > self.top - edge or line.top < self.bottom + edge)


def read_page(document: Any, number: int, limit: int, resolve_url: Callable[[str], str]) -> PdfPage:
    """Return a page; a damaged one has no lines, and the others can still be read.

    Args:
        document: A document of pypdfium2.
        number: The page, counted from 0.
        limit: How many characters are looked at.
        resolve_url: Returns a link's absolute URL, empty if it must not be followed.
    """
    try:
        page = document[number]
        comments, has_drawn_annotations = read_comments(page)
        choices, form_boxes = take_choices(document, page), take_form_boxes(document, page)
        if has_drawn_annotations:  # make the text of forms and stamps part of the page's content
            pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
            page.close()
            page = document[number]
        signs = write_signs(document, page, form_boxes)
        built = _build_page(document, page, limit, resolve_url, choices=choices, signs=signs)
        lines = _place_form_values(built.lines) if has_drawn_annotations else built.lines
        return replace(built, lines=lines, comments=comments)
    except pypdfium2.PdfiumError:
        return PdfPage([], is_readable=False)


def _build_page(
    document: Any,
    page: Any,
    limit: int,
    resolve_url: Callable[[str], str],
    *,
    choices: list[tuple[Box, str]],
    signs: dict[int, str],
) -> PdfPage:
    textpage = page.get_textpage()
    rotation = detect_rotation(textpage, Box(*page.get_bbox()))
    graphics, page_box = collect_graphics(page).transform(rotation.to_upright), rotation.to_upright(rotation.page_box)
    characters = PageCharacters(textpage, limit, rotation, signs)
    all_lines = characters.build_lines()
    lines = _filter_visible(all_lines, page_box, graphics)
    hidden = len(all_lines) - len(lines)
    lines = join_rotated_lines(lines)
    links = [
        PdfLink(url, tuple(map(rotation.to_upright, link.boxes)))
        for link in iter_links(document, page)
        if (url := resolve_url(link.url))
    ]
    lines = [
        replace(line, underlined=True) if _is_underlined(line, graphics.horizontal_rules) else line for line in lines
    ]
    read_text = _BoxTextReader(textpage, rotation, characters).read_text
    lines = _add_links(_replace_ruled_tables(lines, find_grids(graphics), read_text), links, read_text)
    for box, text in choices:
        _insert_choice(lines, rotation.to_upright(box), text)
    missing_fonts = find_missing_fonts(graphics.text_objects, textpage)
    textpage.close()
    page.close()
    if characters.is_rtl:  # mirror the page, so that lines begin and are indented on the left
        edge_sum = page_box.left + page_box.right
        lines = [
            replace(
                line,
                cells=tuple(replace(c, left=edge_sum - c.right, right=edge_sum - c.left) for c in line.cells),
            )
            for line in lines
        ]
    return PdfPage(
        lines,
        page_box.bottom,
        page_box.top,
        hidden_lines=hidden,
        has_picture=bool(graphics.pictures),
        missing_fonts=missing_fonts,
    )


def _place_form_values(lines: list[PdfLine]) -> list[PdfLine]:
    """Move the values of form fields, which come last, after the words to their left."""
    placed: list[PdfLine] = []
    for line in lines:
        middle = (line.bottom + line.top) / 2
        labels = [
            label for label in placed if label.bottom < middle < label.top and label.right < line.left + line.size
        ]
        index = placed.index(max(labels, key=lambda label: label.right)) + 1 if labels else len(placed)
        placed.insert(index, line)
    return placed


def _insert_choice(lines: list[PdfLine], box: Box, text: str) -> None:
    """Insert a list box's choice after the words to its left, or else after the line above."""
    row_height_pt = 12.0
    cells = (PdfCell(text, box.left, box.right),)
    labels = [line for line in lines if line.right <= box.left and box.bottom < (line.bottom + line.top) / 2 < box.top]
    if labels:
        label = max(labels, key=lambda line: line.right)
        lines.insert(lines.index(label) + 1, PdfLine(cells, label.bottom, label.top, label.size))
        return
    index = next((number for number, line in enumerate(lines) if line.top < box.top), len(lines))
    lines.insert(index, PdfLine(cells, box.top - row_height_pt, box.top, row_height_pt))


class _BoxTextReader:
    """Read the characters in a rectangle of a page."""

    def __init__(self, textpage: Any, rotation: PageRotation, characters: PageCharacters) -> None:
        self._rotation, self._characters = rotation, characters
        self._get_bounded_text, self._raw_textpage = pdfium.FPDFText_GetBoundedText, textpage.raw
        self._buffer = (ctypes.c_ushort * MAX_BOX_CHARS)()

    def read_text(self, box: Box) -> str:
        """Return the text on one line, hyphenated words joined."""
        if self._characters.is_changed:
            return " ".join(BROKEN_HYPHEN.sub("", self._characters.read_box(box)).split())
        box = self._rotation.to_page(box)
        count = self._get_bounded_text(
            self._raw_textpage, box.left, box.top, box.right, box.bottom, self._buffer, MAX_BOX_CHARS
        )
        text = ctypes.string_at(self._buffer, 2 * min(max(0, count), MAX_BOX_CHARS)).decode("utf-16-le", "replace")
        return " ".join(normalize_math_letters(BROKEN_HYPHEN.sub("", text)).replace("\x00", " ").split())


def _filter_visible(lines: list[PdfLine], page: Box, graphics: PageGraphics) -> list[PdfLine]:
    """Return the lines that a person can read: large enough, on the page, and drawn in a visible color."""
    min_picture_share = 0.3  # invisible text over a picture of that size was recognized in it (OCR)
    min_type_size_pt = 1.5
    page_area = (page.right - page.left) * (page.top - page.bottom)
    is_scan = False
    for picture in graphics.pictures if page_area > 0 else ():
        width = max(0.0, min(picture.right, page.right) - max(picture.left, page.left))
        height = max(0.0, min(picture.top, page.top) - max(picture.bottom, page.bottom))
        is_scan = is_scan or width * height / page_area > min_picture_share
    # Where all type is tiny, the page is drawn to another scale.
    min_size = min_type_size_pt if any(line.size > 2 * min_type_size_pt for line in lines) else 0
    visible: list[PdfLine] = []
    for line in lines:
        is_beside = line.right < page.left or line.left > page.right
        if line.size < min_size or is_beside or line.top < page.bottom or line.bottom > page.top:
            continue
        is_drawn = line.ink != "none" or is_scan
        middle = (line.left + line.right) / 2, (line.bottom + line.top) / 2
        if is_drawn and (line.ink != "white" or graphics.has_background(*middle)):
            visible.append(line)
    return visible


def _is_underlined(line: PdfLine, rules: list[Box]) -> bool:
    """Return whether a rule is drawn right below a line.

    It must cover at least the line's full width.
    """
    max_rules = 200
    reach = 0.5 * line.size
    return any(
        abs(rule.top - line.bottom) < reach and rule.left < line.left + reach and rule.right > line.right - reach
        for rule in rules[:max_rules]
    )


def _replace_ruled_tables(
    lines: list[PdfLine], grids: Iterable[RuledGrid], read_text: Callable[[Box], str]
) -> list[PdfLine]:
    """Replace the lines inside each ruled table by one line that holds its rows."""
    max_cell_chars = 1_500  # longer text means a frame around a page, not a table
    for grid in grids:
        box = grid.box
        inside = [
            line
            for line in lines
            if not line.table_rows
            and box.bottom < (line.bottom + line.top) / 2 < box.top
            and any(_is_within_width(cell, box) for cell in line.cells)
        ]
        pieces = [
            (Box(cell.left, line.bottom, cell.right, line.top), cell.text) for line in inside for cell in line.cells
        ]
        if grid.is_drawing(read_text, pieces):
            continue
        fitted = grid.fit_to_text(pieces)
        rows = order_rtl_columns(fitted.read_cells(read_text, pieces)) if inside else []
        longest = max((len(cell) for row in rows for cell in row), default=0)
        if not 0 < longest <= max_cell_chars:
            continue
        table = PdfLine(
            (PdfCell("", box.left, box.right),), box.bottom, box.top, inside[0].size, table_rows=tuple(map(tuple, rows))
        )
        index = lines.index(inside[0])
        rest: list[PdfLine] = []
        inside_ids = set(map(id, inside))
        for line in lines:
            if id(line) not in inside_ids:
                rest.append(line)
            elif cells := tuple(cell for cell in line.cells if not _is_within_width(cell, box)):
                rest.append(replace(line, cells=cells))  # the cells next to the table
        lines = [*rest[:index], table, *rest[index:]]
    return lines


def _is_within_width(cell: PdfCell, box: Box) -> bool:
    return box.left < (cell.left + cell.right) / 2 < box.right


def _add_links(lines: list[PdfLine], links: list[PdfLink], read_text: Callable[[Box], str]) -> list[PdfLine]:
    """Turn the text in the links' rectangles into Markdown links."""
    for link in links:
        for box in link.boxes:
            inset = 0.3 * (box.top - box.bottom)  # rectangles often reach into the lines above and below
            text = read_text(Box(box.left + 1.2, box.bottom + inset, box.right - 1.2, box.top - inset))
            if text and not text.startswith(("http://", "https://", "www.", "mailto:")) and text != link.url:
                lines = [_link_line(line, box, text, link.url) for line in lines]
    return lines


def _link_line(line: PdfLine, box: Box, text: str, url: str) -> PdfLine:
    if line.monospaced or not line.bottom < (box.bottom + box.top) / 2 < line.top:
        return line
    if line.table_rows:
        rows = tuple(tuple(_link_words(cell, text, url) for cell in row) for row in line.table_rows)
        return replace(line, table_rows=rows)
    cells = tuple(
        replace(cell, text=_link_words(cell.text, text, url))
        if cell.left < box.right and cell.right > box.left
        else cell
        for cell in line.cells
    )
    return replace(line, cells=cells)


def _link_words(text: str, words: str, url: str) -> str:
    """Link the first occurrence of whole words that are not in a link yet.

    The words may lack commas and full stops, which are lower than the middle of the link's rectangle.
    """
    min_letters, max_letters = 3, 200  # of words that are also searched with punctuation between their letters
    match = re.search(rf"(?<![\w\[]){re.escape(words)}(?![\w\]])", text)
    letters = [letter for letter in words if letter.isalnum()]
    if not match and min_letters <= len(letters) <= max_letters:
        pattern = r"[^\w\[\]]{0,3}".join(map(re.escape, letters))
        match = re.search(rf"(?<![\w\[]){pattern}(?![\w\]])", text)
    if not match:
        return text
    return f"{text[: match.start()]}{format_link(match[0], url)}{text[match.end() :]}"
