"""Excel workbooks (Office Open XML, ISO/IEC 29500-1 part 18): xlsx, xlsm and templates.

Read row by row: what is kept of a sheet of a million rows is what is shown of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.drawing import drawn
from outrider.pages.readers.parts.openxml.package import ELEMENTS, Package
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.sheets.cells import Formats, Place, area, place
from outrider.pages.readers.parts.sheets.sheet import ROWS, Sheet
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, stream

KIND = "Excel workbook"
ROW = re.compile(rb"<(?:\w{1,20}:)?row[\s>/]")
OVERLAP = 32  # bytes in which the beginning of a row may stand across two chunks
SHOWN = frozenset({"", "visible"})
ON = frozenset({"1", "true"})
BEFORE_ROWS = ("s:cols",)
AFTER_ROWS = ("s:mergeCells", "s:hyperlinks")
STRINGS = 1_000_000
WIDEST = 16_384  # columns of a sheet (XFD)


def read(source: Source) -> Document:
    """The sheets in order, each with its name and its cells as tables.

    Cells show their stored values (formulas where none is stored), dates in ISO 8601. Of a sheet at most
    5,000 rows and 60 columns are shown, and it is said how many more there are. Hidden sheets, rows and
    columns are left out and counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    return Workbook(Package(source, KIND), Draft(source, "excel")).document()


@dataclass
class Chunks:
    """A part's bytes on their way to the parser; counts the rows in them."""

    chunks: Iterator[bytes]
    rows: int = 0
    _end: bytes = b""

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            before = len(ROW.findall(self._end))
            self.rows += len(ROW.findall(self._end + chunk)) - before
            self._end = chunk[-OVERLAP:]
            yield chunk

    def drain(self) -> None:
        """Counts the rest."""
        for _ in self:
            pass


@dataclass
class Workbook:
    """Writes the sheets of a workbook."""

    package: Package
    draft: Draft
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        main = self.package.main
        self.root = self.package.tree(main)
        since_1904 = (self.root.value("s:workbookPr", attribute="date1904") or "") in ON
        self.formats = Formats.of(self.package.tree(self.package.related(main, "styles")), since_1904=since_1904)
        self.strings = self._strings()

    def document(self) -> Document:
        listed = self.root.find("s:sheets") or Element("")
        hidden = 0
        for each in listed.each("s:sheet"):
            if self.draft.full:
                self.draft.cut = True
                break
            if each.get("state") not in SHOWN:
                hidden += 1
                continue
            relation = self.package.relations(self.package.main).get(each.get("r:id"))
            if relation:
                self.names.append(each.get("name"))
                self._sheet(each.get("name"), relation.target)
        if hidden:
            self.draft.hidden += hidden
            self.draft.add(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
        self.draft.spent(self.package.budget)
        return self.draft.document(self.package.facts(), metadata={"sheets": self.names})

    def _strings(self) -> list[str]:
        """The texts that cells share; those beyond the bound are empty."""
        part, texts = self.package.related(self.package.main, "sharedStrings"), []
        if part is None or part not in self.package.archive:
            return []
        budget = Budget(self.draft.source.tags * ELEMENTS)
        try:
            for each in stream(self.package.archive.chunks(part), ("s:si",), budget):
                texts.append(_rich(each))
                if len(texts) >= STRINGS:
                    break
        except MalformedXML:
            raise broken(self.package.source, KIND, "its texts are malformed") from None
        self.draft.spent(budget)
        return texts

    def _sheet(self, name: str, part: str) -> None:
        sheet = Sheet(name)
        if part in self.package.archive:
            self._rows(sheet, part)
            self._comments(sheet, part)
        sheet.write(self.draft)
        for drawing in self.package.all_related(part, "drawing"):
            for said in drawn(self.package, drawing, self.draft):
                self.draft.add(said)

    def _rows(self, sheet: Sheet, part: str) -> None:
        chunks = Chunks(self.package.archive.chunks(part))
        read, at = 0, 0
        names = (*BEFORE_ROWS, "s:row", *AFTER_ROWS)
        try:
            for element in stream(chunks, names, self.package.budget):
                if element.name == "s:row":
                    read += 1
                    at = self._row(sheet, element, at)
                else:
                    self._other(sheet, element, part)
                if read >= ROWS:
                    break
        except MalformedXML:
            raise broken(self.package.source, KIND, f"its sheet {sheet.name[:50]} is malformed") from None
        chunks.drain()
        sheet.more_rows = chunks.rows - read

    def _row(self, sheet: Sheet, row: Element, before: int) -> int:
        """Puts a row's cells; returns its number, which rows need not say."""
        given = row.get("r")
        number = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else before + 1
        if row.get("hidden") in ON:
            sheet.hidden_rows += 1
            return number
        column = 0
        for cell in row.each("s:c"):
            at = place(cell.get("r"))
            column = at.column if at else column + 1
            if column <= WIDEST:
                text, typed = self._cell(cell)
                sheet.put(Place(number, column), text, typed=typed)
        return number

    def _cell(self, cell: Element) -> tuple[str, bool]:
        """What a cell shows, and whether that is a number or a date."""
        kind, value = cell.get("t", "n"), cell.find("s:v")
        text = value.text if value is not None else ""
        if kind == "s":
            known = text.isascii() and text.isdigit() and len(text) < 9 and int(text) < len(self.strings)
            return (self.strings[int(text)] if known else ""), False
        if kind == "inlineStr":
            return _rich(cell.find("s:is") or Element("")), False
        if not text:
            formula = cell.find("s:f")
            return (f"={formula.text[:500]}" if formula is not None and formula.text else ""), False
        if kind == "b":
            return ("TRUE" if text in ON else "FALSE"), True
        return (self.formats.shown(text, cell.get("s")), True) if kind == "n" else (text, kind == "d")

    def _other(self, sheet: Sheet, element: Element, part: str) -> None:
        if element.name == "s:cols":
            for each in element.each("s:col"):
                first, last = each.get("min"), each.get("max")
                if each.get("hidden") in ON and first.isdigit() and last.isdigit() and len(last) < 6:
                    # A range to the end of the sheet hides no data: it is how people trim what they see.
                    sheet.hidden_columns |= set(range(int(first), int(last) + 1)) if int(last) < WIDEST else set()
        elif element.name == "s:mergeCells":
            sheet.merges += [found for each in element.each("s:mergeCell") if (found := area(each.get("ref")))]
        else:
            self._link(sheet, element, part)

    def _link(self, sheet: Sheet, links: Element, part: str) -> None:
        relations = self.package.relations(part)
        for each in links.each("s:hyperlink"):
            at, relation = place(each.get("ref")), relations.get(each.get("r:id"))
            text = sheet.rows.get(at.row, {}).get(at.column, "") if at else ""
            if at and text and relation and relation.external:
                address = self.draft.address(relation.target, text)
                if address and "](" not in text:
                    label = text.replace("[", "(").replace("]", ")")
                    sheet.rows[at.row][at.column] = f"[{label}]({address})"

    def _comments(self, sheet: Sheet, part: str) -> None:
        """Comments of both kinds; the threaded ones stand in for the old ones that repeat them."""
        threaded = set()
        for name in self.package.all_related(part, "threadedComment"):
            for each in self.package.tree(name).each("tc:threadedComment"):
                threaded.add(each.get("ref"))
                sheet.comments.append((each.get("ref"), "", each.text))
        for name in self.package.all_related(part, "comments"):
            root = self.package.tree(name)
            authors = [each.text for each in root.all("s:author")]
            for each in root.all("s:comment"):
                who = each.get("authorId")
                author = authors[int(who)] if who.isdigit() and len(who) < 6 and int(who) < len(authors) else ""
                if each.get("ref") not in threaded:
                    sheet.comments.append((each.get("ref"), author, _rich(each.find("s:text") or Element(""))))


def _rich(element: Element) -> str:
    """The characters of a string, without the phonetic readings beside them (section 18.4.6)."""
    pieces = []
    for each in element.elements():
        if each.name == "s:t":
            pieces.append(each.text)
        elif each.name == "s:r":
            pieces += [text.text for text in each.each("s:t")]
    return "".join(pieces).replace("_x000D_", "")


TYPES = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
    "application/vnd.ms-excel.sheet.macroenabled.12",
    "application/vnd.ms-excel.template.macroenabled.12",
)
reader = Reader("excel", TYPES, read, suffixes=(".xlsx", ".xlsm", ".xltx", ".xltm"), whole=True)
