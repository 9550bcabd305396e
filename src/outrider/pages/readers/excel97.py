"""Excel workbooks from before 2007, by xlrd: the cells by their formats, without any extra."""

import struct

from xlrd.sheet import Cell
from xlrd.sheet import Sheet as Table

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.office97.compound import MAGIC, BrokenCompound, Compound, facts
from outrider.pages.readers.parts.office97.excel import Book, Damaged, Locked
from outrider.pages.readers.parts.refusals import broken, encrypted, without_end
from outrider.pages.readers.parts.sheets.cells import Formats, Place
from outrider.pages.readers.parts.sheets.sheet import ROWS, Sheet
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.sniffing.container import BARE_WORKBOOKS

KIND = "Excel 97 workbook"
PROPERTIES = "\x05SummaryInformation"
STREAMS = ("Workbook", "Book")  # of Excel 97, and of Excel 5 and 95
WIDEST = 256  # columns of a sheet
TEXT, TRUTH, WRONG = 1, 4, 5  # types of a cell; of the others those above 1 are numbers and dates
ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


def read(source: Source) -> Document:
    """The sheets in order, each with its name and its cells as tables, as workbooks of today are read.

    Raises:
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    if not source.body.startswith((MAGIC, *BARE_WORKBOOKS)):
        raise broken(source, KIND, "it does not begin as such a file does")
    try:
        records, known, cut = _unpacked(source.body)
        book = Book(records)
        document = _document(Draft(source, "excel"), book, known)
        return without_end(document) if cut or book.cut else document
    except Locked:
        raise encrypted(source, KIND) from None
    except (BrokenCompound, Damaged) as error:
        raise broken(source, KIND, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise broken(source, KIND, "it is damaged") from None


def _unpacked(body: bytes) -> tuple[bytes, dict[str, str], bool]:
    """The records, the facts about the document, and whether the end of the records is missing."""
    if not body.startswith(MAGIC):
        return body, {}, False
    files = Compound(body)
    stream = next((each for each in STREAMS if each in files), STREAMS[0])
    return files.read(stream), facts(files.read(PROPERTIES)), files.lacks(stream)


def _document(draft: Draft, book: "Book", known: dict[str, str]) -> Document:
    codes, looks = book.formats()
    formats = Formats(codes, looks, since_1904=book.datemode == 1)
    listed = book.sheets()
    names: list[str] = []
    lost, hidden = 0, sum(unseen for _, unseen in listed)
    for number, (name, unseen) in enumerate(listed):
        if draft.full or book.spent:
            draft.cut = True
            break
        if not unseen:
            names.append(name)
            lost += not _write(draft, book, number, formats)
    if names and lost == len(names):
        raise BrokenCompound("its sheets are damaged")
    if hidden:
        draft.hidden += hidden
        draft.add(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
    return draft.document(known, metadata={"sheets": names})


def _write(draft: Draft, book: "Book", number: int, formats: Formats) -> bool:
    """Writes a sheet, as far as it is not damaged; whether there is any of it."""
    table, whole = book.table(number)
    _sheet(draft, table, formats).write(draft)
    if not whole and not book.spent:
        draft.add("(the rest of this sheet is damaged)")
    return whole or table.nrows > 0


def _sheet(draft: Draft, table: "Table", formats: Formats) -> Sheet:
    sheet = Sheet(table.name, hidden_columns=_hidden_columns(table))
    hidden = {row for row, known in table.rowinfo_map.items() if known.hidden}
    shown = 0
    for row in range(table.nrows):
        if shown >= ROWS:
            sheet.more_rows = table.nrows - row
            break
        shown += table.row_len(row) > 0 and _row(sheet, row, table.row(row), formats, hidden=row in hidden)
    for top, bottom, left, right in table.merged_cells:
        sheet.merges.append((Place(top + 1, left + 1), Place(bottom, right)))
    for (row, column), link in table.hyperlink_map.items():
        if link.type == "url":
            _link(draft, sheet, row + 1, column + 1, link.url_or_path)
    for (row, column), note in sorted(table.cell_note_map.items()):
        if note.text.strip() and row not in hidden and column + 1 not in sheet.hidden_columns:
            sheet.comments.append((Place(row + 1, column + 1).name, note.author.strip(), note.text))
    return sheet


def _row(sheet: Sheet, row: int, cells: "list[Cell]", formats: Formats, *, hidden: bool) -> bool:
    """Puts a row's cells; whether it has any."""
    texts = [(column, _text(cell, formats), cell.ctype > TEXT) for column, cell in enumerate(cells)]
    told = [each for each in texts if each[1].strip()]
    if hidden:
        sheet.hidden_rows += bool(told)
        return bool(told)
    for column, text, typed in told:
        sheet.put(Place(row + 1, column + 1), text, typed=typed)
    return bool(told)


def _text(cell: "Cell", formats: Formats) -> str:
    if cell.ctype == TRUTH:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == WRONG:
        return ERRORS.get(cell.value, "#?")
    return formats.shown(repr(cell.value), str(cell.xf_index)) if isinstance(cell.value, float) else cell.value


def _hidden_columns(table: "Table") -> set[int]:
    """The columns that nobody sees, counted from 1. A range to the end hides no data: it trims what is seen."""
    known = table.colinfo_map
    last = known.get(WIDEST - 1)
    return {column + 1 for column, each in known.items() if each.hidden and each is not last}


def _link(draft: Draft, sheet: Sheet, row: int, column: int, address: str) -> None:
    text = sheet.rows.get(row, {}).get(column, "")
    found = draft.address(address, text) if text and "](" not in text else ""
    if found:
        sheet.rows[row][column] = f"[{text.replace('[', '(').replace(']', ')')}]({found})"


# By a process, though it crashes nothing: how long the library takes over a hostile file is not for us to bound.
reader = Reader(
    "excel97", ("application/vnd.ms-excel",), read, suffixes=(".xls", ".xlt"), isolated=True, whole=True, rank=40
)
