"""Workbooks in one XML file (XML Spreadsheet 2003), which many sites give as `.xls`."""

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.package import ELEMENTS
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.sheets.cells import Formats, Place
from outrider.pages.readers.parts.sheets.sheet import ROWS, Sheet
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, tree
from outrider.pages.sniffing.container import WORKBOOK_2003

KIND = "XML workbook"
WIDEST = 16_384
NAMED = {"Percent": "0%", "Euro Currency": '0 "€"'}  # formats that have names; others show numbers as they are
MIDNIGHT = "T00:00:00"
FACTS = {"title": "o:Title", "author": "o:Author", "description": "o:Subject", "published": "o:Created"}


def read(source: Source) -> Document:
    """The sheets in order, each with its name and its cells as tables, as other workbooks are read.

    Raises:
        Unavailable: code `broken_file`.
    """
    budget = Budget(source.tags * ELEMENTS)
    try:
        root = tree(source.body, budget)
    except MalformedXML as error:
        raise broken(source, KIND, f"it is malformed ({error})") from None
    draft, names, hidden = Draft(source, "excel"), list[str](), 0
    looks = _looks(root)
    for each in root.each("ss:Worksheet"):
        state = each.find("x:WorksheetOptions", "x:Visible")
        if state is not None and state.text.strip() != "SheetVisible":
            hidden += 1
            continue
        names.append(each.get("ss:Name"))
        _sheet(draft, each, looks).write(draft)
    if hidden:
        draft.hidden += hidden
        draft.add(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
    draft.spent(budget)
    about = root.find("o:DocumentProperties") or Element("")
    known = {name: (about.find(tag) or Element("")).text.strip() for name, tag in FACTS.items()}
    return draft.document(known, metadata={"sheets": names})


class _Looks:
    """How styles show numbers, by their names."""

    def __init__(self, codes: dict[str, str]) -> None:
        self._numbers = {name: str(at) for at, name in enumerate(codes)}
        own = {str(1_000 + at): NAMED.get(code, code) for at, code in enumerate(codes.values())}
        self._formats = Formats(own, list(own), since_1904=False)

    def shown(self, text: str, style: str) -> str:
        return self._formats.shown(text, self._numbers.get(style, ""))


def _looks(root: Element) -> _Looks:
    found: dict[str, str] = {}
    for style in (root.find("ss:Styles") or Element("")).each("ss:Style"):
        code = style.value("ss:NumberFormat", attribute="ss:Format") or ""
        found[style.get("ss:ID")] = code if "%" in code or code in NAMED or '"' in code or "$" in code else ""
    return _Looks(found)


def _sheet(draft: Draft, worksheet: Element, looks: _Looks) -> Sheet:
    sheet, row = Sheet(worksheet.get("ss:Name")), 0
    table = worksheet.find("ss:Table") or Element("")
    column = 0
    for each in table.each("ss:Column"):
        column = _number(each.get("ss:Index"), column + 1)
        last = column + _number(each.get("ss:Span"), 0)
        if each.get("ss:Hidden") == "1" and last < WIDEST:
            sheet.hidden_columns |= set(range(column, last + 1))
        column = last
    for read, each in enumerate(table.each("ss:Row")):
        row = _number(each.get("ss:Index"), row + 1)
        if read >= ROWS:
            sheet.more_rows += 1
        elif each.get("ss:Hidden") == "1":
            sheet.hidden_rows += 1
        else:
            _row(draft, sheet, each, row, looks)
    return sheet


def _row(draft: Draft, sheet: Sheet, element: Element, row: int, looks: _Looks) -> None:
    column = 0
    for cell in element.each("ss:Cell"):
        column = _number(cell.get("ss:Index"), column + 1)
        if column > WIDEST:
            return
        across, down = _number(cell.get("ss:MergeAcross"), 0), _number(cell.get("ss:MergeDown"), 0)
        if across or down:
            sheet.merges.append((Place(row, column), Place(row + down, column + across)))
        data = cell.find("ss:Data") or Element("")
        kind, style = data.get("ss:Type"), cell.get("ss:StyleID")
        text = " ".join(_value(data.text, kind, style, looks).split())
        address = draft.address(cell.get("ss:HRef"), text) if text and cell.get("ss:HRef") else ""
        label = text.replace("[", "(").replace("]", ")")
        sheet.put(
            Place(row, column), f"[{label}]({address})" if address else text, typed=kind in ("Number", "DateTime")
        )
        column += across


def _value(text: str, kind: str, style: str, looks: _Looks) -> str:
    if kind == "Number":
        return looks.shown(text.strip(), style)
    if kind == "DateTime":
        return text.partition(".")[0].replace(MIDNIGHT, "").replace("T", " ")
    return {"1": "TRUE", "0": "FALSE"}.get(text.strip(), text) if kind == "Boolean" else text


def _number(given: str, otherwise: int) -> int:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 8 else otherwise


reader = Reader("excel2003", (WORKBOOK_2003,), read, whole=True)
