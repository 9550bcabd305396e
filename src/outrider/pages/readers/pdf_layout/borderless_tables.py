"""Tables of a PDF page without rules whose cells are broken over lines: told by their head and what stands under it.

The lines under a row of short words that stand apart are its table as long as none of them crosses from
one column into the next. A line goes on in the row above where it stands right under a line of its cell
that was full: where the next word would not have fitted in.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

NUMBER_CELL = re.compile(r"[\d.,:%€$£+−–()/ -]+")


@dataclass
class TableLevel:
    """What stands on one height: its cells by their column, and where it stands."""

    cells: dict[int, PdfCell]
    bottom: float
    top: float


def merge_borderless_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines, those of such tables as one line each that holds the rows."""
    max_heads = 40  # of one page that are tried
    tried = 0
    for head in [line for line in lines if _is_table_head(line)]:
        tried += 1
        if tried > max_heads or not any(line is head for line in lines):
            continue
        lines = _replace_table(lines, head)
    return lines


def _is_table_head(line: PdfLine) -> bool:
    max_head_chars = 20  # characters that half of the cells of a head have at most
    # Two columns are mostly text beside text, unless their head is set off.
    min_columns = 3
    lengths = sorted(len(cell.text) for cell in line.cells)
    return (
        len(line.cells) >= min_columns - (line.bold or line.underlined)
        and not (line.monospaced or line.table_rows or line.rotated or line.hyphenated)
        and lengths[len(lengths) // 2] <= max_head_chars
        and not any(NUMBER_CELL.fullmatch(cell.text) for cell in line.cells)
    )


def _replace_table(lines: list[PdfLine], head: PdfLine) -> list[PdfLine]:
    min_levels = 3  # heights that a table has at least, its head included
    table = _BorderlessTable(head, max(line.right for line in lines))
    inside = table.take_lines(
        [line for line in lines if line is not head and line.top <= head.bottom + 0.3 * head.size]
    )
    rows = table.build_rows()
    if len(table.levels) < min_levels or len(rows) == len(table.levels) or len(rows) < 2 or not _has_table_cells(rows):
        return lines  # where no cell is broken, gaps tell the table
    box = table.levels
    made = PdfLine(
        (PdfCell("", head.left, max(line.right for line in (head, *inside))),),
        min(level.bottom for level in box),
        head.top,
        head.size,
        table_rows=tuple(tuple(row) for row in rows),
    )
    gone = {id(line) for line in inside}
    return [made if line is head else line for line in lines if id(line) not in gone]


def _has_table_cells(rows: list[list[str]]) -> bool:
    """Whether no cell is as long as a column of text, nor a first one as long as prose where there are two."""
    max_cell_chars = 1_500  # characters of a cell: what holds more is a column of text
    max_first_cell_chars = 60  # characters of a first cell, of two columns
    longest = max(len(cell) for row in rows for cell in row)
    return longest <= max_cell_chars and (len(rows[0]) > 2 or max(len(row[0]) for row in rows) <= max_first_cell_chars)


class _BorderlessTable:
    """Takes the lines under a head, from the top down."""

    def __init__(self, head: PdfLine, edge: float) -> None:
        cells = sorted(head.cells, key=lambda cell: cell.left)
        self._size = head.size
        self._heads = cells
        self._column_ends = [*(cell.left for cell in cells[1:]), edge + self._size]
        self.levels = [TableLevel(dict(enumerate(cells)), head.bottom, head.top)]

    def take_lines(self, lines: list[PdfLine]) -> list[PdfLine]:
        """The lines that belong to the table."""
        max_line_gap_em = 2.2  # of the type size: a wider gap between lines ends the table
        taken: list[PdfLine] = []
        for line in sorted(lines, key=lambda line: -line.top):
            places = {self._find_column(cell): cell for cell in line.cells}
            last = self.levels[-1]
            if last.bottom - line.top > max_line_gap_em * self._size:
                break
            if None in places or len(places) < len(line.cells) or line.table_rows or line.rotated:
                break
            middle = (line.bottom + line.top) / 2
            if last.bottom < middle < last.top and not set(places) & set(last.cells):
                last.cells |= {column: cell for column, cell in places.items() if column is not None}
            else:
                cells = {column: cell for column, cell in places.items() if column is not None}
                self.levels.append(TableLevel(cells, line.bottom, line.top))
            taken.append(line)
        return taken

    def build_rows(self) -> list[list[str]]:
        """The rows, the lines of each cell joined."""
        self._column_ends = [self._find_column_end(column) for column in range(len(self._heads))]
        made: list[dict[int, str]] = []
        for before, level in pairwise([self.levels[0], *self.levels]):
            if made and before is not level and self._is_row_continuation(before, level, made[-1]):
                for column, cell in level.cells.items():
                    made[-1][column] = f"{made[-1].get(column, '')} {cell.text}".strip()
            else:
                made.append({column: cell.text for column, cell in level.cells.items()})
        return [[row.get(column, "") for column in range(len(self._heads))] for row in made]

    def _find_column(self, cell: PdfCell) -> int | None:
        """The column that a cell stands in; None if it stands in none, or goes over to the next."""
        tolerance_em = 1.0  # of the type size by which what stands under a head may begin elsewhere
        under = [at for at, head in enumerate(self._heads) if cell.left < head.right and cell.right > head.left]
        if len(under) == 1:
            return under[0]
        slack = tolerance_em * self._size
        for at, (head, end) in enumerate(zip(self._heads, self._column_ends, strict=True)):
            if not under and head.left - slack <= cell.left and cell.right <= end - 0.2 * self._size:
                return at
        return None

    def _find_column_end(self, column: int) -> float:
        """How far right the cells of a column reach; where they hold prose, its longest line tells it."""
        min_prose_chars = 25  # characters of a cell that is broken rather than short
        cells = [level.cells[column] for level in self.levels if column in level.cells]
        prose = any(len(cell.text) >= min_prose_chars for cell in cells)
        return (
            min(self._column_ends[column], max(cell.right for cell in cells) + self._size)
            if prose
            else self._column_ends[column]
        )

    def _is_row_continuation(self, before: TableLevel, level: TableLevel, row: dict[int, str]) -> bool:
        """Whether what stands on a height belongs to the row above it: cells that go on, and some that begin late."""
        max_row_gap_em = 0.75  # of the type size: a wider gap between lines begins a row
        if before.bottom - level.top > max_row_gap_em * self._size:
            return False
        going = {
            column
            for column, cell in level.cells.items()
            if column in before.cells and self._is_line_full(before.cells[column], cell, column)
        }
        return bool(going) and all(column in going or not row.get(column) for column in level.cells)

    def _is_line_full(self, above: PdfCell, cell: PdfCell, column: int) -> bool:
        """Whether the first word of a cell's line had no room behind the line above."""
        if (
            NUMBER_CELL.fullmatch(cell.text)
            or NUMBER_CELL.fullmatch(above.text)
            or abs(above.left - cell.left) > self._size
        ):
            return False
        letter = (cell.right - cell.left) / max(1, len(cell.text))
        word = len(cell.text.split(" ", 1)[0]) + 1
        return above.right + word * letter > self._column_ends[column] - 1.5 * self._size
