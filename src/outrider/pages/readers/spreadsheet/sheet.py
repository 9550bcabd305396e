"""Collect the cells of one sheet and write them as tables."""

import re
from array import array
from dataclasses import dataclass, field

from outrider.pages.readers.parsing.draft import MAX_COLUMNS, DocumentDraft
from outrider.pages.readers.spreadsheet.cells import CellAddress, parse_address

MAX_ROWS = 5_000
MAX_MERGES = 5_000  # merged areas of a sheet whose cells are filled
DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d-\d\d.*)?$")  # also a year


def report_hidden_sheets(draft: DocumentDraft, count: int) -> None:
    """Add a notice about hidden sheets that were left out, and count them as hidden."""
    if count:
        draft.hidden_count += count
        draft.add_block(f"({count} hidden sheet{'s' if count > 1 else ''} left out)")


@dataclass
class SheetCells:
    """The shown cells of a sheet by row and column, both counted from 1.

    `typed_columns` are those of numbers and dates in each row: a row that holds some is not a table's header.
    Cells past `chars_left` are left out, because a few bytes of a workbook can repeat a long text in a million cells.
    """

    name: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    typed_columns: dict[int, "array[int]"] = field(default_factory=dict)
    merges: list[tuple[CellAddress, CellAddress]] = field(default_factory=list)
    comments: list[tuple[str, str, str]] = field(default_factory=list)
    more_rows: int = 0
    hidden_rows: int = 0
    hidden_row_numbers: set[int] = field(default_factory=set)  # of rows whose comments are stored elsewhere
    hidden_columns: set[int] = field(default_factory=set)
    chars_left: int = 5_000_000

    def put_cell(self, at: CellAddress, text: str, *, typed: bool = False) -> None:
        """Store a cell's text unless its column is hidden."""
        max_cell_chars = 32_767  # Excel's own limit
        text = text[:max_cell_chars].strip()
        if text and at.column not in self.hidden_columns and self.chars_left > 0:
            self.chars_left -= len(text)
            self.rows.setdefault(at.row, {})[at.column] = text
            if typed:
                self.typed_columns.setdefault(at.row, array("L")).append(at.column)

    def write(self, draft: DocumentDraft) -> None:
        """Write the sheet: name, titles, tables, comments, and counts of omitted parts."""
        draft.add_heading(2, self.name)
        self.fill_merged()
        # Empty rows separate tables, except where values continue under the same columns.
        blocks: list[list[int]] = []
        for row in sorted(self.rows):
            if blocks and (row == blocks[-1][-1] + 1 or self._is_block_continuation(blocks[-1], row)):
                blocks[-1].append(row)
            else:
                blocks.append([row])
        for block in blocks:
            columns = sorted({column for number in block for column in self.rows[number]})
            start = 0
            while len(columns) > 1 and start < len(block) and len(self.rows[block[start]]) == 1:
                draft.add_block(next(iter(self.rows[block[start]].values())))
                start += 1
            used = sorted({column for number in block[start:] for column in self.rows[number]})
            span = list(range(used[0], used[-1] + 1)) if used and used[-1] - used[0] < 3 * MAX_COLUMNS else used
            rows = [[self.rows[number].get(column, "") for column in span] for number in block[start:]]
            draft.add_table(rows, has_head=self._has_head(block[start:]))
        draft.is_cut = draft.is_cut or self.chars_left <= 0
        if self.more_rows > 0:
            draft.add_block(f"(… {self.more_rows} more rows of this sheet were not read)")
        left_out = [
            f"{number} hidden {word}{'s' if number > 1 else ''}"
            for number, word in ((self.hidden_rows, "row"), (len(self.hidden_columns), "column"))
            if number
        ]
        if left_out:
            draft.hidden_count += self.hidden_rows + len(self.hidden_columns)
            draft.add_block(f"({' and '.join(left_out)} left out)")
        self.write_comments(draft)

    def write_comments(self, draft: DocumentDraft) -> None:
        """Write the comments as quotes; those of hidden cells are left out and counted."""
        for cell, author, text in self.comments:
            at = parse_address(cell)
            if at and (at.row in self.hidden_row_numbers or at.column in self.hidden_columns):
                draft.hidden_count += 1
            else:
                draft.add_quote(f"Comment at {cell}{f' by {author}' if author else ''}: {' '.join(text.split())}")

    def fill_merged(self) -> None:
        """Repeat merged text in each of its cells.

        A title over the whole width is written once.
        """
        cells_left = MAX_ROWS * MAX_COLUMNS  # to look at, since merged areas may overlap
        width = len({column for row in self.rows.values() for column in row})
        for first, last in self.merges[:MAX_MERGES]:
            text = self.rows.get(first.row, {}).get(first.column, "")
            columns = min(last.column - first.column + 1, MAX_COLUMNS)
            if not text or columns >= max(2, width):
                continue
            for row in range(first.row, min(last.row, first.row + MAX_ROWS) + 1):
                cells_left -= columns
                if cells_left < 0 or self.chars_left <= 0:
                    return
                if row != first.row and row not in self.rows:
                    continue
                for column in range(first.column, first.column + columns):
                    if column not in self.hidden_columns and column not in self.rows[row]:
                        self.rows[row][column] = text
                        self.chars_left -= len(text)

    def _find_typed(self, row: int) -> set[int]:
        return set(self.typed_columns.get(row, ()))

    def _has_head(self, block: list[int]) -> bool:
        """Return whether the first row differs from the second: a number or a date below one like it is data."""
        if len(block) < 2:
            return True
        first, second = (self.rows[number] for number in block[:2])
        typed = self._find_typed(block[0]) & self._find_typed(block[1])
        return not any(bool(DATE.match(first[column])) == bool(DATE.match(second[column])) for column in typed)

    def _is_block_continuation(self, block: list[int], row: int) -> bool:
        """Return whether a row after a gap has values, each below a word of the block's header."""
        head = next((self.rows[number] for number in block if len(self.rows[number]) > 1), {})
        is_below_head = len(block) > 1 and len(head) > 1 and set(self.rows[row]) <= set(head)
        if self._find_typed(row):
            return is_below_head
        # Text alone continues after one empty row if there were only texts so far, in the same number of columns.
        if not is_below_head or row != block[-1] + 2 or set(self.rows[row]) != set(head):
            return False
        return not any(self._find_typed(number) & head.keys() for number in block)
