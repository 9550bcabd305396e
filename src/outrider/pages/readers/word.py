"""Read Word documents (Office Open XML, ISO/IEC 29500-1): docx, docm and their templates.

The main part is read as a stream. python-docx needs lxml and a tree of the whole document, and does not support list
numbers, notes, comments or formulas.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

from outrider.core.errors import OutriderError
from outrider.pages.document import Document
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.embedded_workbook import write_embedded_workbook
from outrider.pages.readers.ooxml.chart import read_chart
from outrider.pages.readers.ooxml.diagram import render_diagram
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.runs import WordRunBuilder
from outrider.pages.readers.ooxml.styles import (
    ParagraphStyle,
    WordLists,
    WordStyles,
    read_numbering,
    read_outline_level,
)
from outrider.pages.readers.parsing.draft import (
    ITEM_INDENT,
    DocumentDraft,
    TextRun,
    format_item,
    render_inline,
    render_plain,
    spread_spans,
)
from outrider.pages.readers.parsing.monospace import is_code_line
from outrider.pages.readers.parsing.xml import XmlElement
from outrider.pages.readers.text import format_code_block

MAX_TABLE_COLUMNS = 60
MAX_SPAN = 60  # columns of one cell


def read_word(source: ReaderInput) -> Document:
    """Return the body with headings, lists, tables and formulas, then footnotes and comments.

    Deleted and hidden text, the table of contents, headers and footers are left out.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    return WordWriter(Package(source, "Word document"), DocumentDraft(source, "word")).build_document()


@dataclass
class WordCell:
    """A table cell: its text, its number of columns, and whether it continues the cell above."""

    text: str
    span: int = 1
    is_continued: bool = False


@dataclass
class WordWriter:
    """Write the paragraphs and tables of a document."""

    package: Package
    draft: DocumentDraft
    title: str = ""
    _code: list[str] = field(default_factory=list)
    _drop_cap: list[TextRun] = field(default_factory=list)  # a large initial, which begins the next paragraph
    _title_levels: int = 0  # 1 once a title took heading level 1
    _imported_bytes_left: int = 10_000_000

    def __post_init__(self) -> None:
        main = self.package.main_part
        self.styles = WordStyles(self.package.parse_part(self.package.find_part(main, "styles")))
        self.lists = WordLists(self.package.parse_part(self.package.find_part(main, "numbering")))
        self.run_builder = WordRunBuilder(
            self.draft, self.package.get_relationships(main), self._describe_drawing, self.styles
        )

    def build_document(self) -> Document:
        for is_table, elements in groupby(self._iter_numbered_elements(), key=itemgetter(0)):
            if is_table:
                self._write_table(row for _, row in elements)
                continue
            for _, paragraph in elements:
                self._write_block(paragraph)
        self._end_code()
        self.draft.add_block(render_inline(self._drop_cap))
        self._write_notes()
        self.draft.record_budget(self.package.budget)
        facts = self.package.read_facts()
        facts["title"] = facts["title"] or self.title
        facts["language"] = facts["language"] or self.styles.language
        return self.draft.build_document(facts)

    def _iter_numbered_elements(self) -> Iterator[tuple[int, XmlElement]]:
        """Yield paragraphs with 0, and rows with the number of their table, until the document is full."""
        names, table = ("w:p", "w:tr", "w:altChunk"), 0
        for element in self.package.iter_elements(self.package.main_part, *names, starts=("w:tbl",)):
            if self.draft.is_full:
                self.draft.is_cut = True
                return
            if element.name == "w:tbl":
                table += 1
            else:
                yield table if element.name == "w:tr" else 0, element

    def _write_table(self, elements: Iterable[XmlElement]) -> None:
        """Write the rows of a table; only the cells' texts are kept."""
        max_frames = 1_000  # rows of one cell; with more, it is not a table
        self._end_code()
        rows: list[list[WordCell]] = []
        frames: list[XmlElement] = []  # rows of one cell; without other rows, they are a frame around text
        chars_left = self.draft.source.max_chars
        for element in elements:
            cells = _find_children(element, "w:tc")[: 4 * MAX_SPAN]
            if not rows and len(cells) == 1 and not _is_continued(cells[0]):
                frames.append(element)
                if len(frames) == max_frames:
                    self._write_frames(frames)
                continue
            pending = [*(_find_children(frame, "w:tc") for frame in frames), cells]
            frames.clear()
            rows += [[self._read_cell(cell) for cell in row] for row in pending]
            chars_left -= sum(len(cell.text) for cell in rows[-1])
            if chars_left < 0:
                break
        self._write_frames(frames)
        self.draft.add_table(expand_spans(rows))
        self.draft.is_cut = self.draft.is_cut or chars_left < 0

    def _write_frames(self, rows: list[XmlElement]) -> None:
        for row in rows:
            for child in row.iter_children():
                self._write_block(child)
        rows.clear()

    def _write_block(self, element: XmlElement) -> None:
        if element.name == "w:tbl":
            self._write_table(_find_children(element, "w:tr"))
        elif element.name == "w:p":
            self._write_paragraph(element)
        elif element.name == "w:altChunk":
            self._write_imported(element)
        else:
            for child in element.iter_children():
                self._write_block(child)

    def _write_imported(self, element: XmlElement) -> None:
        """Write a page or a text that the document takes in as it is opened (section 17.17.2.1)."""
        relation, source = self.run_builder.relations.get(element.get("r:id")), self.package.source
        self.package.embedded_left -= 1
        if relation is None or relation.external or source.read_nested is None or self.package.embedded_left < 0:
            return
        body = self.package.archive.read(relation.target)
        self._imported_bytes_left -= len(body)
        # Documents in documents may be nested without end.
        if not body or body.startswith(b"PK") or self._imported_bytes_left < 0:
            self.draft.add_block("(a part of this document that is stored as a file of its own was not read)")
            return
        mime = detect_mime_type("", body, relation.target)
        self._end_code()
        with suppress(OutriderError):
            document = source.read_nested(replace(source, body=body, content_type=mime, charset=None, main=False))
            self.draft.add_block(document.markdown)
            self.draft.tables += document.tables
            for link in document.links:
                self.draft.links.setdefault(link.url, link)

    def _write_paragraph(self, paragraph: XmlElement) -> None:
        properties = paragraph.find("w:pPr")
        style = self.styles.get_style(paragraph.get_value("w:pPr", "w:pStyle", attribute="w:val") or "")
        level = read_outline_level(properties) or style.heading
        runs = self.run_builder.build_runs(paragraph)
        boxes, self.run_builder.boxes = self.run_builder.boxes, []
        if (properties or paragraph).get_value("w:framePr", attribute="w:dropCap") in ("drop", "margin"):
            self._drop_cap += runs
            return
        runs, self._drop_cap = [*self._drop_cap, *runs], []
        is_item = style.list or read_numbering(properties)[0]
        is_code = style.kind == "code" or (is_code_line(runs) and not (style.kind or is_item))
        if is_code and not level:
            self._code.append("".join(run.text for run in runs))
        else:
            self._end_code()
            if style.kind == "title" or level:
                text = render_plain(runs)
                marker = self._next_marker(properties, style)
                if style.kind == "title":
                    self._title_levels = 1
                    self.draft.add_heading(1, text)
                else:
                    number = f"{marker} " if marker and marker != "-" and text else ""
                    self.draft.add_heading(level + self._title_levels, number + text)
                self.title = self.title or text
            elif style.kind != "toc":
                self._write_text(render_inline(runs), style, properties)
        for box in boxes:
            self._write_block(box)

    def _write_text(self, text: str, style: ParagraphStyle, properties: XmlElement | None) -> None:
        if style.kind == "quote":
            self.draft.add_quote(text)
            return
        marker = self._next_marker(properties, style) if text else None
        if marker is None:
            self.draft.add_block(text)
            return
        own_list, level = read_numbering(properties)
        depth = (level if own_list else style.level) or style.depth
        if marker:
            self.draft.add_item(depth, *format_item(text, marker))
        else:
            self.draft.add_block(ITEM_INDENT * (depth + 1) + text)

    def _next_marker(self, properties: XmlElement | None, style: ParagraphStyle) -> str | None:
        name, level = read_numbering(properties)
        if not name:
            name, level = style.list, style.level or max(0, style.heading - 1)
        return self.lists.next_marker(name, level) if name and name != "0" else None

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.draft.add_block(format_code_block(code, ""))

    def _read_cell(self, cell: XmlElement) -> WordCell:
        properties = cell.find("w:tcPr") or XmlElement("")
        span = properties.get_value("w:gridSpan", attribute="w:val") or "1"
        columns = int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1
        return WordCell(
            " ".join(self._read_texts(cell)),
            max(1, min(MAX_SPAN, columns)),
            is_continued=_is_continued(cell),
        )

    def _read_texts(self, cell: XmlElement) -> list[str]:
        """Return the paragraphs in a cell, items with their markers, and a nested table as one text."""
        texts: list[str] = []
        for child in cell.iter_children():
            if child.name == "w:p":
                text = render_inline(self.run_builder.build_runs(child))
                style = self.styles.get_style(child.get_value("w:pPr", "w:pStyle", attribute="w:val") or "")
                marker = (self._next_marker(child.find("w:pPr"), style) if text else "") or ""
                texts.append(f"{'•' if marker == '-' else marker} {text}".strip())
                boxes, self.run_builder.boxes = self.run_builder.boxes, []
                for box in boxes:
                    texts += self._read_texts(box)
            elif child.name == "w:tbl":
                rows = [
                    [self._read_cell(cell).text for cell in _find_children(row, "w:tc")]
                    for row in _find_children(child, "w:tr")
                ]
                texts.append("; ".join(", ".join(filter(None, row)) for row in rows if any(row)))
            elif child.name != "w:tcPr":
                texts += self._read_texts(child)
        return [text for text in texts if text]

    def _describe_drawing(self, drawing: XmlElement) -> str:
        """Return a drawing's description; write a chart's numbers, a workbook or a diagram instead."""
        for reference in drawing.iter_descendants("c:chart", "cx:chart"):
            relation = self.run_builder.relations.get(reference.get("r:id"))
            title, rows = read_chart(self.package.parse_part(relation.target)) if relation else ("", [])
            if rows:
                self.draft.add_block(f"Chart: {title or 'untitled'}")
                self.draft.add_table(rows)
                return ""
        for reference in drawing.iter_descendants("o:OLEObject"):
            relation = self.run_builder.relations.get(reference.get("r:id"))
            if write_embedded_workbook(self.package, relation, self.draft):
                return ""
        for reference in drawing.iter_descendants("dgm:relIds"):
            if relation := self.run_builder.relations.get(reference.get("r:dm")):
                self.draft.add_block(render_diagram(self.package.parse_part(relation.target), self.draft))
        descriptions = [
            *(shape.get("descr") or shape.get("title") for shape in drawing.iter_descendants("wp:docPr")),
            *(shape.get("alt") for shape in drawing.iter_descendants("v:shape")),
        ]
        words = next(filter(None, descriptions), "")
        return f"picture: {' '.join(words.split())[:500]}" if words.strip() else ""

    def _write_notes(self) -> None:
        main, builder = self.package.main_part, self.run_builder
        for name in ("footnote", "endnote"):
            part = self.package.find_part(main, f"{name}s")
            builder.relations = self.package.get_relationships(part) if part else {}
            for element in self.package.iter_elements(part, f"w:{name}"):
                label = builder.note_labels.get(f"w:{name}Reference:{element.get('w:id')}")
                if label:
                    self.draft.add_note(label, "\n".join(self._read_texts(element)))
        part = self.package.find_part(main, "comments")
        builder.relations = self.package.get_relationships(part) if part else {}
        for comment in self.package.iter_elements(part, "w:comment"):
            text = "\n".join(self._read_texts(comment))
            if text:
                label = builder.get_note_label("w:commentReference", comment.get("w:id"))
                author, date = comment.get("w:author") or "somebody", comment.get("w:date")[:10]
                self.draft.add_note(label, f"Comment by {author}, {date}: {text}".replace(", :", ":"))


def expand_spans(rows: list[list[WordCell]]) -> list[list[str]]:
    """Return rows of equal length, with spanning cells repeated.

    Cells may span columns or rows.
    """
    width = min(MAX_SPAN, max((sum(cell.span for cell in row) for row in rows), default=0))
    above: list[str] = []
    expanded: list[list[str]] = []
    for row in rows:
        column, cells = 0, []
        for cell in row:
            text = above[column] if cell.is_continued and column < len(above) else cell.text
            cells.append((text, cell.span))
            column += cell.span
        above = [text for text, span in cells for _ in range(span)]
        expanded.append(spread_spans(cells, width))
    return expanded


def align_cell_ends(rows: list[list[tuple[str, int, str]]]) -> list[list[str]]:
    """Return rows of equal length, columns found by where cells end, wide cells repeated in each column.

    Args:
        rows: Of each cell its text, its right edge in twips, and whether it is merged with the cell `beside` or
            `above` it.
    """
    merge_distance_twips = 30  # edges that are nearer belong to one column
    ends: list[int] = []
    for end in sorted({end for row in rows for _, end, _ in row}):
        if not ends or end - ends[-1] > merge_distance_twips:
            ends.append(end)
    if 0 in ends or not 1 < len(ends) <= MAX_TABLE_COLUMNS:
        return [[text for text, _, _ in row] for row in rows]
    word_rows = []
    for row in rows:
        cells: list[WordCell] = []
        column = 0
        for text, end, merged in row:
            next_column = sum(edge <= end + merge_distance_twips for edge in ends)
            if merged == "beside" and cells:
                cells[-1].span += max(1, next_column - column)
            else:
                cells.append(WordCell(text, max(1, next_column - column), is_continued=merged == "above"))
            column = next_column
        word_rows.append(cells)
    return expand_spans(word_rows)


def _is_continued(cell: XmlElement) -> bool:
    """Return whether a cell continues the one above it."""
    merged = cell.get_value("w:tcPr", "w:vMerge", attribute="w:val")
    return merged is not None and merged != "restart"


def _find_children(element: XmlElement, name: str) -> list[XmlElement]:
    """Return the children of a name, including those inside content controls and insertions."""
    children: list[XmlElement] = []
    for child in element.iter_children():
        if child.name == name:
            children.append(child)
        elif child.name in ("w:sdt", "w:sdtContent", "w:ins", "w:customXml"):
            children += _find_children(child, name)
    return children


reader = DocumentReader(
    "word",
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.template.macroenabled.12",
    ),
    read_word,
    suffixes=(".docx", ".docm", ".dotx", ".dotm"),
    needs_whole_body=True,
)
