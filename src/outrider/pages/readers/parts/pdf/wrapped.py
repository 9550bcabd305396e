"""Tables of a PDF page without rules whose cells are broken over lines: told by their head and what stands under it.

The lines under a row of short words that stand apart are its table as long as none of them crosses from
one column into the next. A line goes on in the row above where it stands right under a line of its cell
that was full: where the next word would not have fitted in.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from outrider.pages.readers.parts.pdf.line import Cell, Line

COLUMNS = (
    3  # fewer are text beside text more often than a table, unless their head is set off and their first cells short
)
FIRST = 60  # characters of a first cell, of two columns
LONGEST = 1_500  # characters of a cell: what holds more is a column of text
SHORT = 20  # characters that half of the cells of a head have at most
LEVELS = 3  # heights that a table has at least, its head included
TOLERANCE = 1.0  # of the type size by which what stands under a head may begin elsewhere
APART = 2.2  # of the type size: a wider gap between lines ends the table
PROSE = 25  # characters of a cell that is broken rather than short
CLOSE = 0.75  # of the type size: a wider gap between lines begins a row
NUMBER = re.compile(r"[\d.,:%€$£+−–()/ -]+")
HEADS = 40  # of one page that are tried


@dataclass
class Level:
    """What stands on one height: its cells by their column, and where it stands."""

    cells: dict[int, Cell]
    bottom: float
    top: float


def wrapped(lines: list[Line]) -> list[Line]:
    """The lines, those of such tables as one line each that holds the rows."""
    tried = 0
    for head in [line for line in lines if _is_head(line)]:
        tried += 1
        if tried > HEADS or not any(line is head for line in lines):
            continue
        lines = _with_table(lines, head)
    return lines


def _is_head(line: Line) -> bool:
    lengths = sorted(len(cell.text) for cell in line.cells)
    return (
        len(line.cells) >= COLUMNS - (line.bold or line.ruled)
        and not (line.mono or line.rows or line.aslant or line.hyphenated)
        and lengths[len(lengths) // 2] <= SHORT
        and not any(NUMBER.fullmatch(cell.text) for cell in line.cells)
    )


def _with_table(lines: list[Line], head: Line) -> list[Line]:
    table = _Table(head, max(line.right for line in lines))
    inside = table.take([line for line in lines if line is not head and line.top <= head.bottom + 0.3 * head.size])
    rows = table.rows()
    if len(table.levels) < LEVELS or len(rows) == len(table.levels) or len(rows) < 2 or not _is_table(rows):
        return lines  # where no cell is broken, gaps tell the table
    box = table.levels
    made = Line(
        (Cell("", head.left, max(line.right for line in (head, *inside))),),
        min(level.bottom for level in box),
        head.top,
        head.size,
        rows=tuple(tuple(row) for row in rows),
    )
    gone = {id(line) for line in inside}
    return [made if line is head else line for line in lines if id(line) not in gone]


def _is_table(rows: list[list[str]]) -> bool:
    """Whether no cell is as long as a column of text, nor a first one as long as prose where there are two."""
    longest = max(len(cell) for row in rows for cell in row)
    return longest <= LONGEST and (len(rows[0]) > 2 or max(len(row[0]) for row in rows) <= FIRST)


class _Table:
    """Takes the lines under a head, from the top down."""

    def __init__(self, head: Line, edge: float) -> None:
        cells = sorted(head.cells, key=lambda cell: cell.left)
        self._size = head.size
        self._heads = cells
        self._ends = [*(cell.left for cell in cells[1:]), edge + self._size]
        self.levels = [Level(dict(enumerate(cells)), head.bottom, head.top)]

    def take(self, lines: list[Line]) -> list[Line]:
        """The lines that belong to the table."""
        taken: list[Line] = []
        for line in sorted(lines, key=lambda line: -line.top):
            places = {self._column(cell): cell for cell in line.cells}
            last = self.levels[-1]
            if last.bottom - line.top > APART * self._size:
                break
            if None in places or len(places) < len(line.cells) or line.rows or line.aslant:
                break
            middle = (line.bottom + line.top) / 2
            if last.bottom < middle < last.top and not set(places) & set(last.cells):
                last.cells |= {column: cell for column, cell in places.items() if column is not None}
            else:
                cells = {column: cell for column, cell in places.items() if column is not None}
                self.levels.append(Level(cells, line.bottom, line.top))
            taken.append(line)
        return taken

    def rows(self) -> list[list[str]]:
        """The rows, the lines of each cell joined."""
        self._ends = [self._end(column) for column in range(len(self._heads))]
        made: list[dict[int, str]] = []
        for before, level in pairwise([self.levels[0], *self.levels]):
            if made and before is not level and self._goes_on(before, level, made[-1]):
                for column, cell in level.cells.items():
                    made[-1][column] = f"{made[-1].get(column, '')} {cell.text}".strip()
            else:
                made.append({column: cell.text for column, cell in level.cells.items()})
        return [[row.get(column, "") for column in range(len(self._heads))] for row in made]

    def _column(self, cell: Cell) -> int | None:
        """The column that a cell stands in; None if it stands in none, or goes over to the next."""
        under = [at for at, head in enumerate(self._heads) if cell.left < head.right and cell.right > head.left]
        if len(under) == 1:
            return under[0]
        slack = TOLERANCE * self._size
        for at, (head, end) in enumerate(zip(self._heads, self._ends, strict=True)):
            if not under and head.left - slack <= cell.left and cell.right <= end - 0.2 * self._size:
                return at
        return None

    def _end(self, column: int) -> float:
        """How far right the cells of a column reach; where they hold prose, its longest line tells it."""
        cells = [level.cells[column] for level in self.levels if column in level.cells]
        prose = any(len(cell.text) >= PROSE for cell in cells)
        return min(self._ends[column], max(cell.right for cell in cells) + self._size) if prose else self._ends[column]

    def _goes_on(self, before: Level, level: Level, row: dict[int, str]) -> bool:
        """Whether what stands on a height belongs to the row above it: cells that go on, and some that begin late."""
        if before.bottom - level.top > CLOSE * self._size:
            return False
        going = {
            column
            for column, cell in level.cells.items()
            if column in before.cells and self._is_full(before.cells[column], cell, column)
        }
        return bool(going) and all(column in going or not row.get(column) for column in level.cells)

    def _is_full(self, above: Cell, cell: Cell, column: int) -> bool:
        """Whether the first word of a cell's line had no room behind the line above."""
        if NUMBER.fullmatch(cell.text) or NUMBER.fullmatch(above.text) or abs(above.left - cell.left) > self._size:
            return False
        letter = (cell.right - cell.left) / max(1, len(cell.text))
        word = len(cell.text.split(" ", 1)[0]) + 1
        return above.right + word * letter > self._ends[column] - 1.5 * self._size
