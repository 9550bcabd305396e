"""Read OpenDocument paragraphs: spans, links, notes and styles (OASIS OpenDocument 1.3 part 3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace

from outrider.pages.readers.odf.objects import read_chart, render_latex
from outrider.pages.readers.ooxml.styles import format_list_number
from outrider.pages.readers.parsing.draft import DocumentDraft, TextRun, format_script_digits, render_inline
from outrider.pages.readers.parsing.monospace import CodeDetector, is_code_style, is_monospaced_font
from outrider.pages.readers.parsing.xml import XmlElement

SKIPPED_ELEMENTS = frozenset(
    "text:tracked-changes text:sequence-decls text:variable-decls office:forms text:alphabetical-index-mark "  # noqa: SIM905
    "text:bookmark text:bookmark-start text:bookmark-end text:reference-mark text:hidden-text text:ruby-text "
    "svg:title svg:desc office:event-listeners text:change text:change-start text:change-end".split()
)
NUMBER_FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}

SPACE_ELEMENTS = {"text:tab": " ", "text:line-break": "\n", "text:s": " "}
NON_TITLE_STYLES = frozenset({"Author", "Date", "Subtitle"})  # based on the title style
QUOTE_STYLES = frozenset({"Quotations", "Block_20_Text", "Block Text", "Quote", "Intense_20_Quote", "Intense Quote"})


@dataclass
class OdfStyle:
    """The properties of a style; `parent` is the style that it inherits from."""

    parent: str = ""
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    title: bool = False
    quote: bool = False
    code: bool = False
    superscript: bool = False
    subscript: bool = False
    monospaced: bool | None = None  # None if the style does not set a font


STYLE_FLAGS = tuple(entry.name for entry in fields(OdfStyle) if entry.name not in ("parent", "monospaced"))


@dataclass(frozen=True)
class ListNumbering:
    """The number format of a list level, the text before and after its numbers, and the first of them."""

    format: str = "decimal"
    before: str = ""
    after: str = ""
    start: int = 1

    def format_marker(self, number: int) -> str:
        return f"{self.before}{format_list_number(number, self.format)}{self.after or '.'}"


@dataclass
class OdfStyles:
    """The styles by family and name, and the numbering of each list level by the list's name."""

    styles: dict[str, OdfStyle] = field(default_factory=dict)
    lists: dict[str, dict[int, ListNumbering]] = field(default_factory=dict)
    hidden_styles: set[str] = field(default_factory=set)
    blank_levels: set[tuple[str, int]] = field(default_factory=set)  # lists and levels with a blank bullet
    is_all_monospaced: bool = False  # text without its own font is monospaced
    _faces: dict[str, bool] = field(default_factory=dict)

    def load_styles(self, root: XmlElement) -> None:
        """Add the styles of one part."""
        for face in root.iter_descendants("style:font-face"):
            names = f"{face.get('style:name')} {face.get('svg:font-family')}"
            self._faces[face.get("style:name")] = face.get("style:font-pitch") == "fixed" or is_monospaced_font(names)
        for style in root.iter_descendants("style:style", "style:default-style", "text:list-style"):
            if style.name == "text:list-style":
                self._load_list(style)
            elif style.name == "style:style":
                name = style.get("style:name")
                parsed = replace(_parse_style(style), monospaced=self._read_monospaced(style))
                self.styles[f"{style.get('style:family')} {name}"] = parsed
                if style.get_value("style:table-properties", attribute="table:display") == "false":
                    self.hidden_styles.add(name)
                if style.get_value("style:drawing-page-properties", attribute="presentation:visibility") == "hidden":
                    self.hidden_styles.add(name)
            elif style.get("style:family") == "paragraph":
                self.is_all_monospaced = bool(self._read_monospaced(style))

    def _load_list(self, style: XmlElement) -> None:
        name = style.get("style:name")
        self.lists[name] = {}
        for element in style.iter_named("text:list-level-style-number", "text:list-level-style-bullet"):
            level = element.get("text:level")
            if not level.isdigit() or len(level) > 2:
                continue
            number_format, start = element.get("style:num-format", "1"), element.get("text:start-value")
            if element.name == "text:list-level-style-bullet":
                if element.get("text:bullet-char").isspace():
                    self.blank_levels.add((name, int(level)))
            elif number_format:
                self.lists[name][int(level)] = ListNumbering(
                    NUMBER_FORMATS.get(number_format, "decimal"),
                    element.get("style:num-prefix")[:5],
                    element.get("style:num-suffix")[:5],
                    int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1,
                )

    def resolve_style(self, family: str, name: str) -> OdfStyle:
        """Return a style's properties, inherited ones included."""
        max_chain = 20
        merged, seen = OdfStyle(), 0
        while name and seen < max_chain and (style := self.styles.get(f"{family} {name}")):
            monospaced = style.monospaced if merged.monospaced is None else merged.monospaced
            if name in NON_TITLE_STYLES:
                return replace(merged, monospaced=monospaced, title=False)
            flags = {flag: True for flag in STYLE_FLAGS if getattr(style, flag)}
            merged = replace(merged, monospaced=monospaced, **flags)
            name, seen = style.parent, seen + 1
        return merged

    def _read_monospaced(self, style: XmlElement) -> bool | None:
        """Return whether a style is monospaced or one for code; None if it does not set a font."""
        title = style.get("style:display-name") or style.get("style:name")
        if style.get("style:family") == "text" and is_code_style(title):
            return True
        properties = style.find("style:text-properties") or XmlElement("")
        name, family = properties.get("style:font-name"), properties.get("fo:font-family")
        if not (name or family):
            return None
        return self._faces.get(name, False) or is_monospaced_font(family or name)


def _parse_style(style: XmlElement) -> OdfStyle:
    properties = style.find("style:text-properties") or XmlElement("")
    position = properties.get("style:text-position")
    names = {style.get("style:name"), style.get("style:display-name"), style.get("style:parent-style-name")}
    return OdfStyle(
        style.get("style:parent-style-name"),
        bold=properties.get("fo:font-weight") in ("bold", "600", "700", "800", "900"),
        italic=properties.get("fo:font-style") in ("italic", "oblique"),
        struck=properties.get("style:text-line-through-style") not in ("", "none"),
        hidden=properties.get("text:display") == "none",
        title="Title" in names and not names & NON_TITLE_STYLES,
        quote=bool(names & QUOTE_STYLES),
        superscript=position.startswith("super") or (position[:1].isdigit() and not position.startswith("0")),
        subscript=position.startswith(("sub", "-")),
        code=bool(names & {"Preformatted_20_Text", "Preformatted Text"}),
    )


@dataclass
class OdfRunBuilder:
    """Build runs of paragraphs; collect text boxes and notes separately.

    Args:
        draft: Records links and hidden text.
        styles: The document's styles.
        find_object: Returns the content of a formula or chart in a frame; an empty element if there is none.
    """

    draft: DocumentDraft
    styles: OdfStyles
    find_object: Callable[[XmlElement], XmlElement]
    boxes: list[XmlElement] = field(default_factory=list)
    notes: list[tuple[str, XmlElement]] = field(default_factory=list)
    comment_count: int = 0
    _keeps_spaces: bool = False
    _code_detector: CodeDetector = field(default_factory=CodeDetector)
    _runs: list[TextRun] = field(default_factory=list)

    def build_runs(self, paragraph: XmlElement) -> list[TextRun]:
        """Return a paragraph's runs; its text boxes and notes are appended to `boxes` and `notes`."""
        self._runs = []
        style = self.styles.resolve_style("paragraph", paragraph.get("text:style-name"))
        self._keeps_spaces = style.code
        is_code = bool(style.monospaced) and not self.styles.is_all_monospaced
        self._visit_children(paragraph, TextRun("", code=is_code), hidden=style.hidden)
        return self._code_detector.filter_code(self._runs)

    def flatten_text(self, element: XmlElement) -> str:
        """Return all paragraphs in an element as one line, without comments and objects."""
        blocks = element.iter_outermost("text:p", "text:h", "office:annotation", "draw:object")
        texts = (render_inline(self.build_runs(block)) for block in blocks if block.name in ("text:p", "text:h"))
        return " ".join(" ".join(text.split()) for text in texts if text)

    def flatten_cell(self, cell: XmlElement) -> str:
        """Return the text of a cell as one line: items with their markers, and the rows of a table in it."""
        texts = [text for text in self._iter_cell_texts(cell, "", 0) if text]
        return texts[0].removeprefix("• ") if len(texts) == 1 else " ".join(texts)

    def _iter_cell_texts(self, element: XmlElement, style: str, level: int) -> Iterator[str]:
        style = element.get("text:style-name") or style
        numbering = self.styles.lists.get(style, {}).get(level)
        number = numbering.start - 1 if numbering else 0
        for child in element.iter_children():
            if child.name in ("text:p", "text:h"):
                yield " ".join(render_inline(self.build_runs(child)).split())
            elif child.name == "text:list-item":
                number += 1
                marker = numbering.format_marker(number) if numbering else "•"
                text = " ".join(filter(None, self._iter_cell_texts(child, style, level)))
                yield f"{marker} {text}" if text else ""
            elif child.name == "table:table":
                rows = (row.iter_named("table:table-cell") for row in child.iter_outermost("table:table-row"))
                yield "; ".join(", ".join(filter(None, map(self.flatten_cell, cells))) for cells in rows)
            elif child.name not in ("office:annotation", "draw:object"):
                yield from self._iter_cell_texts(child, style, level + (child.name == "text:list"))

    def _visit_children(self, element: XmlElement, style: TextRun, *, hidden: bool) -> None:
        for child in element.children:
            if isinstance(child, XmlElement):
                self._visit_piece(child, style, hidden=hidden)
            elif hidden:
                self.draft.hidden_count += bool(child.strip())
            else:
                text = " " if child.isspace() else child.replace("\n", " ").replace("\t", " ")
                self._runs.append(replace(style, text=format_script_digits(text, style.rise), rise=0))

    def _visit_piece(self, piece: XmlElement, style: TextRun, *, hidden: bool) -> None:
        name = piece.name
        if name == "text:span":
            span = self.styles.resolve_style("text", piece.get("text:style-name"))
            self._visit_children(piece, self._apply_style(style, span), hidden=hidden or span.hidden)
        elif name == "text:a":
            address = self.draft.resolve_link(piece.get("xlink:href"), piece.text)
            self._visit_children(piece, replace(style, address=address, literal=False, rise=0), hidden=hidden)
        elif name in SPACE_ELEMENTS:
            count = piece.get("text:c") if self._keeps_spaces or style.code else ""  # matters in code only
            spaces = min(200, int(count)) if count.isdigit() and len(count) < 4 else 1
            self._runs.append(TextRun(SPACE_ELEMENTS[name] * spaces, code=style.code))
        elif name in ("text:note", "office:annotation"):
            if name == "office:annotation":
                self.comment_count += 1
                label, content = f"c{self.comment_count}", piece
            else:
                label = f"{'e' if piece.get('text:note-class') == 'endnote' else ''}{len(self.notes) + 1}"
                content = piece.find("text:note-body") or XmlElement("")
            self._runs.append(TextRun(f"[^{label}]", literal=True))
            self.notes.append((label, content))
        elif name.startswith("draw:") and name not in ("draw:a", "draw:object", "draw:image"):
            self._visit_shape(piece)
        elif name not in SKIPPED_ELEMENTS:
            self._visit_children(piece, style, hidden=hidden)

    def _visit_shape(self, frame: XmlElement) -> None:
        """Collect text, or add a formula, a chart's numbers, a workbook's sheet or a picture's description."""
        if frame.name != "draw:frame":
            if any(True for _ in frame.iter_outermost("text:p", "text:h")):
                self.boxes.append(frame)
            return
        boxes = list(frame.iter_outermost("draw:text-box"))
        if boxes:
            self.boxes += boxes
            return
        content = self.find_object(frame)
        if formula := render_latex(content):
            is_inline = any(run.text.strip() for run in self._runs)
            self._runs.append(TextRun(formula.replace("$$", "$") if is_inline else formula, literal=True))
            return
        title, rows = read_chart(content)
        if rows:
            self.draft.add_block(f"Chart: {title or 'untitled'}")
            self.draft.add_table(rows)
            return
        if sheets := [*content.iter_descendants("office:spreadsheet")]:
            tables = list(sheets[0].iter_named("table:table"))
            self.boxes.append(XmlElement("", {}, [*tables[:1]]))  # an embedded workbook shows one of its sheets
            return
        texts = (" ".join(element.text.split()) for element in frame.iter_named("svg:desc", "svg:title"))
        if description := next(filter(None, texts), ""):
            self._runs.append(TextRun(f"(picture: {description[:500]})", literal=True))

    def _apply_style(self, run: TextRun, style: OdfStyle) -> TextRun:
        return replace(
            run,
            bold=run.bold or style.bold,
            italic=run.italic or style.italic,
            struck=run.struck or style.struck,
            rise=run.rise or style.superscript - style.subscript,
            code=run.code if style.monospaced is None else style.monospaced and not self.styles.is_all_monospaced,
        )
