"""Read tables and sheets of OpenDocument.

OASIS OpenDocument 1.3 part 3 section 9.
"""

from collections.abc import Callable, Iterator

from outrider.pages.readers.parsing.draft import MAX_COLUMNS
from outrider.pages.readers.parsing.xml import XmlElement
from outrider.pages.readers.spreadsheet.cells import CellAddress, format_plain_number
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells

CELL_ELEMENTS = ("table:table-cell", "table:covered-table-cell")
FILLED_CELLS = (XmlElement(CELL_ELEMENTS[0], {"office:value-type": "string"}),)  # of all rows that are only counted
HIDDEN_VISIBILITIES = frozenset({"collapse", "filter"})


class RowShortener:
    """Drops the cells of rows past those that are shown, while a table is parsed."""

    def __init__(self) -> None:
        self._filled_rows = 0

    def shorten(self, element: XmlElement) -> None:
        """Drop the content of a row past the bound, but keep whether it is filled."""
        if element.name == "table:table":
            self._filled_rows = 0
        elif element.name == "table:table-row" and _is_filled(element):
            self._filled_rows += 1
            if self._filled_rows > MAX_ROWS:
                element.children = FILLED_CELLS


def read_table(table: XmlElement, name: str, get_text: Callable[[XmlElement], str]) -> SheetCells:
    """Return the cells of a table; `get_text` returns an element's text."""
    sheet = SheetCells(name)
    number = cell_count = 0
    column = 0
    for element in table.iter_descendants("table:table-column"):
        times = _parse_repeat(element, "table:number-columns-repeated")
        # Hidden columns up to the end of the sheet hold no data: people trim the visible area that way.
        if element.get("table:visibility") in HIDDEN_VISIBILITIES and times < 1_000:
            sheet.hidden_columns |= set(range(column + 1, column + times + 1))
        column += times
    for row in _iter_rows(table):
        times = _parse_repeat(row, "table:number-rows-repeated")
        filled = _is_filled(row)
        if filled and cell_count >= MAX_ROWS:
            sheet.more_rows += times
        elif filled and row.get("table:visibility") in HIDDEN_VISIBILITIES:
            sheet.hidden_rows += times
        elif filled:
            for repeat in range(min(times, MAX_ROWS - cell_count)):
                _read_row(sheet, row, number + repeat + 1, get_text)
            sheet.more_rows += max(0, times - (MAX_ROWS - cell_count))
            cell_count += min(times, MAX_ROWS - cell_count)
        number += times
    return sheet


def _is_filled(row: XmlElement) -> bool:
    return any(cell.children or cell.get("office:value-type") for cell in row.iter_named(*CELL_ELEMENTS))


def _iter_rows(table: XmlElement) -> Iterator[XmlElement]:
    row_groups = frozenset({"table:table-header-rows", "table:table-rows", "table:table-row-group"})
    for child in table.iter_children():
        if child.name == "table:table-row":
            yield child
        elif child.name in row_groups:
            yield from _iter_rows(child)


def _read_row(sheet: SheetCells, row: XmlElement, number: int, get_text: Callable[[XmlElement], str]) -> None:
    max_repeats = 16_384
    column = 0
    for cell in row.iter_named(*CELL_ELEMENTS):
        times = min(max_repeats, _parse_repeat(cell, "table:number-columns-repeated"))
        text = _format_cell(cell, get_text) if cell.name == CELL_ELEMENTS[0] else ""
        address = CellAddress(number, column + 1)
        if text:
            typed = cell.get("office:value-type") not in ("", "string")
            for repeat in range(min(times, MAX_COLUMNS)):
                sheet.put_cell(CellAddress(number, column + repeat + 1), text, typed=typed)
            rows = _parse_repeat(cell, "table:number-rows-spanned")
            columns = _parse_repeat(cell, "table:number-columns-spanned")
            if rows > 1 or columns > 1:
                sheet.merges.append((address, CellAddress(number + rows - 1, column + columns)))
        for note in cell.iter_named("office:annotation"):
            author = note.find("dc:creator")
            sheet.comments.append((address.name, author.text if author else "", get_text(note)))
        column += times


def _format_cell(cell: XmlElement, get_text: Callable[[XmlElement], str]) -> str:
    """Format dates and numbers by their stored value, others as shown.

    Stored values are the same in all languages.
    """
    kind = cell.get("office:value-type")
    if kind == "date":
        return cell.get("office:date-value").replace("T", " ")
    if kind == "float" and cell.get("office:value"):
        try:
            return format_plain_number(float(cell.get("office:value")))
        except ValueError:
            return cell.get("office:value")
    return get_text(cell) or (cell.get("office:string-value") if kind == "string" else "")


def _parse_repeat(element: XmlElement, name: str) -> int:
    count = element.get(name)
    return max(1, int(count)) if count.isascii() and count.isdigit() and len(count) < 9 else 1
