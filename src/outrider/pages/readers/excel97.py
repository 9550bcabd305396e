"""Excel workbooks from before 2007, by xlrd: the cells by their formats, without any extra."""

import struct

from xlrd.sheet import Cell
from xlrd.sheet import Sheet as Table

from outrider.pages.document import Document
from outrider.pages.mime.container import BARE_WORKBOOK_STARTS
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.office97.compound_file import (
    COMPOUND_MAGIC,
    CompoundFile,
    CompoundFileError,
    read_properties,
)
from outrider.pages.readers.office97.xlrd_book import DamagedWorkbookError, EncryptedWorkbookError, XlrdBook
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, mark_end_missing
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells

TEXT_CELL, BOOLEAN_CELL, ERROR_CELL = 1, 4, 5  # types of a cell; of the others those above 1 are numbers and dates
ERROR_TEXTS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


def read_excel97(source: ReaderInput) -> Document:
    """The sheets in order, each with its name and its cells as tables, as workbooks of today are read.

    Raises:
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    kind_name = "Excel 97 workbook"
    if not source.body.startswith((COMPOUND_MAGIC, *BARE_WORKBOOK_STARTS)):
        raise build_broken_error(source, kind_name, "it does not begin as such a file does")
    try:
        records, known, cut = _open_workbook(source.body)
        book = XlrdBook(records)
        document = _build_document(DocumentDraft(source, "excel"), book, known)
        return mark_end_missing(document) if cut or book.is_cut else document
    except EncryptedWorkbookError:
        raise build_encrypted_error(source, kind_name) from None
    except (CompoundFileError, DamagedWorkbookError) as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise build_broken_error(source, kind_name, "it is damaged") from None


def _open_workbook(body: bytes) -> tuple[bytes, dict[str, str], bool]:
    """The records, the facts about the document, and whether the end of the records is missing."""
    stream_names = ("Workbook", "Book")  # of Excel 97, and of Excel 5 and 95
    properties_stream = "\x05SummaryInformation"
    if not body.startswith(COMPOUND_MAGIC):
        return body, {}, False
    files = CompoundFile(body)
    stream = next((each for each in stream_names if each in files), stream_names[0])
    return files.read(stream), read_properties(files.read(properties_stream)), files.is_truncated(stream)


def _build_document(draft: DocumentDraft, book: "XlrdBook", known: dict[str, str]) -> Document:
    codes, looks = book.list_formats()
    formats = NumberFormats(codes, looks, since_1904=book.datemode == 1)
    listed = book.sheets()
    names: list[str] = []
    lost, hidden = 0, sum(unseen for _, unseen in listed)
    for number, (name, unseen) in enumerate(listed):
        if draft.is_full or book.is_spent:
            draft.is_cut = True
            break
        if not unseen:
            names.append(name)
            lost += not _write_sheet(draft, book, number, formats)
    if names and lost == len(names):
        raise CompoundFileError("its sheets are damaged")
    if hidden:
        draft.hidden_count += hidden
        draft.add_block(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
    return draft.build_document(known, metadata={"sheets": names})


def _write_sheet(draft: DocumentDraft, book: "XlrdBook", number: int, formats: NumberFormats) -> bool:
    """Writes a sheet, as far as it is not damaged; whether there is any of it."""
    table, whole = book.read_sheet(number)
    _read_sheet(draft, table, formats).write(draft)
    if not whole and not book.is_spent:
        draft.add_block("(the rest of this sheet is damaged)")
    return whole or table.nrows > 0


def _read_sheet(draft: DocumentDraft, table: "Table", formats: NumberFormats) -> SheetCells:
    sheet = SheetCells(table.name, hidden_columns=_find_hidden_columns(table))
    hidden = {row for row, known in table.rowinfo_map.items() if known.hidden}
    shown = 0
    for row in range(table.nrows):
        if shown >= MAX_ROWS:
            sheet.more_rows = table.nrows - row
            break
        shown += table.row_len(row) > 0 and _put_row(sheet, row, table.row(row), formats, hidden=row in hidden)
    for top, bottom, left, right in table.merged_cells:
        sheet.merges.append((CellAddress(top + 1, left + 1), CellAddress(bottom, right)))
    for (row, column), link in table.hyperlink_map.items():
        if link.type == "url":
            _link(draft, sheet, row + 1, column + 1, link.url_or_path)
    for (row, column), note in sorted(table.cell_note_map.items()):
        if note.text.strip() and row not in hidden and column + 1 not in sheet.hidden_columns:
            sheet.comments.append((CellAddress(row + 1, column + 1).name, note.author.strip(), note.text))
    return sheet


def _put_row(sheet: SheetCells, row: int, cells: "list[Cell]", formats: NumberFormats, *, hidden: bool) -> bool:
    """Puts a row's cells; whether it has any."""
    texts = [(column, _format_cell(cell, formats), cell.ctype > TEXT_CELL) for column, cell in enumerate(cells)]
    told = [each for each in texts if each[1].strip()]
    if hidden:
        sheet.hidden_rows += bool(told)
        return bool(told)
    for column, text, typed in told:
        sheet.put_cell(CellAddress(row + 1, column + 1), text, typed=typed)
    return bool(told)


def _format_cell(cell: "Cell", formats: NumberFormats) -> str:
    if cell.ctype == BOOLEAN_CELL:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == ERROR_CELL:
        return ERROR_TEXTS.get(cell.value, "#?")
    return formats.format_number(repr(cell.value), str(cell.xf_index)) if isinstance(cell.value, float) else cell.value


def _find_hidden_columns(table: "Table") -> set[int]:
    """The columns that nobody sees, counted from 1. A range to the end hides no data: it trims what is seen."""
    max_columns = 256  # columns of a sheet
    known = table.colinfo_map
    last = known.get(max_columns - 1)
    return {column + 1 for column, each in known.items() if each.hidden and each is not last}


def _link(draft: DocumentDraft, sheet: SheetCells, row: int, column: int, address: str) -> None:
    text = sheet.rows.get(row, {}).get(column, "")
    found = draft.resolve_link(address, text) if text and "](" not in text else ""
    if found:
        sheet.rows[row][column] = f"[{text.replace('[', '(').replace(']', ')')}]({found})"


# By a process, though it crashes nothing: how long the library takes over a hostile file is not for us to bound.
reader = DocumentReader(
    "excel97",
    ("application/vnd.ms-excel",),
    read_excel97,
    suffixes=(".xls", ".xlt"),
    isolated=True,
    needs_whole_body=True,
    rank=40,
)
