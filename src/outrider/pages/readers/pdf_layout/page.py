"""One page of a PDF: its lines with their links, its ruled tables, and what nobody sees of it left out."""

import ctypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from outrider.pages.readers.parsing.symbol_fonts import normalize_math_letters
from outrider.pages.readers.pdf_layout.annotations import PdfLink, iter_links, read_comments
from outrider.pages.readers.pdf_layout.characters import PageCharacters
from outrider.pages.readers.pdf_layout.graphics import Box, PageGraphics, collect_graphics
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.rotation import PageRotation, detect_rotation
from outrider.pages.readers.pdf_layout.ruled_tables import RuledGrid, find_grids
from outrider.pages.readers.pdf_layout.writing_modes import order_rtl_columns

MIN_LABEL_LETTERS, MAX_LABEL_LETTERS = 3, 200  # letters of a link that are looked for with other signs between them
MAX_BOX_CHARS = 2_000  # characters of a rectangle
BROKEN_HYPHEN = re.compile("\ufffe(?:\\r\\n|[\\r\\n])?")  # PDFium's sign for a hyphen at a line's end


@dataclass
class PdfPage:
    """A page: its lines, its edges in points, what readers remarked, and whether it could be read.

    `hidden_lines` counts the lines that nobody sees; `has_picture` tells that a picture takes most of it.
    """

    lines: list[PdfLine]
    bottom: float = 0
    top: float = 0
    is_readable: bool = True
    comments: list[str] = field(default_factory=list)
    hidden_lines: int = 0
    has_picture: bool = False

    @property
    def height(self) -> float:
        return self.top - self.bottom


def read_page(document: Any, number: int, limit: int, resolve_url: Callable[[str], str]) -> PdfPage:
    """A page; one that is broken gives no lines and does not lose the others.

    Args:
        document: Of pypdfium2.
        number: Counted from 0.
        limit: How many characters are looked at.
        resolve_url: Makes an address one that a reader may follow; empty if it leads nowhere.
    """
    try:
        page = document[number]
        said, drawn_over = read_comments(page)
        if drawn_over:
            pypdfium2.raw.FPDFPage_Flatten(page.raw, pypdfium2.raw.FLAT_NORMALDISPLAY)
            page.close()
            page = document[number]
        made = _build_page(document, page, limit, resolve_url, said)
        return replace(made, lines=_place_form_values(made.lines)) if drawn_over else made
    except pypdfium2.PdfiumError:
        return PdfPage([], is_readable=False)


def _build_page(
    document: Any, page: Any, limit: int, resolve_url: Callable[[str], str], comments: list[str]
) -> PdfPage:
    min_picture_share = 0.3  # of a page: what is written invisibly over so large a picture was recognised in it
    min_type_size = 1.5  # points of type that nobody can read
    text = page.get_textpage()
    way = detect_rotation(text, Box(*page.get_bbox()))
    seen, box = collect_graphics(page).transform(way.to_upright), way.to_upright(way.page_box)
    characters = PageCharacters(text, limit, way)
    found = characters.build_lines()
    pictured = any(_compute_page_share(picture, box) > min_picture_share for picture in seen.pictures)
    tiny = (
        min_type_size if any(line.size > 2 * min_type_size for line in found) else 0
    )  # where all is tiny, the page is drawn to scale
    shown = [line for line in found if line.size >= tiny and _is_visible(line, box, seen, pictured=pictured)]
    links = [
        PdfLink(known, tuple(map(way.to_upright, each.boxes)))
        for each in iter_links(document, page)
        if (known := resolve_url(each.url))
    ]
    within = _BoxTextReader(text, way, characters)
    shown = [replace(line, underlined=True) if _is_underlined(line, seen.horizontal_rules) else line for line in shown]
    made = _add_links(_replace_ruled_tables(shown, find_grids(seen), within.read_text), links, within.read_text)
    text.close()
    page.close()
    if characters.is_rtl:  # who reads from the right begins lines, and indents them, there
        made = [_mirror_line(line, box.left + box.right) for line in made]
    hidden = len(found) - len(shown)
    return PdfPage(made, box.bottom, box.top, comments=comments, hidden_lines=hidden, has_picture=bool(seen.pictures))


def _mirror_line(line: PdfLine, sides: float) -> PdfLine:
    cells = tuple(replace(cell, left=sides - cell.right, right=sides - cell.left) for cell in line.cells)
    return replace(line, cells=cells)


def _place_form_values(found: list[PdfLine]) -> list[PdfLine]:
    """The lines, what forms hold, which comes last, behind the words that stand on the same height before it."""
    made: list[PdfLine] = []
    for line in found:
        middle = (line.bottom + line.top) / 2
        before = [each for each in made if each.bottom < middle < each.top and each.right < line.left + line.size]
        made.insert(made.index(max(before, key=lambda each: each.right)) + 1 if before else len(made), line)
    return made


class _BoxTextReader:
    """The characters in a rectangle of a page."""

    def __init__(self, text: Any, way: PageRotation, characters: PageCharacters) -> None:
        self._rotation, self._characters = way, characters
        self._get_bounded_text, self._raw_textpage = pdfium.FPDFText_GetBoundedText, text.raw
        self._buffer = (ctypes.c_ushort * MAX_BOX_CHARS)()

    def read_text(self, box: Box) -> str:
        """On one line; a word that is broken at a line's end is whole."""
        if self._characters.is_reordered:
            return " ".join(BROKEN_HYPHEN.sub("", self._characters.read_box(box)).split())
        box = self._rotation.to_page(box)
        count = self._get_bounded_text(
            self._raw_textpage, box.left, box.top, box.right, box.bottom, self._buffer, MAX_BOX_CHARS
        )
        text = bytes(self._buffer)[: 2 * max(0, count)].decode("utf-16-le", "replace")
        return " ".join(normalize_math_letters(BROKEN_HYPHEN.sub("", text)).replace("\x00", " ").split())


def _compute_page_share(picture: Box, page: Box) -> float:
    """How much of a page a picture takes."""
    wide = min(picture.right, page.right) - max(picture.left, page.left)
    high = min(picture.top, page.top) - max(picture.bottom, page.bottom)
    area = (page.right - page.left) * (page.top - page.bottom)
    return max(0.0, wide) * max(0.0, high) / area if area > 0 else 0.0


def _is_visible(line: PdfLine, page: Box, seen: PageGraphics, *, pictured: bool) -> bool:
    """Whether a person sees a line: on the page, and in a colour that differs from what is behind it."""
    if line.right < page.left or line.left > page.right:
        return False
    if line.top < page.bottom or line.bottom > page.top:
        return False
    if line.ink == "none":  # of what was recognised in a picture, the picture is seen
        return pictured
    return line.ink != "white" or seen.has_background((line.left + line.right) / 2, (line.bottom + line.top) / 2)


def _is_underlined(line: PdfLine, rules: list[Box]) -> bool:
    """Whether a rule stands right under a line, from its beginning on to its end or further."""
    max_rules = 200  # of a page that are looked at for the heads of tables
    reach = 0.5 * line.size
    return any(
        abs(rule.top - line.bottom) < reach and rule.left < line.left + reach and rule.right > line.right - reach
        for rule in rules[:max_rules]
    )


def _replace_ruled_tables(
    found: list[PdfLine], tables: Iterable[RuledGrid], read: Callable[[Box], str]
) -> list[PdfLine]:
    """The lines, those in ruled tables as one line each that holds the rows."""
    max_cell_chars = 1_500  # characters of a cell: what holds more is a page that is framed, not a table
    for grid in tables:
        box = grid.box
        inside = [line for line in found if _in(line, box)]
        rows = order_rtl_columns(grid.read_cells(read)) if inside else []
        if not any(cell for row in rows for cell in row) or any(
            len(cell) > max_cell_chars for row in rows for cell in row
        ):
            continue
        made = PdfLine(
            (PdfCell("", box.left, box.right),), box.bottom, box.top, inside[0].size, table_rows=tuple(map(tuple, rows))
        )
        at = found.index(inside[0])
        left = [rest for line in found for rest in (_outside(line, box) if line in inside else [line])]
        found = [*left[:at], made, *left[at:]]
    return found


def _in(line: PdfLine, box: Box) -> bool:
    middle = (line.bottom + line.top) / 2
    return (
        not line.table_rows
        and box.bottom < middle < box.top
        and any(_is_within_width(cell, box) for cell in line.cells)
    )


def _is_within_width(cell: PdfCell, box: Box) -> bool:
    return box.left < (cell.left + cell.right) / 2 < box.right


def _outside(line: PdfLine, box: Box) -> list[PdfLine]:
    """What of a line stands beside a table."""
    cells = tuple(cell for cell in line.cells if not _is_within_width(cell, box))
    return [replace(line, cells=cells)] if cells else []


def _add_links(found: list[PdfLine], links: list[PdfLink], read: Callable[[Box], str]) -> list[PdfLine]:
    """The lines, with what leads somewhere as links."""
    for link in links:
        for box in link.boxes:
            text = read(Box(box.left + 1.2, box.bottom + 0.3 * (box.top - box.bottom), box.right - 1.2,
                            box.top - 0.3 * (box.top - box.bottom)))  # fmt: skip
            if text and not text.startswith(("http://", "https://", "www.", "mailto:")) and text != link.url:
                found = [_link_line(line, box, text, link.url) for line in found]
    return found


def _link_line(line: PdfLine, box: Box, text: str, address: str) -> PdfLine:
    if line.monospaced or not line.bottom < (box.bottom + box.top) / 2 < line.top:
        return line
    if line.table_rows:
        return replace(
            line, table_rows=tuple(tuple(_link_words(cell, text, address) for cell in row) for row in line.table_rows)
        )
    cells = tuple(
        replace(cell, text=_link_words(cell.text, text, address))
        if cell.left < box.right and cell.right > box.left
        else cell
        for cell in line.cells
    )
    return replace(line, cells=cells)


def _link_words(text: str, words: str, address: str) -> str:
    """The text with the first of these words that stand alone and are no link yet as one.

    What is read in a link's rectangle may lack commas and points, which stand lower than its middle.
    """
    gap_pattern = r"[^\w\[\]]{0,3}"
    found = re.search(rf"(?<![\w\[]){re.escape(words)}(?![\w\]])", text)
    letters = [letter for letter in words if letter.isalnum()]
    if not found and MIN_LABEL_LETTERS <= len(letters) <= MAX_LABEL_LETTERS:
        found = re.search(rf"(?<![\w\[]){gap_pattern.join(map(re.escape, letters))}(?![\w\]])", text)
    if not found:
        return text
    label = found[0].replace("[", "(").replace("]", ")")
    return f"{text[: found.start()]}[{label}]({address}){text[found.end() :]}"
