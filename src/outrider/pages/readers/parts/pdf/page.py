"""One page of a PDF: its lines with their links, its ruled tables, and what nobody sees of it left out."""

import ctypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from outrider.pages.readers.parts.pdf.drawn import Box, Drawn, drawn
from outrider.pages.readers.parts.pdf.line import Cell, Line
from outrider.pages.readers.parts.pdf.lines import Characters
from outrider.pages.readers.parts.pdf.links import Linked, linked, remarks
from outrider.pages.readers.parts.pdf.scripts import leftward
from outrider.pages.readers.parts.pdf.tables import Grid, grids
from outrider.pages.readers.parts.pdf.turn import Turn, turn
from outrider.pages.readers.parts.signs import unset

TINY = 1.5  # points of type that nobody can read
LONGEST = 1_500  # characters of a cell: what holds more is a page that is framed, not a table
SHORTEST, LABEL = 3, 200  # letters of a link that are looked for with other signs between them
LOW = r"[^\w\[\]]{0,3}"
LIMIT = 2_000  # characters of a rectangle
RULES = 200  # of a page that are looked at for the heads of tables
PICTURE = 0.3  # of a page: what is written invisibly over so large a picture was recognised in it
BROKEN = re.compile("\ufffe(?:\\r\\n|[\\r\\n])?")  # PDFium's sign for a hyphen at a line's end


@dataclass
class Page:
    """A page: its lines, its edges in points, what readers remarked, and whether it could be read.

    `hidden` counts the lines that nobody sees; `pictured` tells that a picture takes most of it.
    """

    lines: list[Line]
    bottom: float = 0
    top: float = 0
    readable: bool = True
    remarks: list[str] = field(default_factory=list)
    hidden: int = 0
    pictured: bool = False

    @property
    def height(self) -> float:
        return self.top - self.bottom


def read_page(document: Any, number: int, limit: int, address: Callable[[str], str]) -> Page:
    """A page; one that is broken gives no lines and does not lose the others.

    Args:
        document: Of pypdfium2.
        number: Counted from 0.
        limit: How many characters are looked at.
        address: Makes an address one that a reader may follow; empty if it leads nowhere.
    """
    try:
        page = document[number]
        said, drawn_over = remarks(page)
        if drawn_over:
            pypdfium2.raw.FPDFPage_Flatten(page.raw, pypdfium2.raw.FLAT_NORMALDISPLAY)
            page.close()
            page = document[number]
        made = _read(document, page, limit, address, said)
        return replace(made, lines=_beside(made.lines)) if drawn_over else made
    except pypdfium2.PdfiumError:
        return Page([], readable=False)


def _read(document: Any, page: Any, limit: int, address: Callable[[str], str], said: list[str]) -> Page:
    text = page.get_textpage()
    way = turn(text, Box(*page.get_bbox()))
    seen, box = drawn(page).moved(way.box), way.box(way.page)
    characters = Characters(text, limit, way)
    found = characters.lines()
    pictured = any(_share(picture, box) > PICTURE for picture in seen.pictures)
    tiny = TINY if any(line.size > 2 * TINY for line in found) else 0  # where all is tiny, the page is drawn to scale
    shown = [line for line in found if line.size >= tiny and _is_seen(line, box, seen, pictured=pictured)]
    links = [
        Linked(known, tuple(map(way.box, each.boxes)))
        for each in linked(document, page)
        if (known := address(each.address))
    ]
    within = _Within(text, way, characters)
    shown = [replace(line, ruled=True) if _is_ruled(line, seen.level) else line for line in shown]
    made = _with_links(_tabled(shown, grids(seen), within.text), links, within.text)
    text.close()
    page.close()
    if characters.leftward:  # who reads from the right begins lines, and indents them, there
        made = [_mirrored(line, box.left + box.right) for line in made]
    hidden = len(found) - len(shown)
    return Page(made, box.bottom, box.top, remarks=said, hidden=hidden, pictured=bool(seen.pictures))


def _mirrored(line: Line, sides: float) -> Line:
    cells = tuple(replace(cell, left=sides - cell.right, right=sides - cell.left) for cell in line.cells)
    return replace(line, cells=cells)


def _beside(found: list[Line]) -> list[Line]:
    """The lines, what forms hold, which comes last, behind the words that stand on the same height before it."""
    made: list[Line] = []
    for line in found:
        middle = (line.bottom + line.top) / 2
        before = [each for each in made if each.bottom < middle < each.top and each.right < line.left + line.size]
        made.insert(made.index(max(before, key=lambda each: each.right)) + 1 if before else len(made), line)
    return made


class _Within:
    """The characters in a rectangle of a page."""

    def __init__(self, text: Any, way: Turn, characters: Characters) -> None:
        self._way, self._characters = way, characters
        self._read, self._text = pdfium.FPDFText_GetBoundedText, text.raw
        self._buffer = (ctypes.c_ushort * LIMIT)()

    def text(self, box: Box) -> str:
        """On one line; a word that is broken at a line's end is whole."""
        if self._characters.reordered:
            return " ".join(BROKEN.sub("", self._characters.within(box)).split())
        box = self._way.back(box)
        count = self._read(self._text, box.left, box.top, box.right, box.bottom, self._buffer, LIMIT)
        text = bytes(self._buffer)[: 2 * max(0, count)].decode("utf-16-le", "replace")
        return " ".join(unset(BROKEN.sub("", text)).replace("\x00", " ").split())


def _share(picture: Box, page: Box) -> float:
    """How much of a page a picture takes."""
    wide = min(picture.right, page.right) - max(picture.left, page.left)
    high = min(picture.top, page.top) - max(picture.bottom, page.bottom)
    area = (page.right - page.left) * (page.top - page.bottom)
    return max(0.0, wide) * max(0.0, high) / area if area > 0 else 0.0


def _is_seen(line: Line, page: Box, seen: Drawn, *, pictured: bool) -> bool:
    """Whether a person sees a line: on the page, and in a colour that differs from what is behind it."""
    if line.right < page.left or line.left > page.right:
        return False
    if line.top < page.bottom or line.bottom > page.top:
        return False
    if line.ink == "none":  # of what was recognised in a picture, the picture is seen
        return pictured
    return line.ink != "white" or seen.behind((line.left + line.right) / 2, (line.bottom + line.top) / 2)


def _is_ruled(line: Line, rules: list[Box]) -> bool:
    """Whether a rule stands right under a line, from its beginning on to its end or further."""
    reach = 0.5 * line.size
    return any(
        abs(rule.top - line.bottom) < reach and rule.left < line.left + reach and rule.right > line.right - reach
        for rule in rules[:RULES]
    )


def _tabled(found: list[Line], tables: Iterable[Grid], read: Callable[[Box], str]) -> list[Line]:
    """The lines, those in ruled tables as one line each that holds the rows."""
    for grid in tables:
        box = grid.box
        inside = [line for line in found if _in(line, box)]
        rows = leftward(grid.texts(read)) if inside else []
        if not any(cell for row in rows for cell in row) or any(len(cell) > LONGEST for row in rows for cell in row):
            continue
        made = Line((Cell("", box.left, box.right),), box.bottom, box.top, inside[0].size, rows=tuple(map(tuple, rows)))
        at = found.index(inside[0])
        left = [rest for line in found for rest in (_outside(line, box) if line in inside else [line])]
        found = [*left[:at], made, *left[at:]]
    return found


def _in(line: Line, box: Box) -> bool:
    middle = (line.bottom + line.top) / 2
    return not line.rows and box.bottom < middle < box.top and any(_over(cell, box) for cell in line.cells)


def _over(cell: Cell, box: Box) -> bool:
    return box.left < (cell.left + cell.right) / 2 < box.right


def _outside(line: Line, box: Box) -> list[Line]:
    """What of a line stands beside a table."""
    cells = tuple(cell for cell in line.cells if not _over(cell, box))
    return [replace(line, cells=cells)] if cells else []


def _with_links(found: list[Line], links: list[Linked], read: Callable[[Box], str]) -> list[Line]:
    """The lines, with what leads somewhere as links."""
    for link in links:
        for box in link.boxes:
            text = read(Box(box.left + 1.2, box.bottom + 0.3 * (box.top - box.bottom), box.right - 1.2,
                            box.top - 0.3 * (box.top - box.bottom)))  # fmt: skip
            if text and not text.startswith(("http://", "https://", "www.", "mailto:")) and text != link.address:
                found = [_linked(line, box, text, link.address) for line in found]
    return found


def _linked(line: Line, box: Box, text: str, address: str) -> Line:
    if line.mono or not line.bottom < (box.bottom + box.top) / 2 < line.top:
        return line
    if line.rows:
        return replace(line, rows=tuple(tuple(_put(cell, text, address) for cell in row) for row in line.rows))
    cells = tuple(
        replace(cell, text=_put(cell.text, text, address)) if cell.left < box.right and cell.right > box.left else cell
        for cell in line.cells
    )
    return replace(line, cells=cells)


def _put(text: str, words: str, address: str) -> str:
    """The text with the first of these words that stand alone and are no link yet as one.

    What is read in a link's rectangle may lack commas and points, which stand lower than its middle.
    """
    found = re.search(rf"(?<![\w\[]){re.escape(words)}(?![\w\]])", text)
    letters = [letter for letter in words if letter.isalnum()]
    if not found and SHORTEST <= len(letters) <= LABEL:
        found = re.search(rf"(?<![\w\[]){LOW.join(map(re.escape, letters))}(?![\w\]])", text)
    if not found:
        return text
    label = found[0].replace("[", "(").replace("]", ")")
    return f"{text[: found.start()]}[{label}]({address}){text[found.end() :]}"
