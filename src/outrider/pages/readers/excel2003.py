"""Read XML Spreadsheet 2003 workbooks, often served as `.xls`."""

from outrider.pages.document import Document
from outrider.pages.mime.container import WORKBOOK_2003_TYPE
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG
from outrider.pages.readers.parsing.draft import DocumentDraft, format_link
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells, report_hidden_sheets

MAX_SHEET_COLUMNS = 16_384


def read_excel2003(source: ReaderInput) -> Document:
    """Return each sheet's name and its cells as tables, as for xlsx workbooks.

    Raises:
        Unavailable: code `broken_file`.
    """
    fact_elements = {"title": "o:Title", "author": "o:Author", "description": "o:Subject", "published": "o:Created"}
    kind_name = "XML workbook"
    budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
    try:
        root = parse_tree(source.body, budget, _RowShortener().shorten)
    except MalformedXML as error:
        raise build_broken_error(source, kind_name, f"it is malformed ({error})") from None
    draft, names, hidden = DocumentDraft(source, "excel"), list[str](), 0
    formats = _StyleFormats(root)
    for worksheet in root.iter_named("ss:Worksheet"):
        state = worksheet.find("x:WorksheetOptions", "x:Visible")
        if state is not None and state.text.strip() != "SheetVisible":
            hidden += 1
            continue
        names.append(worksheet.get("ss:Name"))
        _read_sheet(draft, worksheet, formats).write(draft)
    report_hidden_sheets(draft, hidden)
    draft.record_budget(budget)
    properties = root.find("o:DocumentProperties") or XmlElement("")
    facts = {name: (properties.find(tag) or XmlElement("")).text.strip() for name, tag in fact_elements.items()}
    return draft.build_document(facts, metadata={"sheets": names})


class _RowShortener:
    """Drops the cells of rows past those that are shown, while a sheet is parsed."""

    def __init__(self) -> None:
        self._rows = 0

    def shorten(self, element: XmlElement) -> None:
        if element.name == "ss:Table":
            self._rows = 0
        elif element.name == "ss:Row":
            self._rows += 1
            element.children = element.children if self._rows <= MAX_ROWS else ()


class _StyleFormats:
    """Format numbers by the names of cell styles."""

    def __init__(self, root: XmlElement) -> None:
        # Other named formats, such as Fixed and Scientific, show the plain number.
        named_formats = {"Percent": "0%", "Euro Currency": '0 "€"'}
        codes: dict[str, str] = {}
        for style in (root.find("ss:Styles") or XmlElement("")).iter_named("ss:Style"):
            code = style.get_value("ss:NumberFormat", attribute="ss:Format") or ""
            code = named_formats.get(code, code)
            codes[style.get("ss:ID")] = code if any(sign in code for sign in '%"$') else ""
        self._style_numbers = {name: str(number) for number, name in enumerate(codes)}
        # Numbers from 1,000 on do not collide with those of built-in formats.
        numbered = {str(1_000 + number): code for number, code in enumerate(codes.values())}
        self._formats = NumberFormats(numbered, list(numbered), since_1904=False)

    def format_number(self, text: str, style: str) -> str:
        return self._formats.format_number(text, self._style_numbers.get(style, ""))


def _read_sheet(draft: DocumentDraft, worksheet: XmlElement, formats: _StyleFormats) -> SheetCells:
    sheet, row = SheetCells(worksheet.get("ss:Name")), 0
    table = worksheet.find("ss:Table") or XmlElement("")
    column = 0
    for column_element in table.iter_named("ss:Column"):
        column = _parse_number(column_element.get("ss:Index"), column + 1)
        last = column + _parse_number(column_element.get("ss:Span"), 0)
        if column_element.get("ss:Hidden") == "1" and last < MAX_SHEET_COLUMNS:
            sheet.hidden_columns |= set(range(column, last + 1))
        column = last
    for read, row_element in enumerate(table.iter_named("ss:Row")):
        row = _parse_number(row_element.get("ss:Index"), row + 1)
        if read >= MAX_ROWS:
            sheet.more_rows += 1
        elif row_element.get("ss:Hidden") == "1":
            sheet.hidden_rows += 1
        else:
            _read_row(draft, sheet, row_element, row, formats)
    return sheet


def _read_row(draft: DocumentDraft, sheet: SheetCells, element: XmlElement, row: int, formats: _StyleFormats) -> None:
    column = 0
    for cell in element.iter_named("ss:Cell"):
        column = _parse_number(cell.get("ss:Index"), column + 1)
        if column > MAX_SHEET_COLUMNS:
            return
        across, down = _parse_number(cell.get("ss:MergeAcross"), 0), _parse_number(cell.get("ss:MergeDown"), 0)
        if across or down:
            sheet.merges.append((CellAddress(row, column), CellAddress(row + down, column + across)))
        data = cell.find("ss:Data") or XmlElement("")
        text, kind = data.text, data.get("ss:Type")
        if kind == "Number":
            text = formats.format_number(text.strip(), cell.get("ss:StyleID"))
        elif kind == "DateTime":
            text = text.partition(".")[0].replace("T00:00:00", "").replace("T", " ")
        elif kind == "Boolean":
            text = {"1": "TRUE", "0": "FALSE"}.get(text.strip(), text)
        text = " ".join(text.split())
        url = draft.resolve_link(cell.get("ss:HRef"), text) if text and cell.get("ss:HRef") else ""
        is_typed = kind in ("Number", "DateTime")
        sheet.put_cell(CellAddress(row, column), format_link(text, url) if url else text, typed=is_typed)
        column += across


def _parse_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else default


reader = DocumentReader("excel2003", (WORKBOOK_2003_TYPE,), read_excel2003, needs_whole_body=True)
