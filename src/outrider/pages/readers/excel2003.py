"""Workbooks in one XML file (XML Spreadsheet 2003), which many sites give as `.xls`."""

from outrider.pages.document import Document
from outrider.pages.mime.container import WORKBOOK_2003_TYPE
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells

MAX_SHEET_COLUMNS = 16_384
NAMED_FORMATS = {"Percent": "0%", "Euro Currency": '0 "€"'}  # formats that have names; others show numbers as they are


def read_excel2003(source: ReaderInput) -> Document:
    """The sheets in order, each with its name and its cells as tables, as other workbooks are read.

    Raises:
        Unavailable: code `broken_file`.
    """
    fact_elements = {"title": "o:Title", "author": "o:Author", "description": "o:Subject", "published": "o:Created"}
    kind_name = "XML workbook"
    budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
    try:
        root = parse_tree(source.body, budget)
    except MalformedXML as error:
        raise build_broken_error(source, kind_name, f"it is malformed ({error})") from None
    draft, names, hidden = DocumentDraft(source, "excel"), list[str](), 0
    looks = _read_style_formats(root)
    for each in root.iter_named("ss:Worksheet"):
        state = each.find("x:WorksheetOptions", "x:Visible")
        if state is not None and state.text.strip() != "SheetVisible":
            hidden += 1
            continue
        names.append(each.get("ss:Name"))
        _read_sheet(draft, each, looks).write(draft)
    if hidden:
        draft.hidden_count += hidden
        draft.add_block(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
    draft.record_budget(budget)
    about = root.find("o:DocumentProperties") or XmlElement("")
    known = {name: (about.find(tag) or XmlElement("")).text.strip() for name, tag in fact_elements.items()}
    return draft.build_document(known, metadata={"sheets": names})


class _StyleFormats:
    """How styles show numbers, by their names."""

    def __init__(self, codes: dict[str, str]) -> None:
        self._numbers = {name: str(at) for at, name in enumerate(codes)}
        own = {str(1_000 + at): NAMED_FORMATS.get(code, code) for at, code in enumerate(codes.values())}
        self._formats = NumberFormats(own, list(own), since_1904=False)

    def format_number(self, text: str, style: str) -> str:
        return self._formats.format_number(text, self._numbers.get(style, ""))


def _read_style_formats(root: XmlElement) -> _StyleFormats:
    found: dict[str, str] = {}
    for style in (root.find("ss:Styles") or XmlElement("")).iter_named("ss:Style"):
        code = style.get_value("ss:NumberFormat", attribute="ss:Format") or ""
        found[style.get("ss:ID")] = code if "%" in code or code in NAMED_FORMATS or '"' in code or "$" in code else ""
    return _StyleFormats(found)


def _read_sheet(draft: DocumentDraft, worksheet: XmlElement, looks: _StyleFormats) -> SheetCells:
    sheet, row = SheetCells(worksheet.get("ss:Name")), 0
    table = worksheet.find("ss:Table") or XmlElement("")
    column = 0
    for each in table.iter_named("ss:Column"):
        column = _parse_number(each.get("ss:Index"), column + 1)
        last = column + _parse_number(each.get("ss:Span"), 0)
        if each.get("ss:Hidden") == "1" and last < MAX_SHEET_COLUMNS:
            sheet.hidden_columns |= set(range(column, last + 1))
        column = last
    for read, each in enumerate(table.iter_named("ss:Row")):
        row = _parse_number(each.get("ss:Index"), row + 1)
        if read >= MAX_ROWS:
            sheet.more_rows += 1
        elif each.get("ss:Hidden") == "1":
            sheet.hidden_rows += 1
        else:
            _read_row(draft, sheet, each, row, looks)
    return sheet


def _read_row(draft: DocumentDraft, sheet: SheetCells, element: XmlElement, row: int, looks: _StyleFormats) -> None:
    column = 0
    for cell in element.iter_named("ss:Cell"):
        column = _parse_number(cell.get("ss:Index"), column + 1)
        if column > MAX_SHEET_COLUMNS:
            return
        across, down = _parse_number(cell.get("ss:MergeAcross"), 0), _parse_number(cell.get("ss:MergeDown"), 0)
        if across or down:
            sheet.merges.append((CellAddress(row, column), CellAddress(row + down, column + across)))
        data = cell.find("ss:Data") or XmlElement("")
        kind, style = data.get("ss:Type"), cell.get("ss:StyleID")
        text = " ".join(_format_value(data.text, kind, style, looks).split())
        address = draft.resolve_link(cell.get("ss:HRef"), text) if text and cell.get("ss:HRef") else ""
        label = text.replace("[", "(").replace("]", ")")
        sheet.put_cell(
            CellAddress(row, column), f"[{label}]({address})" if address else text, typed=kind in ("Number", "DateTime")
        )
        column += across


def _format_value(text: str, kind: str, style: str, looks: _StyleFormats) -> str:
    midnight = "T00:00:00"
    if kind == "Number":
        return looks.format_number(text.strip(), style)
    if kind == "DateTime":
        return text.partition(".")[0].replace(midnight, "").replace("T", " ")
    return {"1": "TRUE", "0": "FALSE"}.get(text.strip(), text) if kind == "Boolean" else text


def _parse_number(given: str, otherwise: int) -> int:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 8 else otherwise


reader = DocumentReader("excel2003", (WORKBOOK_2003_TYPE,), read_excel2003, needs_whole_body=True)
