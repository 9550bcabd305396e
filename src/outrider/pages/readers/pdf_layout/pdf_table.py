"""A PDF table without rules: detect it, and build its head and its rows."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.table_columns import TableColumns, is_number

MAX_LINE_GAP_EM = 2.4  # a wider gap between lines ends the table
MIN_PROSE_CHARS = 28  # longer cells are lines of text
OPERATOR = re.compile(r"[=+±×∑∫]+")  # a separate cell in a formula
DOT_LEADERS = re.compile(r"(?:\s?\.){4,}\s*")


def is_special(line: PdfLine) -> bool:
    """Return whether a line is a table already, or never part of one."""
    return bool(line.table_rows) or line.rotated or line.monospaced


def merge_levels(lines: list[PdfLine]) -> list[PdfLine]:
    """Merge lines that are side by side, which programs write in any order."""
    max_cells = 200  # a level with more is a drawing
    levels: list[PdfLine] = []
    for line in lines:
        last = levels[-1] if levels else line
        is_beside = (
            len(last.cells) < max_cells
            and last.bottom < (line.bottom + line.top) / 2 < last.top
            and not any(
                cell.left < other.right and other.left < cell.right for cell in line.cells for other in last.cells
            )
        )
        if not levels or not is_beside:
            levels.append(line)
            continue
        cells = tuple(sorted((*last.cells, *line.cells), key=lambda cell: cell.left))
        bottom, top = min(last.bottom, line.bottom), max(last.top, line.top)
        levels[-1] = replace(last, cells=cells, bottom=bottom, top=top, bold=last.bold and line.bold)
    return levels


@dataclass
class PdfTable:
    """Lines from the top down that fit columns: rows, labels, and further lines of cells."""

    lines: list[PdfLine]
    columns: TableColumns

    def __post_init__(self) -> None:
        self.size = self.lines[0].size
        self.rows = [line for line in self.lines if len(line.cells) > 1]
        numeric_rows = sum(map(_is_numeric_row, self.rows))
        self.is_numeric = 2 * numeric_rows >= len(self.rows)  # labels followed by numbers only
        self.cells = [cell for line in self.rows for cell in line.cells]
        gaps = sorted(above.bottom - below.top for above, below in pairwise(self.lines))
        self.row_gap = gaps[3 * len(gaps) // 4] if gaps else 0.0  # the widest of the usual gaps
        self.by_column: list[list[PdfCell]] = [[] for _ in self.columns.spans]
        for line in self.lines:
            for place, cell in zip(self.columns.place_cells(line) or [], line.cells, strict=False):
                self.by_column[place].append(cell)

    @cached_property
    def is_prose(self) -> bool:
        """Return whether two columns or most cells are lines of text."""
        is_long = median(len(cell.text) for cell in self.cells) > MIN_PROSE_CHARS
        return is_long or sum(length > MIN_PROSE_CHARS for length in self._median_lengths) > 1

    @property
    def is_text(self) -> bool:
        """Return whether lines are two columns of text that are painted alternately."""
        min_rows, min_chars = 6, 20
        lengths = self._median_lengths
        return self.is_prose and len(lengths) == 2 and min(lengths) > min_chars and len(self.rows) >= min_rows

    @cached_property
    def _median_lengths(self) -> list[float]:
        return [median(len(cell.text) for cell in cells) for cells in self.by_column if cells]

    @property
    def is_table(self) -> bool:
        """Return whether the rows are many and full enough, and hold neither text, formulas nor a list."""
        min_numeric_share = 0.3
        formulas = sum(any(OPERATOR.fullmatch(cell.text) for cell in line.cells) for line in self.rows)
        if self._is_sparse or self._is_list or 2 * formulas >= len(self.rows):
            return False
        if self.has_head:
            return True
        numbers = sum(map(is_number, self.cells))
        is_numeric = self.is_numeric or numbers >= min_numeric_share * len(self.cells)
        return not self.is_prose and (is_numeric or len(self.rows) == len(self.lines))

    @property
    def _is_sparse(self) -> bool:
        """Return whether it has too few rows or cells, or many lone numbers."""
        max_tick_share = 0.2
        rows, width = self.rows, len(self.columns.spans)
        has_numbers = any(is_number(line.cells[-1]) for line in rows)
        # Two addresses next to each other also have three rows.
        min_rows = 2 if width > 2 else 3 if has_numbers or self.has_head else 4
        is_short = len(rows) < min_rows or (len(rows) == 2 and len(self.cells) < 2 * width)
        filled = sum(2 * len(line.cells) > width for line in rows)
        ticks = sum(len(line.cells) == 1 and is_number(line.cells[0]) for line in self.lines)
        return (
            is_short
            or 2 * len(self.cells) < len(rows) * width
            or 2 * filled < len(rows)
            or ticks > max_tick_share * len(self.lines)
        )

    @property
    def _is_list(self) -> bool:
        """Return whether two columns are a table of contents, or short labels with text."""
        max_label_chars = 4
        if len(self.columns.spans) > 2:
            return False
        has_labels = max(len(line.cells[0].text) for line in self.rows) <= max_label_chars
        has_text = median(len(line.cells[-1].text) for line in self.rows) > MIN_PROSE_CHARS
        return (has_labels and has_text) or any(DOT_LEADERS.search(line.text) for line in self.rows)

    @property
    def has_head(self) -> bool:
        """Return whether the first line is short words; above two columns it must be bold or underlined."""
        max_median_chars = 20
        first = self.lines[0]
        lengths = sorted(len(cell.text) for cell in first.cells)
        return (
            len(first.cells) >= 3 - (first.bold or first.underlined)
            and lengths[len(lengths) // 2] <= max_median_chars
            and not any(map(is_number, first.cells))
        )

    def split_columns(self) -> list[PdfLine]:
        """Return the lines of each column one after the other."""
        return [
            replace(line, cells=(cell,), hyphenated=False)
            for column in range(len(self.columns.spans))
            for line in self.lines
            for place, cell in zip(self.columns.place_cells(line) or [0] * len(line.cells), line.cells, strict=True)
            if place == column
        ]

    def take_heads(self, above: list[PdfLine]) -> tuple[list[PdfLine], list[PdfLine]]:
        """Return the lines above the columns, and labels between them and the rows."""
        max_labels, max_label_chars = 2, 60
        below, heads, labels = self.lines[0], list[PdfLine](), list[PdfLine]()
        numbers = [cell for row in self.rows for cell in row.cells[1:] if is_number(cell)]
        edge = min((cell.left for cell in numbers), default=self.columns.lefts[1])
        left, right = self.columns.lefts[0] - below.size, self.columns.rights[-1] + below.size
        for line in reversed(above):
            if line.right < left or line.left > right:
                continue
            is_near = line.bottom - below.top < MAX_LINE_GAP_EM * below.size and line.top > below.bottom
            is_label = len(line.cells) == 1 and not is_special(line) and len(line.text) <= max_label_chars
            if is_near and line.right > edge and self._is_head(line):
                heads.insert(0, line)
            elif is_near and is_label and not heads and len(labels) < max_labels:
                labels.insert(0, line)
            else:
                break
            below = line
        is_below_head = not any(map(is_number, self.lines[0].cells)) or (self._count_inner_heads() and not labels)
        is_head = is_below_head or any(len(line.cells) > 1 for line in heads)
        return (heads, labels) if heads and is_head else ([], [])

    def _is_head(self, line: PdfLine) -> bool:
        """Return whether a line's cells are short, within the table, and not only over its first column."""
        max_cell_chars = 40
        slack = 4 * line.size
        return (
            not is_special(line)
            and all(len(cell.text) <= max_cell_chars for cell in line.cells)
            and (len(line.cells) > 1 or line.left > self.columns.lefts[0])
            and self.columns.lefts[0] - slack < line.left
            and line.right < self.columns.rights[-1] + slack
        )

    def _count_inner_heads(self) -> int:
        """Count the first lines that are headings over several columns or without a label."""
        max_heads = 4
        is_labeled = all(
            (self.columns.place_cells(row) or [1])[0] == 0 and not is_number(row.cells[0]) for row in self.rows[1:]
        )
        width = len(self.columns.spans)
        for count, line in enumerate(self.lines[:-1]):
            is_unlabeled = is_labeled and 0 not in (self.columns.place_cells(line) or [0])
            if count == max_heads or (not is_unlabeled and any(map(is_number, line.cells))):
                return count % max_heads
            if is_unlabeled and len(line.cells) + 1 == width:
                return count + 1
            if len(line.cells) == width:
                return count + 1 if count and self.is_numeric else count
        return 0

    def build_line(self, heads: list[PdfLine], labels: list[PdfLine]) -> PdfLine:
        """Return the table as one line."""
        inner = 0 if labels or len(self.lines[0].cells) == 1 else self._count_inner_heads()
        heads, body = [*heads, *self.lines[:inner]], [*labels, *self.lines[inner:]]
        rows = [*self._build_head(merge_levels(heads)), *self._build_rows(body)]
        lines = [*heads, *body]
        cell = PdfCell("", min(line.left for line in lines), max(line.right for line in lines))
        bottom, top = min(line.bottom for line in lines), max(line.top for line in lines)
        return PdfLine((cell,), bottom, top, self.lines[-1].size, table_rows=tuple(map(tuple, rows)))

    def _build_head(self, levels: list[PdfLine]) -> list[list[str]]:
        """Return the rows of the head; a line that closely follows one without spans continues it."""
        max_gap_em = 0.5
        rows: list[list[str]] = []
        has_span = False
        for above, line in zip([None, *levels], levels, strict=False):
            texts = self.columns.spread_head(line.cells)
            is_close = above is not None and above.bottom - line.top < max_gap_em * line.size
            has_numbers = any(map(is_number, line.cells))
            is_over_all = bool(rows) and len(set(rows[-1][1:])) == 1  # a date above its years, for instance
            if rows and is_close and ((has_numbers and is_over_all) or not (has_span or has_numbers)):
                rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], texts, strict=True)]
            else:
                rows.append(texts)
            has_span = sum(map(bool, texts)) > len(line.cells)
        return rows

    def _build_rows(self, body: list[PdfLine]) -> list[list[str]]:
        """Return the rows, lines that continue a cell joined with it."""
        rows: list[list[str]] = []
        label_start = ""  # lines of a label whose numbers follow
        edges_sum = self.columns.lefts[0] + self.columns.rights[-1]
        for above, line, following in zip([None, *body], body, [*body[1:], None], strict=False):
            fitting = self.columns.place_cells(line)
            places = fitting or [self._find_nearest(cell) for cell in line.cells]
            texts = [""] * len(self.columns.spans)
            for place, cell in zip(places, line.cells, strict=True):
                texts[place] = f"{texts[place]} {cell.text}".strip()
            # What is centered over several columns names the rows below it.
            is_section = not fitting and len(line.cells) == 1 and abs(line.left + line.right - edges_sum) < line.size
            is_continuation = bool(rows and above and not label_start and not is_section) and self._is_continuation(
                above, line, rows[-1], places
            )
            is_label = self.is_numeric and places == [0] and not is_continuation and following is not None
            if is_label and self._is_label_full(body, line, following):
                label_start = f"{label_start} {line.text}".strip()
            elif is_continuation:
                rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], texts, strict=True)]
            else:
                texts[0] = f"{label_start} {texts[0]}".strip()
                label_start = ""
                rows.append(texts)
        return rows

    def _find_nearest(self, cell: PdfCell) -> int:
        return min(range(len(self.columns.lefts)), key=lambda at: abs(self.columns.lefts[at] - cell.left))

    def _is_continuation(self, above: PdfLine, line: PdfLine, row: list[str], places: list[int]) -> bool:
        """Return whether a line continues the row above: some cells continue, others only begin."""
        max_row_gap_em, max_label_gap_em, min_gap_share, max_tight_share = 0.75, 0.6, 0.75, 0.5
        gap = above.bottom - line.top
        if self.is_numeric:
            return places == [0] and line.text[:1].islower() and gap < max_label_gap_em * line.size
        is_full_row = len(places) == len(self.columns.spans) and gap > min_gap_share * self.row_gap
        if gap > max_row_gap_em * self.size or is_full_row:
            return False
        over = dict(zip(self.columns.place_cells(above) or [], above.cells, strict=False))
        continued = {
            place
            for place, cell in zip(places, line.cells, strict=True)
            if (before := over.get(place)) and self._is_cell_continuation(before, cell, place)
        }
        # Lines much closer than rows also continue numbers, if another column has text.
        if gap < max_tight_share * self.row_gap and any(len(cell.text) > MIN_PROSE_CHARS for cell in self.cells):
            return bool(continued) or (set(places) <= set(over) and len(places) < len(row))
        return bool(continued) and all(place in continued or not row[place] for place in places)

    def _is_cell_continuation(self, before: PdfCell, cell: PdfCell, place: int) -> bool:
        """Return whether a cell of text wraps because its first word had no room above."""
        min_prose_chars = 25
        lefts, cells = self.columns.lefts, self.by_column[place]
        end = lefts[place + 1] if place + 1 < len(lefts) else self.columns.rights[-1] + self.size
        if any(len(other.text) >= min_prose_chars for other in cells):  # a column of text ends with its longest line
            end = min(end, max(other.right for other in cells) + self.size)
        is_full = before.right + _measure_first_word(cell) > end - 1.5 * self.size
        is_aligned = abs(before.left - cell.left) <= self.size
        return is_full and is_aligned and not is_number(cell) and not is_number(before)

    def _is_label_full(self, body: list[PdfLine], line: PdfLine, following: PdfLine) -> bool:
        """Return whether a label continues in the next line, whose first word had no room in it."""
        label = following.cells[0]
        if label.text[:1].islower() or line.hyphenated:
            return True
        widest = max(row.cells[0].right for row in body)
        is_full = line.right + _measure_first_word(label) > widest
        return is_full and line.text[-1] not in ".:" and not line.bold and self._is_wrapped(body, line, following)

    def _is_wrapped(self, body: list[PdfLine], line: PdfLine, following: PdfLine) -> bool:
        """Return whether a label continues in the next line, by its distance or length."""
        max_gap_share, min_label_em = 0.75, 16.0  # shorter labels name a part of the table
        heights = sorted(
            above.top - below.top for above, below in pairwise(body) if all(map(_is_numeric_row, (above, below)))
        )
        if heights and line.top - following.top < max_gap_share * heights[len(heights) // 2]:
            return True
        is_long = line.right - line.left >= min_label_em * self.size
        ends = (row.cells[0].right for row in body if _is_numeric_row(row))
        return is_long and max(ends, default=0.0) >= line.right - 2 * self.size


def _is_numeric_row(line: PdfLine) -> bool:
    return len(line.cells) > 1 and not is_number(line.cells[0]) and all(map(is_number, line.cells[1:]))


def _measure_first_word(cell: PdfCell) -> float:
    """Return the width of a cell's first word with a space."""
    char_width = (cell.right - cell.left) / max(1, len(cell.text))
    return (len(cell.text.split(" ", 1)[0]) + 1) * char_width
