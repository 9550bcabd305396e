"""Tables and sheets of OpenDocument (OASIS OpenDocument 1.3 part 3 section 9)."""

from collections.abc import Callable, Iterator

from outrider.pages.readers.parts.sheets.cells import Place, plain
from outrider.pages.readers.parts.sheets.sheet import ROWS, Sheet
from outrider.pages.readers.parts.writing import COLUMNS
from outrider.pages.readers.parts.xml import Element

GROUPS = frozenset({"table:table-header-rows", "table:table-rows", "table:table-row-group"})
CELLS = ("table:table-cell", "table:covered-table-cell")
HIDDEN = frozenset({"collapse", "filter"})
WIDEST = 16_384


def gathered(table: Element, name: str, words: Callable[[Element], str]) -> Sheet:
    """The cells of a table; `words` gives the text of a cell."""
    sheet = Sheet(name)
    number = taken = 0
    sheet.hidden_columns = _hidden_columns(table)
    for row in _rows(table):
        times = _times(row, "table:number-rows-repeated")
        filled = any(True for cell in row.each(*CELLS) if cell.children or cell.get("office:value-type"))
        if filled and taken >= ROWS:
            sheet.more_rows += times
        elif filled and row.get("table:visibility") in HIDDEN:
            sheet.hidden_rows += times
        elif filled:
            for at in range(min(times, ROWS - taken)):
                _row(sheet, row, number + at + 1, words)
            sheet.more_rows += max(0, times - (ROWS - taken))
            taken += min(times, ROWS - taken)
        number += times
    return sheet


def _rows(table: Element) -> Iterator[Element]:
    for child in table.elements():
        if child.name == "table:table-row":
            yield child
        elif child.name in GROUPS:
            yield from _rows(child)


def _row(sheet: Sheet, row: Element, number: int, words: Callable[[Element], str]) -> None:
    column = 0
    for cell in row.each(*CELLS):
        times = min(WIDEST, _times(cell, "table:number-columns-repeated"))
        text = _shown(cell, words) if cell.name == CELLS[0] else ""
        if text:
            typed = cell.get("office:value-type") not in ("", "string")
            for at in range(min(times, COLUMNS)):
                sheet.put(Place(number, column + at + 1), text, typed=typed)
            _merge(sheet, cell, Place(number, column + 1))
        for note in cell.each("office:annotation"):
            who = note.find("dc:creator")
            sheet.comments.append((Place(number, column + 1).name, who.text if who else "", words(note)))
        column += times


def _merge(sheet: Sheet, cell: Element, at: Place) -> None:
    rows, columns = _times(cell, "table:number-rows-spanned"), _times(cell, "table:number-columns-spanned")
    if rows > 1 or columns > 1:
        sheet.merges.append((at, Place(at.row + rows - 1, at.column + columns - 1)))


def _shown(cell: Element, words: Callable[[Element], str]) -> str:
    """Dates and numbers by their value, which no language writes differently; all else as it is shown."""
    kind = cell.get("office:value-type")
    if kind == "date":
        return cell.get("office:date-value").replace("T", " ")
    if kind == "float" and cell.get("office:value"):
        try:
            return plain(float(cell.get("office:value")))
        except ValueError:
            return cell.get("office:value")
    return words(cell) or (cell.get("office:string-value") if kind == "string" else "")


def _hidden_columns(table: Element) -> set[int]:
    found: set[int] = set()
    at = 0
    for column in table.all("table:table-column"):
        times = _times(column, "table:number-columns-repeated")
        if column.get("table:visibility") in HIDDEN and times < 1_000:
            found |= set(range(at + 1, at + times + 1))
        at += times
    return found


def _times(element: Element, name: str) -> int:
    given = element.get(name)
    return max(1, int(given)) if given.isascii() and given.isdigit() and len(given) < 9 else 1
