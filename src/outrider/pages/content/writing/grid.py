"""A table as rows of cells, spans resolved.

What spans rows is repeated in each, and a heading that spans columns in each of them, so that every row can be read
by itself and every column has its name; a cell of data that spans columns stands in the first.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from outrider.pages.content.walking.blocks import CELLS, NEXT_CELL, NUMBER, Blocks, Given, Piece
from outrider.pages.content.walking.listing import source_of
from outrider.pages.content.writing.phrase import Phrase

ROW, TABLE, HEAD, FOOT, HEADING, ITEM, LISTING = (
    NUMBER[tag] for tag in ("tr", "table", "thead", "tfoot", "th", "li", "pre")
)
CELL_LIMIT = 600  # characters of a cell; what holds more is layout
HEADED_LIMIT = 3_000  # the same of a table that has headings
COLUMNS = 60
WIDE = 20  # columns from which a row is told as a record
ROWS = 20_000  # from which a table is told row by row, as layout is; a page has at most 15,000 blocks
SIDES = {"": "---", "center": ":-:", "right": "--:"}
ALIGNED = re.compile(r"text-align\s*:\s*(\w+)", re.IGNORECASE)
CALLED = re.compile(r"(?:^|\s)(?:(?:has-)?text|org|align)-?(right|center|end)(?:\s|$)")
CODED = 4  # times the characters of listings of several lines that a table has at least


@dataclass(slots=True)
class Grid:
    """The rows of a table, all of one length, each cell on one line.

    Attributes:
        rows: The cells.
        headed: Whether the first row names the columns; where no cell is marked as heading, it does.
        captions: Paragraphs that stand in no cell.
        sides: Of each column, how its cells are aligned, as the line below a table's head has it.
        marked: Whether any cell is marked as heading.
        coded: Characters of listings of several lines, which a cell cannot show.
    """

    rows: list[list[str]] = field(default_factory=list)
    headed: bool = True
    captions: list[str] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    marked: bool = False
    coded: int = 0

    def is_data(self) -> bool:
        """Whether it reads as a table: two columns and rows at least, no long cells, and not mostly listings."""
        if len(self.rows) < 2 or not 2 <= len(self.rows[0]) <= COLUMNS:
            return False
        if self.coded and CODED * self.coded > sum([len(cell) for row in self.rows for cell in row]):
            return False
        limit = HEADED_LIMIT if self.marked else CELL_LIMIT
        return not any(len(cell) > limit for row in self.rows for cell in row)

    def lines(self) -> list[str]:
        """The table in Markdown: in pipes, or as records of a very wide one."""
        if len(self.rows[0]) > WIDE and self.headed:
            unsaid = "; ".join(
                [column[0] for column in zip(*self.rows, strict=True) if column[0] and not any(column[1:])]
            )
            return [*([f"- {unsaid}"] if unsaid else []), *[self._record(row) for row in self.rows[1:] if any(row)]]
        rows = ["| " + " | ".join([cell.replace("|", "\\|") for cell in row]) + " |" for row in self.rows]
        head = [] if self.headed else ["|" + "  |" * len(self.rows[0])]
        rows[0:0] = head
        sides = self.sides or ["---"] * len(self.rows[0])
        return [rows[0], f"| {' | '.join(sides)} |", *rows[1:]]

    def _record(self, row: list[str]) -> str:
        named = zip(self.rows[0], row, strict=True)
        return "- " + "; ".join([f"{name}: {cell}" if name else cell for name, cell in named if cell])


def grid_of(page: Blocks, table: int, blocks: list[int], phrase: Phrase) -> Grid:
    """The rows of a table that hold any of these blocks."""
    rows = _rows(page, table)
    if len(rows) >= ROWS:
        return Grid()
    texts = _texts(page, blocks, phrase)
    grid = Grid(captions=texts.pop(-1, []))
    spans: dict[int, tuple[int, str]] = {}
    found: list[tuple[int, list[int], list[str]]] = []
    columns: dict[int, int] = {}
    for row, cells in rows.items():
        heading = _is_heading(page, row, cells)
        line = _line(page, cells, texts, spans, columns, heading=heading)
        if any(line):
            found.append((row, cells, line))
    if len(found) > 2 and _is_title(found[0][2], found[0][1]):
        grid.captions.append(found.pop(0)[2][0])
    lines = [line for _, _, line in found]
    told = _told(lines)
    grid.rows = _filled(lines, told)
    grid.sides = _sides(page, columns, told)
    grid.coded = _coded(page, blocks)
    grid.marked = any(page.elements[cell][1] == HEADING for _, cells, _ in found for cell in cells)
    grid.headed = bool(found) and (not grid.marked or _is_heading(page, *found[0][:2]))
    return grid


def _told(lines: list[list[str]]) -> list[int]:
    """The columns that are not empty in all rows: those held a picture, or nothing."""
    width = max(map(len, lines), default=0)
    return [at for at in range(width) if any(at < len(line) and line[at] for line in lines)]


def _filled(lines: list[list[str]], told: list[int]) -> list[list[str]]:
    """The rows, all of one length, of these columns."""
    width = max(map(len, lines), default=0)
    if len(told) < width:
        return [[line[at] if at < len(line) else "" for at in told] for line in lines]
    return [line + [""] * (width - len(line)) for line in lines]


def _sides(page: Blocks, columns: dict[int, int], told: list[int]) -> list[str]:
    """How most cells of each column are aligned; none if all begin where lines do."""
    aligned: dict[int, Counter[str]] = {}
    for cell, column in columns.items():
        if (given := page.given.get(cell)) and (side := _side(given)):
            aligned.setdefault(column, Counter())[side] += 1
    if not aligned:
        return []
    total = Counter(columns.values())
    most = {column: sides.most_common(1)[0] for column, sides in aligned.items()}
    return [SIDES[most[at][0]] if at in most and 2 * most[at][1] >= total[at] else SIDES[""] for at in told]


def _side(given: Given) -> str:
    """Where a cell's words stand, by its style, its attribute or its class; empty for the beginning of the line."""
    style, names = given.get("style") or "", given.get("class") or ""
    found = ALIGNED.search(style) if "align" in style else None
    side = found[1] if found else given.get("align") or ""
    if not side and (found := CALLED.search(names)):
        side = found[1]
    side = side.strip().lower()
    return "right" if side == "end" else side if side in SIDES else ""


def _is_title(line: list[str], cells: list[int]) -> bool:
    """Whether a row is one cell over all columns: what the table is about, and no column's name."""
    return len(cells) == 1 and len(line) > 1 and bool(line[0])


def _is_heading(page: Blocks, row: int, cells: list[int]) -> bool:
    """Whether a row names columns: it is the table's head, or all its cells are headings but for an empty first one."""
    tags = [page.elements[cell][1] for cell in cells]
    if page.elements[page.elements[row][0]][1] == HEAD:
        return True
    first = page.elements[cells[0]] if cells else (0,) * 6
    empty = bool(cells) and first[5] == page.last[cells[0]]
    return len(tags) > 1 and all(tag == HEADING for tag in (tags[1:] if empty else tags))


def _line(
    page: Blocks,
    cells: list[int],
    texts: dict[int, list[str]],
    spans: dict[int, tuple[int, str]],
    columns: dict[int, int],
    *,
    heading: bool,
) -> list[str]:
    """One row; notes the column of each cell that has one of its own."""
    line: list[str] = []
    own = any(cell in texts for cell in cells)
    for cell in cells:
        _carry(line, spans, own=own)
        across, down = _span(page, cell, "colspan"), _span(page, cell, "rowspan")
        if across == 1:
            columns[cell] = len(line)
        text = " ".join(" ".join(texts.get(cell, ())).split())
        for at in range(min(across, COLUMNS + 1 - len(line))):
            said = text if not at or heading else ""
            spans[len(line)] = (down - 1, said)
            line.append(said)
    _carry(line, spans, own=own)
    return line


def _carry(line: list[str], spans: dict[int, tuple[int, str]], *, own: bool) -> None:
    """Puts down what spans from the rows above; into a row that has no text of its own, nothing."""
    while (found := spans.get(len(line), (0, "")))[0] > 0:
        spans[len(line)] = (found[0] - 1, found[1])
        line.append(found[1] if own else "")


def _span(page: Blocks, cell: int, name: str) -> int:
    value = ((page.given.get(cell) or {}).get(name) or "").strip()
    return max(1, min(int(value), 1_000)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _rows(page: Blocks, table: int) -> dict[int, list[int]]:
    """The cells of each row of this very table; those of its foot come last, wherever it stands."""
    rows: dict[int, list[int]] = {}
    elements = page.elements
    at = table + 1
    while at < len(elements) and elements[at][0] >= table and len(rows) < ROWS:
        parent, tag = elements[at][0], elements[at][1]
        if tag == ROW:
            rows[at] = []
        elif tag in CELLS and parent in rows:
            rows[parent].append(at)
        at += 1
    foot = [row for row in rows if elements[elements[row][0]][1] == FOOT]
    return rows | {row: rows.pop(row) for row in foot} if foot else rows


def _texts(page: Blocks, blocks: list[int], phrase: Phrase) -> dict[int, list[str]]:
    """The paragraphs of each cell; of -1 those that stand in none."""
    found: dict[int, list[str]] = {}
    for number in blocks:
        start: list[Piece] = []
        owner = page.rows[number][0]
        cell = _cell_of(page, owner)
        for piece in page.pieces[number]:
            if isinstance(piece, tuple) and piece[0] == NEXT_CELL:
                if piece[1] >= 0:
                    found.setdefault(piece[1], []).append(phrase.line(start))
                    start = []
            else:
                start.append(piece)
        if text := phrase.line(start) if start else "":
            if page.elements[owner][1] == LISTING:
                text = _listing(page, number) or text
            bullet = "\u2022 " if cell >= 0 and page.elements[owner][1] == ITEM else ""
            found.setdefault(cell, []).append(bullet + text)
    return found


def _coded(page: Blocks, blocks: list[int]) -> int:
    """The characters of listings of several lines."""
    listings = [block for block in blocks if page.elements[page.rows[block][0]][1] == LISTING]
    sources = [source_of(page, page.rows[block][0], [block]) for block in listings]
    return sum([len(source) for source in sources if "\n" in source])


def _listing(page: Blocks, number: int) -> str:
    """A listing as code, each line by itself: a cell can show no other; empty for one that holds marks of code."""
    source = source_of(page, page.rows[number][0], [number])
    return "" if "`" in source else " ".join([f"`{line.strip()}`" for line in source.split("\n") if line.strip()])


def _cell_of(page: Blocks, element: int) -> int:
    """The cell that an element stands in; -1 if a table comes first."""
    while element >= 0 and page.elements[element][1] not in CELLS:
        element = -1 if page.elements[element][1] == TABLE else page.elements[element][0]
    return element
