"""Find PDF tables without rules whose cells have several lines, by their header.

Lines below a row of short, separate words belong to its table as long as none crosses from one column into the next.
A line continues the row above if it follows a full line of its cell: one in which the next word had no room.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

NUMBER_CELL = re.compile(r"[\d.,:%€$£+−–()/ -]+")


@dataclass
class TableLevel:
    """The cells at one height by their column, and that height."""

    cells: dict[int, PdfCell]
    bottom: float
    top: float


def merge_borderless_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """Replace the lines of each such table by one line that holds its rows."""
    max_headers = 40
    min_levels = 3
    max_cell_chars = 1_500
    max_first_cell_chars = 60  # of tables with two columns
    for header in [line for line in lines if _is_table_header(line)][:max_headers]:
        if not any(line is header for line in lines):  # it is part of a table that was found before
            continue
        table = _BorderlessTable(header, max(line.right for line in lines))
        candidates = [line for line in lines if line is not header and line.top <= header.bottom + 0.3 * header.size]
        inside = table.take_lines(candidates)
        rows = table.build_rows()
        # Tables whose cells all have one line are found by their gaps instead.
        if len(table.levels) < min_levels or len(rows) == len(table.levels) or len(rows) < 2:
            continue
        longest, longest_first = max(len(cell) for row in rows for cell in row), max(len(row[0]) for row in rows)
        # Longer cells are columns of text.
        if longest > max_cell_chars or (len(rows[0]) <= 2 and longest_first > max_first_cell_chars):
            continue
        table_line = PdfLine(
            (PdfCell("", header.left, max(line.right for line in (header, *inside))),),
            min(level.bottom for level in table.levels),
            header.top,
            header.size,
            table_rows=tuple(tuple(row) for row in rows),
        )
        replaced = {id(line) for line in inside}
        lines = [table_line if line is header else line for line in lines if id(line) not in replaced]
    return lines


def _is_table_header(line: PdfLine) -> bool:
    max_median_chars = 20
    # Two columns are mostly text beside text, unless their head is set off.
    min_columns, max_columns = 3, 60  # a line of more cells is a drawing
    lengths = sorted(len(cell.text) for cell in line.cells)
    return (
        min_columns - (line.bold or line.underlined) <= len(line.cells) <= max_columns
        and not (line.monospaced or line.table_rows or line.rotated or line.hyphenated)
        and lengths[len(lengths) // 2] <= max_median_chars
        and not any(NUMBER_CELL.fullmatch(cell.text) for cell in line.cells)
    )


class _BorderlessTable:
    """The lines below a header, as far as they form a table."""

    def __init__(self, header: PdfLine, page_right: float) -> None:
        self._headers = sorted(header.cells, key=lambda cell: cell.left)
        self._size = header.size
        self._column_ends = [*(cell.left for cell in self._headers[1:]), page_right + self._size]
        self.levels = [TableLevel(dict(enumerate(self._headers)), header.bottom, header.top)]

    def take_lines(self, lines: list[PdfLine]) -> list[PdfLine]:
        """Add lines from the top down until one does not fit; return those that were added."""
        max_line_gap_em = 2.2
        taken: list[PdfLine] = []
        for line in sorted(lines, key=lambda line: -line.top):
            last = self.levels[-1]
            if last.bottom - line.top > max_line_gap_em * self._size or line.table_rows or line.rotated:
                break
            cells = {column: cell for cell in line.cells if (column := self._find_column(cell)) is not None}
            if len(cells) < len(line.cells):
                break
            middle = (line.bottom + line.top) / 2
            if last.bottom < middle < last.top and not set(cells) & set(last.cells):
                last.cells |= cells
            else:
                self.levels.append(TableLevel(cells, line.bottom, line.top))
            taken.append(line)
        return taken

    def build_rows(self) -> list[list[str]]:
        """Return the rows, the lines of each cell joined."""
        min_prose_chars = 25
        column_ends: list[float] = []
        for column, end in enumerate(self._column_ends):
            cells = [level.cells[column] for level in self.levels if column in level.cells]
            # A column of prose ends with its longest line.
            has_prose = any(len(cell.text) >= min_prose_chars for cell in cells)
            column_ends.append(min(end, max(cell.right for cell in cells) + self._size) if has_prose else end)
        self._column_ends = column_ends
        rows: list[dict[int, str]] = []
        for previous, level in pairwise([self.levels[0], *self.levels]):
            if rows and previous is not level and self._is_row_continuation(previous, level, rows[-1]):
                for column, cell in level.cells.items():
                    rows[-1][column] = f"{rows[-1].get(column, '')} {cell.text}".strip()
            else:
                rows.append({column: cell.text for column, cell in level.cells.items()})
        return [[row.get(column, "") for column in range(len(self._headers))] for row in rows]

    def _find_column(self, cell: PdfCell) -> int | None:
        """Return the column of a cell; None if it is outside of all, or crosses into the next."""
        tolerance_em = 1.0  # by which a cell may begin left of its header
        under = [
            column
            for column, header in enumerate(self._headers)
            if cell.left < header.right and cell.right > header.left
        ]
        if len(under) == 1:
            return under[0]
        slack = tolerance_em * self._size
        for column, (header, end) in enumerate(zip(self._headers, self._column_ends, strict=True)):
            if not under and header.left - slack <= cell.left and cell.right <= end - 0.2 * self._size:
                return column
        return None

    def _is_row_continuation(self, previous: TableLevel, level: TableLevel, row: dict[int, str]) -> bool:
        """Return whether a level continues the row above: some cells go on, others only begin."""
        max_row_gap_em = 0.75
        if previous.bottom - level.top > max_row_gap_em * self._size:
            return False
        continued: set[int] = set()
        for column, cell in level.cells.items():
            above = previous.cells.get(column)
            if above is None or NUMBER_CELL.fullmatch(cell.text) or NUMBER_CELL.fullmatch(above.text):
                continue
            # A cell goes on where its line's first word had no room in the line above.
            char_width = (cell.right - cell.left) / max(1, len(cell.text))
            word_chars = len(cell.text.split(" ", 1)[0]) + 1
            is_full = above.right + word_chars * char_width > self._column_ends[column] - 1.5 * self._size
            if is_full and abs(above.left - cell.left) <= self._size:
                continued.add(column)
        return bool(continued) and all(column in continued or not row.get(column) for column in level.cells)
