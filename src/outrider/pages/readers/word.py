"""Word documents (Office Open XML, ISO/IEC 29500-1): docx, docm and their templates.

Read by a stream over the main part rather than by python-docx, which takes lxml and a tree of the
whole document, and knows neither list numbers nor notes, comments and formulas.
"""

from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.chart import chart
from outrider.pages.readers.parts.openxml.package import Package
from outrider.pages.readers.parts.openxml.runs import Words
from outrider.pages.readers.parts.openxml.styles import Lists, Style, Styles, numbering, outline
from outrider.pages.readers.parts.typewriter import is_listed
from outrider.pages.readers.parts.writing import INDENT, Draft, inline, spread, unmarked
from outrider.pages.readers.parts.xml import Element
from outrider.pages.readers.text import fenced

KIND = "Word document"
NOTES = (("footnotes", "w:footnote", "w:footnoteReference"), ("endnotes", "w:endnote", "w:endnoteReference"))
WIDEST = 60  # columns
CLOSE = 30  # twips between ends of cells that are one
SPAN = 60  # columns that one cell may claim


def read(source: Source) -> Document:
    """The body with headings, lists, tables and formulas, then footnotes and comments.

    Deleted and hidden text, the table of contents, headers and footers are left out.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    package = Package(source, KIND)
    body = Body(package, Draft(source, "word"))
    return body.document()


@dataclass
class Cell:
    """A cell of a table: its text, its columns, and whether it goes on from the row above."""

    text: str
    span: int = 1
    continued: bool = False


@dataclass
class Body:
    """Writes the paragraphs and tables of a document."""

    package: Package
    draft: Draft
    title: str = ""
    _code: list[str] = field(default_factory=list)
    _shift: int = 0

    def __post_init__(self) -> None:
        main = self.package.main
        self.styles = Styles(self.package.tree(self.package.related(main, "styles")))
        self.lists = Lists(self.package.tree(self.package.related(main, "numbering")))
        self.words = Words(self.draft, self.package.relations(main), self._pictured, self.styles)

    def document(self) -> Document:
        for element in self.package.stream(self.package.main, "w:p", "w:tbl"):
            if self.draft.full:
                self.draft.cut = True
                break
            self._block(element)
        self._end_code()
        self._notes()
        self.draft.spent(self.package.budget)
        facts = self.package.facts()
        facts["title"] = facts["title"] or self.title
        facts["language"] = facts["language"] or self.styles.language
        return self.draft.document(facts)

    def _block(self, element: Element) -> None:
        if element.name == "w:tbl":
            self._end_code()
            self._table(element)
        elif element.name == "w:p":
            self._paragraph(element)
        else:
            for child in element.elements():
                self._block(child)

    def _paragraph(self, paragraph: Element) -> None:
        properties = paragraph.find("w:pPr")
        style = self._style(properties)
        level = outline(properties) or style.heading
        runs = self.words.of(paragraph)
        boxes, self.words.boxes = self.words.boxes, []
        is_item = style.list or numbering(properties)[0]
        listed = is_listed(runs) and not (style.kind or is_item)
        if (style.kind == "code" or listed) and not level:
            self._code.append("".join(run.text for run in runs))
        else:
            self._end_code()
            if style.kind == "title" or level:
                self._heading(level, unmarked(runs), self._marker(properties, style), title=style.kind == "title")
            elif style.kind != "toc":
                self._text(inline(runs), style, properties)
        for box in boxes:
            self._block(box)

    def _heading(self, level: int, text: str, marker: str | None, *, title: bool) -> None:
        if title:
            self._shift = 1
            self.draft.heading(1, text)
        else:
            number = f"{marker} " if marker and marker != "-" and text else ""
            self.draft.heading(level + self._shift, number + text)
        self.title = self.title or text

    def _text(self, text: str, style: Style, properties: Element | None) -> None:
        if style.kind == "quote":
            self.draft.quote(text)
            return
        marker = self._marker(properties, style) if text else None
        if marker is None:
            self.draft.add(text)
            return
        own, level = numbering(properties)
        depth = (level if own else style.level) or style.depth
        if marker:
            self.draft.item(depth, *written(text, marker))
        else:
            self.draft.add(INDENT * (depth + 1) + text)

    def _style(self, properties: Element | None) -> Style:
        return self.styles.of((properties.value("w:pStyle", attribute="w:val") or "") if properties else "")

    def _marker(self, properties: Element | None, style: Style) -> str | None:
        name, level = numbering(properties)
        if not name:
            name, level = style.list, style.level or max(0, style.heading - 1)
        return self.lists.marker(name, level) if name and name != "0" else None

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.draft.add(fenced(code, ""))

    def _table(self, element: Element) -> None:
        rows = [self._row(row) for row in _rows(element)]
        if rows and all(len(row) == 1 for row in rows) and not any(cell.continued for row in rows for cell in row):
            for row in _rows(element):
                for child in row.elements():
                    self._block(child)
            return
        self.draft.rows(grid(rows))

    def _row(self, row: Element) -> list[Cell]:
        return [self._cell(cell) for cell in _flat(row, "w:tc")][: 4 * SPAN]

    def _cell(self, cell: Element) -> Cell:
        properties = cell.find("w:tcPr") or Element("")
        span = properties.value("w:gridSpan", attribute="w:val") or "1"
        merged = properties.value("w:vMerge", attribute="w:val")
        columns = int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1
        return Cell(
            " ".join(self._texts(cell)),
            max(1, min(SPAN, columns)),
            continued=merged is not None and merged != "restart",
        )

    def _texts(self, cell: Element) -> list[str]:
        """The paragraphs in a cell; a table inside of it becomes words, row by row."""
        texts: list[str] = []
        for child in cell.elements():
            if child.name == "w:p":
                texts.append(inline(self.words.of(child)))
                boxes, self.words.boxes = self.words.boxes, []
                for box in boxes:
                    texts += self._texts(box)
            elif child.name != "w:tcPr":
                texts += self._texts(child)
        return [text for text in texts if text]

    def _pictured(self, drawing: Element) -> str:
        """What a drawing shows: its description, or its chart's numbers, which become a table of their own."""
        for reference in drawing.all("c:chart"):
            relation = self.words.relations.get(reference.get("r:id"))
            title, rows = chart(self.package.tree(relation.target)) if relation else ("", [])
            if rows:
                self.draft.add(f"Chart: {title or 'untitled'}")
                self.draft.rows(rows)
                return ""
        described = next((each for each in drawing.all("wp:docPr") if each.get("descr") or each.get("title")), None)
        words = (described.get("descr") or described.get("title")) if described else ""
        words = words or next((each.get("alt") for each in drawing.all("v:shape") if each.get("alt")), "")
        return f"picture: {' '.join(words.split())[:500]}" if words.strip() else ""

    def _notes(self) -> None:
        main, words = self.package.main, self.words
        for kind, name, reference in NOTES:
            part = self.package.related(main, kind)
            words.relations = self.package.relations(part) if part else {}
            for element in self.package.stream(part, name):
                label = words.references.get(f"{reference}:{element.get('w:id')}")
                if label:
                    self.draft.note(label, "\n".join(self._texts(element)))
        part = self.package.related(main, "comments")
        words.relations = self.package.relations(part) if part else {}
        for comment in self.package.stream(part, "w:comment"):
            said = "\n".join(self._texts(comment))
            if said:
                label = words.label("w:commentReference", comment.get("w:id"))
                who = comment.get("w:author") or "somebody"
                self.draft.note(label, f"Comment by {who}, {comment.get('w:date')[:10]}: {said}".replace(", :", ":"))


def grid(rows: list[list[Cell]]) -> list[list[str]]:
    """Rows of equal length: what spans several columns or rows stands in each of them."""
    width = min(SPAN, max((sum(cell.span for cell in row) for row in rows), default=0))
    above: list[str] = []
    made: list[list[str]] = []
    for row in rows:
        column, cells = 0, []
        for cell in row:
            text = above[column] if cell.continued and column < len(above) else cell.text
            cells.append((text, cell.span))
            column += cell.span
        above = [text for text, span in cells for _ in range(span)]
        made.append(spread(cells, width))
    return made


def by_ends(rows: list[list[tuple[str, int, str]]]) -> list[list[str]]:
    """Rows of cells by the places where they end: one that goes over several columns stands in each of them.

    Args:
        rows: Of each cell its text, where it ends in twips, and whether it goes on from the one `beside` or `above` it.
    """
    ends: list[int] = []
    for end in sorted({end for row in rows for _, end, _ in row}):
        if not ends or end - ends[-1] > CLOSE:
            ends.append(end)
    if 0 in ends or not 1 < len(ends) <= WIDEST:
        return [[text for text, _, _ in row] for row in rows]
    made = []
    for row in rows:
        cells: list[Cell] = []
        before = 0
        for text, end, merged in row:
            at = sum(each <= end + CLOSE for each in ends)
            if merged == "beside" and cells:
                cells[-1].span += max(1, at - before)
            else:
                cells.append(Cell(text, max(1, at - before), continued=merged == "above"))
            before = at
        made.append(cells)
    return grid(made)


def written(text: str, marker: str) -> tuple[str, str]:
    """An item's text and its marker in Markdown, which knows bullets and plain numbers only."""
    plain = marker.removesuffix(".").removesuffix(")")
    if marker == "-" or (plain.isascii() and plain.isdigit() and len(plain) < 10 and plain != marker):
        return text, marker
    return f"{marker} {text}" if marker else text, "-"


def _rows(element: Element) -> list[Element]:
    return _flat(element, "w:tr")


def _flat(element: Element, name: str) -> list[Element]:
    """The children of a name, those inside of content controls and insertions too."""
    found: list[Element] = []
    for child in element.elements():
        if child.name == name:
            found.append(child)
        elif child.name in ("w:sdt", "w:sdtContent", "w:ins", "w:customXml"):
            found += _flat(child, name)
    return found


TYPES = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    "application/vnd.ms-word.document.macroenabled.12",
    "application/vnd.ms-word.template.macroenabled.12",
)
reader = Reader("word", TYPES, read, suffixes=(".docx", ".docm", ".dotx", ".dotm"), whole=True)
