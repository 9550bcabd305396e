"""Read Excel workbooks (Office Open XML, ISO/IEC 29500-1 part 18): xlsx, xlsm and templates.

Read row by row: memory holds only the shown part of a sheet of a million rows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.chart import iter_drawing_texts
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG, Package
from outrider.pages.readers.parsing.draft import DocumentDraft, format_link
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, iter_elements
from outrider.pages.readers.spreadsheet.cells import CellAddress, NumberFormats, parse_address, parse_range
from outrider.pages.readers.spreadsheet.formulas import SharedFormulas, parse_link_formula
from outrider.pages.readers.spreadsheet.sheet import MAX_MERGES, MAX_ROWS, SheetCells, report_hidden_sheets

EXCEL_KIND = "Excel workbook"
ROW_TAG = re.compile(rb"<(?:\w{1,20}:)?row[\s>/]")
TRUE_VALUES = frozenset({"1", "true"})
MAX_SHEET_COLUMNS = 16_384  # columns of a sheet (XFD)


def read_excel(source: ReaderInput) -> Document:
    """Return each sheet's name and its cells as tables.

    Cells show their stored values (formulas where none has been computed), dates in ISO 8601. At most 5,000 rows and
    60 columns of a sheet are shown, and further ones are counted. Hidden sheets, rows and columns are left out and
    counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    return WorkbookWriter(Package(source, EXCEL_KIND), DocumentDraft(source, "excel")).build_document()


@dataclass
class RowCountingChunks:
    """Pass a part's bytes on to the parser and count the rows in them."""

    chunks: Iterator[bytes]
    rows: int = 0
    _end: bytes = b""

    def __iter__(self) -> Iterator[bytes]:
        overlap_bytes = 32  # a row's tag may be split between two chunks
        for chunk in self.chunks:
            before = len(ROW_TAG.findall(self._end))
            self.rows += len(ROW_TAG.findall(self._end + chunk)) - before
            self._end = chunk[-overlap_bytes:]
            yield chunk


@dataclass
class WorkbookWriter:
    """Write the sheets of a workbook."""

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
        # Such a workbook was not written by a program that computes: its formulas have the value 0, or none.
        self.is_uncomputed = (self.root.get_value("s:calcPr", attribute="fullCalcOnLoad") or "") in TRUE_VALUES
        sheets = (self.root.find("s:sheets") or XmlElement("")).iter_named("s:sheet")
        self.shown_names = {sheet.get("name") for sheet in sheets if sheet.get("state") in ("", "visible")}
        max_strings = 1_000_000
        part = self.package.find_part(main, "sharedStrings")
        self.strings: list[str] = []
        if part is None or part not in self.package.archive:
            return
        budget = ElementBudget(self.package.source.max_tags * ELEMENTS_PER_TAG)
        try:
            for item in iter_elements(self.package.archive.iter_chunks(part), ("s:si",), budget):
                self.strings.append(_join_rich_text(item))
                if len(self.strings) >= max_strings:
                    break
        except MalformedXML:
            raise build_broken_error(self.package.source, EXCEL_KIND, "its texts are malformed") from None
        self.draft.record_budget(budget)

    def build_document(self) -> Document:
        sheets = self.root.find("s:sheets") or XmlElement("")
        hidden = 0
        for sheet in sheets.iter_named("s:sheet"):
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            if sheet.get("state") not in ("", "visible"):
                hidden += 1
                continue
            self._write_sheet(sheet, sheet.get("name"))
        report_hidden_sheets(self.draft, hidden)
        self.draft.record_budget(self.package.budget)
        return self.draft.build_document(self.package.read_facts(), metadata={"sheets": self.sheet_names})

    def write_shown_sheet(self) -> None:
        """Write the sheet that was shown last, without its name, as an embedded workbook appears."""
        sheets = list((self.root.find("s:sheets") or XmlElement("")).iter_named("s:sheet"))
        tab = self.root.get_value("s:bookViews", "s:workbookView", attribute="activeTab") or ""
        number = int(tab) if tab.isascii() and tab.isdigit() and len(tab) < 5 else 0
        for sheet in sheets[number : number + 1]:
            self._write_sheet(sheet, "")
        self.draft.record_budget(self.package.budget)

    def _write_sheet(self, sheet: XmlElement, title: str) -> None:
        relation = self.package.get_relationships(self.package.main_part).get(sheet.get("r:id"))
        if not relation:
            return
        self.sheet_names.append(sheet.get("name"))
        cells, part = SheetCells(title, chars_left=self.draft.source.max_chars), relation.target
        if part in self.package.archive:
            self._read_rows(cells, part)
            self._add_comments(cells, part)
        cells.write(self.draft)
        for drawing in self.package.find_parts(part, "drawing"):
            for text in iter_drawing_texts(self.package, drawing, self.draft, self.shown_names):
                self.draft.add_block(text)

    def _read_rows(self, sheet: SheetCells, part: str) -> None:
        chunks = RowCountingChunks(self.package.archive.iter_chunks(part))
        read, number = 0, 0
        formulas = SharedFormulas()
        names = ("s:cols", "s:row", "s:mergeCells", "s:hyperlinks")
        try:
            for element in iter_elements(chunks, names, self.package.budget):
                if element.name == "s:row":
                    read += 1
                    number = self._read_row(sheet, element, number, formulas)
                else:
                    self._read_sheet_element(sheet, element, part)
                if read >= MAX_ROWS:
                    break
        except MalformedXML:
            raise build_broken_error(
                self.package.source, EXCEL_KIND, f"its sheet {sheet.name[:50]} is malformed"
            ) from None
        for _ in chunks:  # count the rows that were not read
            pass
        sheet.more_rows = chunks.rows - read

    def _read_row(self, sheet: SheetCells, row: XmlElement, previous: int, formulas: SharedFormulas) -> int:
        """Put a row's cells into the sheet; return the row's number, which is optional in the file."""
        stated = row.get("r")
        number = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 8 else previous + 1
        is_hidden = row.get("hidden") in TRUE_VALUES
        if is_hidden:
            sheet.hidden_rows += 1
            sheet.hidden_row_numbers.add(number)
        column = 0
        for cell in row.iter_named("s:c"):
            address = parse_address(cell.get("r"))
            column = address.column if address else column + 1
            at = CellAddress(number, column)
            if is_hidden:
                formulas.read_formula(cell, at, is_shown=False)  # others may share it
            elif column <= MAX_SHEET_COLUMNS:
                text, typed = self._format_cell(cell, at, formulas)
                sheet.put_cell(at, text, typed=typed)
        return number

    def _format_cell(self, cell: XmlElement, at: CellAddress, formulas: SharedFormulas) -> tuple[str, bool]:
        """Return a cell's text, and whether it is a number or a date."""
        kind, value = cell.get("t", "n"), cell.find("s:v")
        text = value.text if value is not None else ""
        is_computed = bool(text) and not (text == "0" and self.is_uncomputed)
        if formula := formulas.read_formula(cell, at, is_shown=not is_computed):
            url, words = parse_link_formula(formula)
            if url and (url := self.draft.resolve_link(url, words)):
                return format_link(text if is_computed else words, url), False
            if not is_computed:
                return f"={formula}", False
        if kind == "s":
            is_known = text.isascii() and text.isdigit() and len(text) < 9 and int(text) < len(self.strings)
            return (self.strings[int(text)] if is_known else ""), False
        if kind == "inlineStr":
            return _join_rich_text(cell.find("s:is") or XmlElement("")), False
        if kind == "b" and text:
            return ("TRUE" if text in TRUE_VALUES else "FALSE"), True
        is_number = kind == "n" and bool(text)
        return (self.formats.format_number(text, cell.get("s")), True) if is_number else (text, kind == "d")

    def _read_sheet_element(self, sheet: SheetCells, element: XmlElement, part: str) -> None:
        if element.name == "s:cols":
            for column in element.iter_named("s:col"):
                first, last = column.get("min"), column.get("max")
                is_range = first.isdigit() and last.isdigit() and len(last) < 6
                if column.get("hidden") not in TRUE_VALUES or not is_range:
                    continue
                # A range to the end of the sheet hides no data: people trim the visible area that way.
                if int(last) < MAX_SHEET_COLUMNS:
                    sheet.hidden_columns |= set(range(int(first), int(last) + 1))
        elif element.name == "s:mergeCells":
            ranges = (parse_range(merge.get("ref")) for merge in element.iter_named("s:mergeCell"))
            sheet.merges += islice(filter(None, ranges), MAX_MERGES)
        else:
            relations = self.package.get_relationships(part)
            for link in element.iter_named("s:hyperlink"):
                cell, relation = parse_address(link.get("ref")), relations.get(link.get("r:id"))
                text = sheet.rows.get(cell.row, {}).get(cell.column, "") if cell else ""
                url = self.draft.resolve_link(relation.target, text) if text and relation and relation.external else ""
                if cell and url and "](" not in text:
                    sheet.rows[cell.row][cell.column] = format_link(text, url)

    def _add_comments(self, sheet: SheetCells, part: str) -> None:
        """Add comments of both kinds; threaded ones replace the old ones that repeat them."""
        threaded = set()
        for name in self.package.find_parts(part, "threadedComment"):
            people = self.package.parse_part(self.package.find_part(self.package.main_part, "person"))
            names = {person.get("id"): person.get("displayName") for person in people.iter_named("tc:person")}
            for comment in self.package.parse_part(name).iter_named("tc:threadedComment"):
                threaded.add(comment.get("ref"))
                sheet.comments.append((comment.get("ref"), names.get(comment.get("personId"), ""), comment.text))
        for name in self.package.find_parts(part, "comments"):
            root = self.package.parse_part(name)
            authors = [author.text for author in root.iter_descendants("s:author")]
            for comment in root.iter_descendants("s:comment"):
                cell, number = comment.get("ref"), comment.get("authorId")
                is_known = number.isdigit() and len(number) < 6 and int(number) < len(authors)
                if cell not in threaded:
                    text = _join_rich_text(comment.find("s:text") or XmlElement(""))
                    sheet.comments.append((cell, authors[int(number)] if is_known else "", text))


def _join_rich_text(element: XmlElement) -> str:
    """Return a string's characters without their phonetic readings (section 18.4.6)."""
    pieces = []
    for child in element.iter_children():
        if child.name == "s:t":
            pieces.append(child.text)
        elif child.name == "s:r":
            pieces += [text.text for text in child.iter_named("s:t")]
    return "".join(pieces).replace("_x000D_", "")  # an escaped carriage return


reader = DocumentReader(
    "excel",
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/vnd.ms-excel.template.macroenabled.12",
    ),
    read_excel,
    suffixes=(".xlsx", ".xlsm", ".xltx", ".xltm"),
    needs_whole_body=True,
)
