"""Find PDF tables without rules that hold numbers, such as financial statements.

Their rows have a label and numbers that are aligned on the right. Labels may have several lines, some stand alone as
headings of sections, and the header has years or periods and nothing above the labels. So the numbers identify the
table: lines between two numeric rows that are below the labels belong to it, and so do lines above that are over the
numbers.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

NUMERIC_CELL = re.compile(r"[-–—−]|n/?[am]|(?=.*\d)[\s$€£¥%()+\-–−.,'’\d*]{1,24}(?:%|x|bn|m|k|pp)?[)*]?", re.IGNORECASE)
CURRENCY_SIGN = re.compile(r"[$€£¥]\s*\(?")
CLOSING_SIGNS = re.compile(r"[)%*]{1,3}")
MIN_NUMERIC_COLUMNS = 2
MAX_LINE_GAP_EM = 2.4  # a wider gap between lines ends the table
MAX_LABEL_LINES = 3  # consecutive lines without numbers
MAX_LABEL_CHARS = 160


def merge_numeric_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """Replace the lines of each such table by one line that holds its rows."""
    merged: list[PdfLine] = []
    lines = [_join_number_signs(line) for line in lines]
    index = 0
    while index < len(lines):
        table = _NumericTable(lines, index) if _is_numeric_row(lines[index]) else None
        if table is None or not table.is_table:
            # A long run of plain rows is one for all of its rows, which need not be tried one by one.
            end = max(index + 1, table.end - MIN_NUMERIC_COLUMNS) if table else index + 1
            merged += lines[index:end]
            index = end
            continue
        headers = table.take_header_lines(merged)
        del merged[len(merged) - table.lines_above :]
        merged.append(table.build_line(headers))
        index = table.end
    return merged


def _join_number_signs(line: PdfLine) -> PdfLine:
    """Join currency signs and closing brackets with the numbers that they belong to."""
    if len(line.cells) < MIN_NUMERIC_COLUMNS + 1 or line.table_rows:
        return line
    cells: list[PdfCell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        if last and len(cells) > 1 and (CURRENCY_SIGN.fullmatch(last.text) or CLOSING_SIGNS.fullmatch(cell.text)):
            cells[-1] = PdfCell(f"{last.text}{cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _is_numeric_row(line: PdfLine) -> bool:
    """Return whether a line has a label, at least two numbers after it, and nothing else."""
    return (
        len(line.cells) > MIN_NUMERIC_COLUMNS
        and not (line.table_rows or line.rotated or line.monospaced)
        and not NUMERIC_CELL.fullmatch(line.cells[0].text)
        and len(line.cells[0].text) <= MAX_LABEL_CHARS
        and all(NUMERIC_CELL.fullmatch(cell.text) for cell in line.cells[1:])
    )


@dataclass
class _NumericTable:
    """A numeric row, and the lines that follow as far as they form a table."""

    lines: list[PdfLine]
    start: int
    end: int = 0
    taken: list[PdfLine] = field(default_factory=list)
    right_edges: list[float] = field(default_factory=list)  # of the columns of numbers
    lines_above: int = 0  # how many lines above the start belong to it

    def __post_init__(self) -> None:
        first = self.lines[self.start]
        self.size, self.label = first.size, first.cells[0].left
        labels: list[PdfLine] = []  # lines without numbers since the last numeric row
        for line in self.lines[self.start :]:
            last = (labels or self.taken or [line])[-1]
            if line is not first and not 0 <= last.bottom - line.top + self.size < (1 + MAX_LINE_GAP_EM) * self.size:
                break
            if _is_numeric_row(line) and self._is_aligned(line):
                self.taken += [*labels, line]
                labels = []
            elif self._is_label_line(line) and len(labels) < MAX_LABEL_LINES:
                labels.append(line)
            else:
                break
        if labels and self.taken and _is_label_continuation(labels[0], self.taken[-1]):
            self.taken.append(labels[0])
        self.end = self.start + len(self.taken)
        numbers = [cell for line in self.taken if _is_numeric_row(line) for cell in line.cells[1:]]
        self.left_edges = list(self.right_edges)
        found: set[int] = set()
        for cell in numbers:
            column = self._find_column(cell)
            self.left_edges[column] = min(self.left_edges[column], cell.left) if column in found else cell.left
            found.add(column)

    @property
    def is_table(self) -> bool:
        """Return whether it has three numeric rows, and a line without numbers, which gaps cannot handle."""
        min_rows = 3
        rows = sum(_is_numeric_row(line) for line in self.taken)
        previous = self.lines[self.start - 1] if self.start else None
        return rows >= min_rows and (rows < len(self.taken) or (previous is not None and self._is_label_line(previous)))

    def _is_aligned(self, line: PdfLine) -> bool:
        """Return whether a line's numbers end at the columns' edges; a fuller line redefines the columns."""
        max_misalignment_em = 1.1  # a closing bracket hangs over
        ends = [cell.right for cell in line.cells[1:]]
        if not self.right_edges:
            self.right_edges = ends
            return True
        slack = max_misalignment_em * self.size
        if all(min(abs(end - edge) for edge in self.right_edges) <= slack for end in ends):
            return True
        if all(min(abs(end - edge) for end in ends) <= slack for edge in self.right_edges):
            self.right_edges = ends
            return True
        return False

    def _is_label_line(self, line: PdfLine) -> bool:
        """Return whether a line is below the labels and ends before the numbers."""
        max_indent_em = 6.0
        return (
            len(line.cells) == 1
            and not (line.table_rows or line.rotated or line.monospaced)
            and abs(line.left - self.label) <= max_indent_em * self.size
            and line.right < self.right_edges[0] - self.size
            and len(line.text) <= MAX_LABEL_CHARS
            and abs(line.size - self.size) <= 0.2 * self.size
        )

    def _find_column(self, cell: PdfCell) -> int:
        return min(range(len(self.right_edges)), key=lambda column: abs(self.right_edges[column] - cell.right))

    def take_header_lines(self, previous: list[PdfLine]) -> list[PdfLine]:
        """Return the lines above the numbers; labels between them and the first row become rows."""
        max_header_lines = 3
        labels = self._take_lines_above(previous, self.taken[0], self._is_label_line, MAX_LABEL_LINES)
        rest = previous[: len(previous) - len(labels)]
        headers = self._take_lines_above(rest, (labels or self.taken)[0], self._is_header_line, max_header_lines)
        if not any(len(line.cells) > 1 for line in headers):
            headers = []
            labels = labels[-1:] if labels and self._is_label_full(labels[-1], self.taken[0]) else []
        self.taken = [*labels, *self.taken]
        self.lines_above = len(labels) + len(headers)
        return headers

    def _take_lines_above(
        self, previous: list[PdfLine], below: PdfLine, fits: Callable[[PdfLine], bool], limit: int
    ) -> list[PdfLine]:
        """Return the last lines that fit, each close above the next."""
        taken: list[PdfLine] = []
        for line in reversed(previous[-limit:]):
            if not 0 <= line.bottom - below.top + self.size < (1 + MAX_LINE_GAP_EM) * self.size or not fits(line):
                break
            taken.insert(0, line)
            below = line
        return taken

    def _is_header_line(self, line: PdfLine) -> bool:
        """Return whether all cells but one are short and above the numbers."""
        max_cell_chars = 40
        first = min(self.left_edges)
        left = first - min(4 * self.size, max(self.size, 0.5 * (first - self.label)))  # labels may be narrow
        over = [cell for cell in line.cells if cell.right > left]
        return (
            bool(over)
            and not (line.table_rows or line.rotated or line.monospaced)
            and all(len(cell.text) <= max_cell_chars for cell in line.cells)
            and len(line.cells) - len(over) <= 1
            and all(cell.left > left for cell in over)
        )

    def build_line(self, headers: list[PdfLine]) -> PdfLine:
        """Return the table as one line."""
        header_row = [""] * (len(self.right_edges) + 1)
        for line in headers:
            for column, text in self._spread_header_cells(line).items():
                header_row[column] = f"{header_row[column]} {text}".strip()
        rows = [header_row, *self._build_rows()]
        lines = [*headers, *self.taken]
        cell = PdfCell("", min(line.left for line in lines), max(line.right for line in lines))
        bottom, top = min(line.bottom for line in lines), max(line.top for line in lines)
        return PdfLine((cell,), bottom, top, self.size, table_rows=tuple(map(tuple, rows)))

    def _spread_header_cells(self, line: PdfLine) -> dict[int, str]:
        """Return a header line's texts by the columns below them; 0 is the column of labels.

        A cell above several columns is repeated in each.
        """
        low, high = min(self.left_edges), max(self.right_edges)
        left = low - self.size
        texts = {0: " ".join(cell.text for cell in line.cells if cell.right < left)}
        over = [cell for cell in line.cells if cell.right >= left]
        centers = [(low + high) / 2 for low, high in zip(self.left_edges, self.right_edges, strict=True)]
        if len(over) >= len(centers) or len(over) * 2 > len(centers) + 1:
            for cell in over:
                nearest = min(range(len(centers)), key=lambda column: abs(centers[column] - _compute_center(cell)))
                texts[nearest + 1] = f"{texts.get(nearest + 1, '')} {cell.text}".strip()
            return texts
        for column, center in enumerate(centers, 1):
            cell = min(over, key=lambda header: abs(_compute_center(header) - center))
            is_over = cell.left < self.right_edges[column - 1] and cell.right > self.left_edges[column - 1]
            # A line's only cell is above all columns if it is centered.
            is_centered = abs(_compute_center(cell) - (low + high) / 2) < 0.15 * (high - low)
            if len(over) > 1 or is_centered or is_over:
                texts[column] = cell.text
        return texts

    def _build_rows(self) -> list[list[str]]:
        rows: list[list[str]] = []
        label_start = ""  # lines of a label whose numbers follow
        empty = [""] * len(self.right_edges)
        for index, line in enumerate(self.taken):
            following = self.taken[index + 1] if index + 1 < len(self.taken) else None
            if _is_numeric_row(line):
                row = [f"{label_start} {line.cells[0].text}".strip(), *empty]
                for cell in line.cells[1:]:
                    row[self._find_column(cell) + 1] = cell.text
                rows.append(row)
                label_start = ""
            elif rows and not label_start and _is_label_continuation(line, self.taken[index - 1]):
                rows[-1][0] += f" {line.text}"
            elif following is not None and self._is_label_full(line, following):
                label_start = f"{label_start} {line.text}".strip()
            else:
                rows.append([f"{label_start} {line.text}".strip(), *empty])
                label_start = ""
        return rows

    def _is_label_full(self, line: PdfLine, following: PdfLine) -> bool:
        """Return whether the next line's first word had no room in a label's line."""
        label = following.cells[0]
        if label.text[:1].islower() or line.hyphenated:
            return True
        widest = max(row.cells[0].right for row in self.taken)
        char_width = (label.right - label.left) / max(1, len(label.text))
        word_chars = len(label.text.split(" ", 1)[0]) + 1
        is_full = line.right + word_chars * char_width > widest and line.text[-1] not in ".:" and not line.bold
        return is_full and self._is_wrapped(line, following)

    def _is_wrapped(self, line: PdfLine, following: PdfLine) -> bool:
        """Return whether a label is closer to the next line than rows are, or long and no wider than those of rows."""
        max_gap_share = 0.75
        rows = [row for row in self.taken if _is_numeric_row(row)]
        heights = sorted(above.top - below.top for above, below in pairwise(self.taken) if {above, below} <= set(rows))
        if heights and line.top - following.top < max_gap_share * heights[len(heights) // 2]:
            return True
        min_label_em = 16.0  # shorter labels name a part of the table
        is_long = line.right - line.left >= min_label_em * self.size
        return is_long and max(row.cells[0].right for row in rows) >= line.right - 2 * self.size


def _is_label_continuation(line: PdfLine, above: PdfLine) -> bool:
    """Return whether a line continues the label above: it begins in lower case and follows closely."""
    return line.text[:1].islower() and above.bottom - line.top < 0.6 * line.size


def _compute_center(cell: PdfCell) -> float:
    return (cell.left + cell.right) / 2
