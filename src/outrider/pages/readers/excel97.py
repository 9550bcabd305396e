"""Excel workbooks from before 2007 (MS-XLS, BIFF8): the cells by their formats, without any extra.

Files of Excel 95 and before, which are rare, are left to the extra.
"""

import struct

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers import legacy
from outrider.pages.readers.parts.cells import Formats, Place
from outrider.pages.readers.parts.compound import MAGIC, BrokenCompound, Compound, facts
from outrider.pages.readers.parts.refusals import broken, encrypted, without_end
from outrider.pages.readers.parts.sheet import ROWS, Sheet
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xls_binary import BIFF8, Book, Table

KIND = "Excel 97 workbook"
PROPERTIES = "\x05SummaryInformation"
WIDEST = 256  # columns of a sheet


def read(source: Source) -> Document:
    """The sheets in order, each with its name and its cells as tables, as workbooks of today are read.

    Raises:
        NotConfigured: code `missing_extra`, for a file of Excel 95 or before without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    if not source.body.startswith(MAGIC):
        raise broken(source, KIND, "it does not begin as such a file does")
    try:
        files = Compound(source.body)
        if "Workbook" not in files:
            return legacy.read(source)
        book = Book(files)
        if book.encrypted:
            raise encrypted(source, KIND)
        if book.version != BIFF8:
            return legacy.read(source)
        document = _document(Draft(source, "excel"), book, facts(files.read(PROPERTIES)))
        return without_end(document) if files.lacks("Workbook") else document
    except (BrokenCompound, ValueError, IndexError, struct.error) as error:
        raise broken(source, KIND, str(error) if isinstance(error, BrokenCompound) else "it is damaged") from None


def _document(draft: Draft, book: Book, known: dict[str, str]) -> Document:
    formats = Formats(book.codes, book.looks, since_1904=book.since_1904)
    names: list[str] = []
    hidden = sum(table.hidden for table in book.tables)
    for table in book.tables:
        if draft.full:
            draft.cut = True
            break
        if not table.hidden:
            names.append(table.name)
            _sheet(draft, book, table, formats).write(draft)
    if hidden:
        draft.hidden += hidden
        draft.add(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
    return draft.document(known, metadata={"sheets": names})


def _sheet(draft: Draft, book: Book, table: Table, formats: Formats) -> Sheet:
    """The sheet; what it tells of its rows and columns may come behind their cells."""
    sheet = Sheet(table.name)
    cells = _gathered(sheet, book, table, formats)
    hidden = table.hidden_rows & {at.row - 1 for at in cells}
    sheet.hidden_rows = len(hidden)
    for first, end in table.hidden_columns:
        sheet.hidden_columns |= set(range(first + 1, end + 2)) if end < WIDEST - 1 else set()
    for at in sorted(cells):
        if at.row - 1 not in hidden:
            sheet.put(at, cells[at][0], typed=cells[at][1])
    for top, bottom, left, right in table.merges:
        sheet.merges.append((Place(top + 1, left + 1), Place(bottom + 1, right + 1)))
    for row, column, address in table.links:
        _link(draft, sheet, row + 1, column + 1, address)
    return sheet


def _gathered(sheet: Sheet, book: Book, table: Table, formats: Formats) -> dict[Place, tuple[str, bool]]:
    """The texts of the first 5,000 rows that hold something, and whether each is a number or a date."""
    found: dict[Place, tuple[str, bool]] = {}
    rows, last = set[int](), 0
    for cell in book.cells(table):
        if cell.row not in rows and len(rows) >= ROWS:
            sheet.more_rows = max(sheet.more_rows, cell.row - last)
            continue
        text = cell.value if isinstance(cell.value, str) else formats.shown(repr(cell.value), str(cell.look))
        if not text.strip() or cell.column >= WIDEST:
            continue
        rows.add(cell.row)
        last = max(last, cell.row)
        found[Place(cell.row + 1, cell.column + 1)] = text, cell.typed
    return found


def _link(draft: Draft, sheet: Sheet, row: int, column: int, address: str) -> None:
    text = sheet.rows.get(row, {}).get(column, "")
    found = draft.address(address, text) if text and "](" not in text else ""
    if found:
        sheet.rows[row][column] = f"[{text.replace('[', '(').replace(']', ')')}]({found})"


reader = Reader("excel97", ("application/vnd.ms-excel",), read, suffixes=(".xls", ".xlt"), whole=True, rank=40)
