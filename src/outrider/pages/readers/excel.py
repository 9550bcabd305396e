"""Excel workbooks (Office Open XML, ISO/IEC 29500-1 part 18): xlsx, xlsm and templates.

Read row by row: what is kept of a sheet of a million rows is what is shown of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.drawing import iter_drawing_texts
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG, Package
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, iter_elements
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats, parse_address, parse_range
from outrider.pages.readers.spreadsheet.sheet import MAX_ROWS, SheetCells

EXCEL_KIND = "Excel workbook"
ROW_TAG = re.compile(rb"<(?:\w{1,20}:)?row[\s>/]")
TRUE_VALUES = frozenset({"1", "true"})
MAX_SHEET_COLUMNS = 16_384  # columns of a sheet (XFD)


def read_excel(source: ReaderInput) -> Document:
    """The sheets in order, each with its name and its cells as tables.

    Cells show their stored values (formulas where none is stored), dates in ISO 8601. Of a sheet at most
    5,000 rows and 60 columns are shown, and it is said how many more there are. Hidden sheets, rows and
    columns are left out and counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    return WorkbookWriter(Package(source, EXCEL_KIND), DocumentDraft(source, "excel")).build_document()


@dataclass
class RowCountingChunks:
    """A part's bytes on their way to the parser; counts the rows in them."""

    chunks: Iterator[bytes]
    rows: int = 0
    _end: bytes = b""

    def __iter__(self) -> Iterator[bytes]:
        overlap_bytes = 32  # bytes in which the beginning of a row may stand across two chunks
        for chunk in self.chunks:
            before = len(ROW_TAG.findall(self._end))
            self.rows += len(ROW_TAG.findall(self._end + chunk)) - before
            self._end = chunk[-overlap_bytes:]
            yield chunk

    def drain(self) -> None:
        """Counts the rest."""
        for _ in self:
            pass


@dataclass
class WorkbookWriter:
    """Writes the sheets of a workbook."""

    package: Package
    draft: DocumentDraft
    sheet_names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        main = self.package.main_part
        self.root = self.package.parse_part(main)
        since_1904 = (self.root.get_value("s:workbookPr", attribute="date1904") or "") in TRUE_VALUES
        self.formats = NumberFormats.from_styles(
            self.package.parse_part(self.package.find_part(main, "styles")), since_1904=since_1904
        )
        self.strings = self._read_shared_strings()

    def build_document(self) -> Document:
        visible_states = frozenset({"", "visible"})
        listed = self.root.find("s:sheets") or XmlElement("")
        hidden = 0
        for each in listed.iter_named("s:sheet"):
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            if each.get("state") not in visible_states:
                hidden += 1
                continue
            relation = self.package.get_relationships(self.package.main_part).get(each.get("r:id"))
            if relation:
                self.sheet_names.append(each.get("name"))
                self._write_sheet(each.get("name"), relation.target)
        if hidden:
            self.draft.hidden_count += hidden
            self.draft.add_block(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
        self.draft.record_budget(self.package.budget)
        return self.draft.build_document(self.package.read_facts(), metadata={"sheets": self.sheet_names})

    def _read_shared_strings(self) -> list[str]:
        """The texts that cells share; those beyond the bound are empty."""
        max_strings = 1_000_000
        part, texts = self.package.find_part(self.package.main_part, "sharedStrings"), []
        if part is None or part not in self.package.archive:
            return []
        budget = ElementBudget(self.draft.source.max_tags * ELEMENTS_PER_TAG)
        try:
            for each in iter_elements(self.package.archive.iter_chunks(part), ("s:si",), budget):
                texts.append(_join_rich_text(each))
                if len(texts) >= max_strings:
                    break
        except MalformedXML:
            raise build_broken_error(self.package.source, EXCEL_KIND, "its texts are malformed") from None
        self.draft.record_budget(budget)
        return texts

    def _write_sheet(self, name: str, part: str) -> None:
        sheet = SheetCells(name)
        if part in self.package.archive:
            self._read_rows(sheet, part)
            self._add_comments(sheet, part)
        sheet.write(self.draft)
        for drawing in self.package.find_parts(part, "drawing"):
            for said in iter_drawing_texts(self.package, drawing, self.draft):
                self.draft.add_block(said)

    def _read_rows(self, sheet: SheetCells, part: str) -> None:
        after_rows = ("s:mergeCells", "s:hyperlinks")
        before_rows = ("s:cols",)
        chunks = RowCountingChunks(self.package.archive.iter_chunks(part))
        read, at = 0, 0
        names = (*before_rows, "s:row", *after_rows)
        try:
            for element in iter_elements(chunks, names, self.package.budget):
                if element.name == "s:row":
                    read += 1
                    at = self._read_row(sheet, element, at)
                else:
                    self._read_sheet_element(sheet, element, part)
                if read >= MAX_ROWS:
                    break
        except MalformedXML:
            raise build_broken_error(
                self.package.source, EXCEL_KIND, f"its sheet {sheet.name[:50]} is malformed"
            ) from None
        chunks.drain()
        sheet.more_rows = chunks.rows - read

    def _read_row(self, sheet: SheetCells, row: XmlElement, before: int) -> int:
        """Puts a row's cells; returns its number, which rows need not say."""
        given = row.get("r")
        number = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else before + 1
        if row.get("hidden") in TRUE_VALUES:
            sheet.hidden_rows += 1
            return number
        column = 0
        for cell in row.iter_named("s:c"):
            at = parse_address(cell.get("r"))
            column = at.column if at else column + 1
            if column <= MAX_SHEET_COLUMNS:
                text, typed = self._format_cell(cell)
                sheet.put_cell(CellAddress(number, column), text, typed=typed)
        return number

    def _format_cell(self, cell: XmlElement) -> tuple[str, bool]:
        """What a cell shows, and whether that is a number or a date."""
        kind, value = cell.get("t", "n"), cell.find("s:v")
        text = value.text if value is not None else ""
        if kind == "s":
            known = text.isascii() and text.isdigit() and len(text) < 9 and int(text) < len(self.strings)
            return (self.strings[int(text)] if known else ""), False
        if kind == "inlineStr":
            return _join_rich_text(cell.find("s:is") or XmlElement("")), False
        if not text:
            formula = cell.find("s:f")
            return (f"={formula.text[:500]}" if formula is not None and formula.text else ""), False
        if kind == "b":
            return ("TRUE" if text in TRUE_VALUES else "FALSE"), True
        return (self.formats.format_number(text, cell.get("s")), True) if kind == "n" else (text, kind == "d")

    def _read_sheet_element(self, sheet: SheetCells, element: XmlElement, part: str) -> None:
        if element.name == "s:cols":
            for each in element.iter_named("s:col"):
                first, last = each.get("min"), each.get("max")
                if each.get("hidden") in TRUE_VALUES and first.isdigit() and last.isdigit() and len(last) < 6:
                    # A range to the end of the sheet hides no data: it is how people trim what they see.
                    sheet.hidden_columns |= (
                        set(range(int(first), int(last) + 1)) if int(last) < MAX_SHEET_COLUMNS else set()
                    )
        elif element.name == "s:mergeCells":
            sheet.merges += [
                found for each in element.iter_named("s:mergeCell") if (found := parse_range(each.get("ref")))
            ]
        else:
            self._add_links(sheet, element, part)

    def _add_links(self, sheet: SheetCells, links: XmlElement, part: str) -> None:
        relations = self.package.get_relationships(part)
        for each in links.iter_named("s:hyperlink"):
            at, relation = parse_address(each.get("ref")), relations.get(each.get("r:id"))
            text = sheet.rows.get(at.row, {}).get(at.column, "") if at else ""
            if at and text and relation and relation.external:
                address = self.draft.resolve_link(relation.target, text)
                if address and "](" not in text:
                    label = text.replace("[", "(").replace("]", ")")
                    sheet.rows[at.row][at.column] = f"[{label}]({address})"

    def _add_comments(self, sheet: SheetCells, part: str) -> None:
        """Comments of both kinds; the threaded ones stand in for the old ones that repeat them."""
        threaded = set()
        for name in self.package.find_parts(part, "threadedComment"):
            for each in self.package.parse_part(name).iter_named("tc:threadedComment"):
                threaded.add(each.get("ref"))
                sheet.comments.append((each.get("ref"), "", each.text))
        for name in self.package.find_parts(part, "comments"):
            root = self.package.parse_part(name)
            authors = [each.text for each in root.iter_descendants("s:author")]
            for each in root.iter_descendants("s:comment"):
                who = each.get("authorId")
                author = authors[int(who)] if who.isdigit() and len(who) < 6 and int(who) < len(authors) else ""
                if each.get("ref") not in threaded:
                    sheet.comments.append(
                        (each.get("ref"), author, _join_rich_text(each.find("s:text") or XmlElement("")))
                    )


def _join_rich_text(element: XmlElement) -> str:
    """The characters of a string, without the phonetic readings beside them (section 18.4.6)."""
    pieces = []
    for each in element.iter_children():
        if each.name == "s:t":
            pieces.append(each.text)
        elif each.name == "s:r":
            pieces += [text.text for text in each.iter_named("s:t")]
    return "".join(pieces).replace("_x000D_", "")


EXCEL_TYPES = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
    "application/vnd.ms-excel.sheet.macroenabled.12",
    "application/vnd.ms-excel.template.macroenabled.12",
)
reader = DocumentReader(
    "excel", EXCEL_TYPES, read_excel, suffixes=(".xlsx", ".xlsm", ".xltx", ".xltm"), needs_whole_body=True
)
