"""A table as rows of cells, spans resolved."""

from outrider.pages.content.blocks import CELLS, NEXT_CELL, NUMBER, Blocks, Piece
from outrider.pages.content.phrase import Phrase

ROW, TABLE = NUMBER["tr"], NUMBER["table"]
CELL_LIMIT = 600  # characters of a cell; what holds more is layout
COLUMNS = 60
ROWS = 5_000


def grid_of(page: Blocks, table: int, blocks: list[int], phrase: Phrase) -> list[list[str]]:
    """The rows of a table that hold any of these blocks, all of one length, each cell on one line."""
    texts = _texts(page, blocks, phrase)
    rows = _rows(page, table)
    width, spans, grid = 0, {}, []
    for cells in rows:
        line = _line(page, cells, texts, spans)
        if any(line):
            grid.append(line)
            width = max(width, len(line))
    return [row + [""] * (width - len(row)) for row in grid]


def is_data(grid: list[list[str]]) -> bool:
    """Whether it reads as a table: two columns and rows at least, no long cells."""
    if len(grid) < 2 or not 2 <= len(grid[0]) <= COLUMNS:
        return False
    return not any(len(cell) > CELL_LIMIT for row in grid for cell in row)


def _line(page: Blocks, cells: list[int], texts: dict[int, list[str]], spans: dict[int, int]) -> list[str]:
    """One row: below a cell of several rows, and beside one of several columns, a cell is empty."""
    line: list[str] = []
    for cell in cells:
        while spans.get(len(line), 0) > 0:
            spans[len(line)] -= 1
            line.append("")
        across, down = _span(page, cell, "colspan"), _span(page, cell, "rowspan")
        for at in range(min(across, COLUMNS - len(line))):
            spans[len(line)] = down - 1
            line.append("" if at else " ".join(" ".join(texts.get(cell, ())).split()))
    while spans.get(len(line), 0) > 0:
        spans[len(line)] -= 1
        line.append("")
    return line


def _span(page: Blocks, cell: int, name: str) -> int:
    value = ((page.given.get(cell) or {}).get(name) or "").strip()
    return max(1, min(int(value), 1_000)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _rows(page: Blocks, table: int) -> list[list[int]]:
    """The cells of each row of this very table."""
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
    return list(rows.values())


def _texts(page: Blocks, blocks: list[int], phrase: Phrase) -> dict[int, list[str]]:
    """The paragraphs of each cell."""
    found: dict[int, list[str]] = {}
    for number in blocks:
        start: list[Piece] = []
        owner = _cell_of(page, page.rows[number][0])
        for piece in page.pieces[number]:
            if isinstance(piece, tuple) and piece[0] == NEXT_CELL:
                if piece[1] >= 0:
                    found.setdefault(piece[1], []).append(phrase.line(start))
                    start = []
            else:
                start.append(piece)
        if start:
            found.setdefault(owner, []).append(phrase.line(start))
    return found


def _cell_of(page: Blocks, element: int) -> int:
    while element >= 0 and page.elements[element][1] not in CELLS:
        element = page.elements[element][0]
    return element
