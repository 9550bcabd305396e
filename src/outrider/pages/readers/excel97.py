"""Read Excel 5, 95 and 97-2003 workbooks with xlrd.

Cells are shown in their formats.
"""

import struct

from xlrd.biffh import XL_CELL_BOOLEAN, XL_CELL_ERROR, XL_CELL_TEXT, error_text_from_code
from xlrd.sheet import Cell, Sheet

from outrider.core.errors import Refused
from outrider.pages.document import Document
from outrider.pages.mime.container import BARE_WORKBOOK_STARTS
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.office97.compound_file import (
    COMPOUND_MAGIC,
    CompoundFile,
    CompoundFileError,
    read_properties,
)
from outrider.pages.readers.office97.xlrd_book import (
    DamagedWorkbookError,
    EncryptedWorkbookError,
    OldWorkbookError,
    XlrdBook,
)
from outrider.pages.readers.parsing.draft import DocumentDraft, format_link
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, mark_end_missing
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells, report_hidden_sheets


def read_excel97(source: ReaderInput) -> Document:
    """Return each sheet's name and its cells as tables, as for xlsx workbooks.

    Raises:
        Refused: code `encrypted`, or `unreadable_type` for a workbook of Excel 4 or earlier.
        Unavailable: code `broken_file`.
    """
    kind_name = "Excel 97 workbook"
    if not source.body.startswith((COMPOUND_MAGIC, *BARE_WORKBOOK_STARTS)):
        raise build_broken_error(source, kind_name, "it does not start like a file of this format")
    try:
        records, facts, cut = source.body, dict[str, str](), False
        if records.startswith(COMPOUND_MAGIC):
            files = CompoundFile(source.body)
            stream = "Book" if "Book" in files and "Workbook" not in files else "Workbook"  # Excel 5 and 95 say Book
            records, cut = files.read(stream), files.is_truncated(stream)
            facts = read_properties(files.read("\x05SummaryInformation"))
        book = XlrdBook(records)
        document = _build_document(DocumentDraft(source, "excel"), book, facts)
        return mark_end_missing(document) if cut or book.is_cut else document
    except EncryptedWorkbookError:
        raise build_encrypted_error(source, kind_name) from None
    except OldWorkbookError:
        raise Refused(
            f"{source.url or 'this'} is a workbook of Excel 4 or earlier, which cannot be read",
            code="unreadable_type",
            hint="open it in LibreOffice and save it as .xlsx, or look for such a copy",
        ) from None
    except (CompoundFileError, DamagedWorkbookError) as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise build_broken_error(source, kind_name, "it is damaged") from None


def _build_document(draft: DocumentDraft, book: XlrdBook, facts: dict[str, str]) -> Document:
    codes, format_numbers = book.list_formats()
    formats = NumberFormats(codes, format_numbers, since_1904=book.datemode == 1)
    sheets = book.sheets()
    names: list[str] = []
    lost_sheets = 0
    for number, (name, is_hidden) in enumerate(sheets):
        if draft.is_full or book.is_spent:
            draft.is_cut = True
            break
        if is_hidden:
            continue
        names.append(name)
        sheet, is_whole = book.read_sheet(number)
        _read_sheet(draft, sheet, formats).write(draft)
        if not is_whole and not book.is_spent:
            draft.add_block("(the rest of this sheet is damaged)")
        lost_sheets += not is_whole and not sheet.nrows
    if names and lost_sheets == len(names):
        raise CompoundFileError("its sheets are damaged")
    report_hidden_sheets(draft, sum(is_hidden for _, is_hidden in sheets))
    return draft.build_document(facts, metadata={"sheets": names})


def _read_sheet(draft: DocumentDraft, sheet: Sheet, formats: NumberFormats) -> SheetCells:
    columns = sheet.colinfo_map
    # Hidden columns up to the last of 256 hold no data: people trim the visible area that way.
    trimmed = columns.get(255)
    hidden_columns = {number + 1 for number, column in columns.items() if column.hidden and column is not trimmed}
    cells = SheetCells(sheet.name, hidden_columns=hidden_columns)
    hidden_rows = {number for number, row in sheet.rowinfo_map.items() if row.hidden}
    row_count = 0
    for row in range(sheet.nrows):
        if row_count >= MAX_ROWS:
            cells.more_rows = sheet.nrows - row
            break
        row_count += sheet.row_len(row) > 0 and _put_row(cells, row, sheet.row(row), formats, hidden=row in hidden_rows)
    for top, bottom, left, right in sheet.merged_cells:
        cells.merges.append((CellAddress(top + 1, left + 1), CellAddress(bottom, right)))
    for (row, column), link in sheet.hyperlink_map.items():
        text = cells.rows.get(row + 1, {}).get(column + 1, "")
        if link.type == "url" and text and "](" not in text and (url := draft.resolve_link(link.url_or_path, text)):
            cells.rows[row + 1][column + 1] = format_link(text, url)
    for (row, column), note in sorted(sheet.cell_note_map.items()):
        if note.text.strip() and row not in hidden_rows and column + 1 not in hidden_columns:
            cells.comments.append((CellAddress(row + 1, column + 1).name, note.author.strip(), note.text))
    return cells


def _put_row(sheet: SheetCells, row: int, cells: list[Cell], formats: NumberFormats, *, hidden: bool) -> bool:
    """Put a row's cells into the sheet, or count it as hidden; return whether it holds any text."""
    filled: list[tuple[int, str, bool]] = []
    for column, cell in enumerate(cells, 1):
        text = cell.value
        if cell.ctype == XL_CELL_BOOLEAN:
            text = "TRUE" if cell.value else "FALSE"
        elif cell.ctype == XL_CELL_ERROR:
            text = error_text_from_code.get(cell.value, "#?")
        elif isinstance(cell.value, float):
            text = formats.format_number(repr(cell.value), str(cell.xf_index))
        if text.strip():
            filled.append((column, text, cell.ctype > XL_CELL_TEXT))
    if hidden:
        sheet.hidden_rows += bool(filled)
        return bool(filled)
    for column, text, typed in filled:
        sheet.put_cell(CellAddress(row + 1, column), text, typed=typed)
    return bool(filled)


# Isolated although it cannot crash: the library's time for a hostile file has no limit.
reader = DocumentReader(
    "excel97",
    ("application/vnd.ms-excel",),
    read_excel97,
    suffixes=(".xls", ".xlt"),
    isolated=True,
    needs_whole_body=True,
    rank=40,
)
