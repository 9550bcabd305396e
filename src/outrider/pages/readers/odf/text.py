"""The words of OpenDocument: paragraphs, spans, links, notes and styles (OASIS OpenDocument 1.3 part 3)."""

from collections.abc import Callable
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
NON_SHAPES = frozenset({"draw:a", "draw:object", "draw:image"})
SPACE_ELEMENTS = {"text:tab": " ", "text:line-break": "\n", "text:s": " "}
NON_TITLE_STYLES = frozenset({"Author", "Date", "Subtitle"})  # which are based on the title
QUOTE_STYLES = frozenset({"Quotations", "Block_20_Text", "Block Text", "Quote", "Intense_20_Quote", "Intense Quote"})


@dataclass
class OdfStyle:
    """What a style makes of words; `parent` is the style it goes on from."""

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
    fixed: bool | None = None  # whether letters have one width; None if it says nothing of it


STYLE_FLAGS = tuple(each.name for each in fields(OdfStyle) if each.name not in ("parent", "fixed"))


@dataclass(frozen=True)
class ListNumbering:
    """How a level of a list writes its numbers."""

    format: str = "decimal"
    before: str = ""
    after: str = ""

    def format_marker(self, number: int) -> str:
        """What stands before an item."""
        return f"{self.before}{format_list_number(number, self.format)}{self.after or '.'}"


@dataclass
class OdfStyles:
    """The styles by family and name, and how each level of a list is numbered, by the list's name."""

    styles: dict[str, OdfStyle] = field(default_factory=dict)
    lists: dict[str, dict[int, ListNumbering]] = field(default_factory=dict)
    hidden_styles: set[str] = field(default_factory=set)
    blank_levels: set[tuple[str, int]] = field(default_factory=set)  # lists and their levels whose items only go on
    is_all_monospaced: bool = False  # whether all is in letters of one width, which says nothing else
    _faces: dict[str, bool] = field(default_factory=dict)

    def load_styles(self, root: XmlElement) -> None:
        """Takes in the styles of one part."""
        for face in root.iter_descendants("style:font-face"):
            named = f"{face.get('style:name')} {face.get('svg:font-family')}"
            self._faces[face.get("style:name")] = face.get("style:font-pitch") == "fixed" or is_monospaced_font(named)
        for each in root.iter_descendants("style:style", "style:default-style", "text:list-style"):
            if each.name == "style:default-style":
                if each.get("style:family") == "paragraph":
                    self.is_all_monospaced = bool(self._read_monospaced(each))
            elif each.name == "text:list-style":
                numbered = {
                    int(level): ListNumbering(
                        NUMBER_FORMATS.get(child.get("style:num-format", "1"), "decimal"),
                        child.get("style:num-prefix")[:5],
                        child.get("style:num-suffix")[:5],
                    )
                    for child in each.iter_named("text:list-level-style-number")
                    if (level := child.get("text:level")).isdigit()
                    and len(level) < 3
                    and child.get("style:num-format", "1")
                }
                self.lists[each.get("style:name")] = numbered
                self.blank_levels |= {
                    (each.get("style:name"), int(level))
                    for child in each.iter_named("text:list-level-style-bullet")
                    if (level := child.get("text:level")).isdigit()
                    and len(level) < 3
                    and child.get("text:bullet-char").isspace()
                }
            else:
                look = replace(_parse_style(each), fixed=self._read_monospaced(each))
                self.styles[f"{each.get('style:family')} {each.get('style:name')}"] = look
                if each.get_value("style:table-properties", attribute="table:display") == "false":
                    self.hidden_styles.add(each.get("style:name"))
                if each.get_value("style:drawing-page-properties", attribute="presentation:visibility") == "hidden":
                    self.hidden_styles.add(each.get("style:name"))

    def resolve_style(self, family: str, name: str) -> OdfStyle:
        """What a style says, with what it inherits."""
        max_chain = 20  # styles that one may be based on
        merged, seen = OdfStyle(), 0
        while name and seen < max_chain and (found := self.styles.get(f"{family} {name}")):
            fixed = found.fixed if merged.fixed is None else merged.fixed
            if name in NON_TITLE_STYLES:
                return replace(merged, fixed=fixed, title=False)
            merged = replace(merged, fixed=fixed, **{each: True for each in STYLE_FLAGS if getattr(found, each)})
            name, seen = found.parent, seen + 1
        return merged

    def _read_monospaced(self, style: XmlElement) -> bool | None:
        """Whether a style sets its words in letters of one width, or calls them code."""
        if style.get("style:family") == "text" and is_code_style(
            style.get("style:display-name") or style.get("style:name")
        ):
            return True
        words = style.find("style:text-properties") or XmlElement("")
        name, family = words.get("style:font-name"), words.get("fo:font-family")
        if not (name or family):
            return None
        return self._faces.get(name, False) or is_monospaced_font(family or name)


def _parse_style(style: XmlElement) -> OdfStyle:
    bold_weights = frozenset({"bold", "600", "700", "800", "900"})
    words = style.find("style:text-properties") or XmlElement("")
    place = words.get("style:text-position")
    names = {style.get("style:name"), style.get("style:display-name"), style.get("style:parent-style-name")}
    return OdfStyle(
        style.get("style:parent-style-name"),
        bold=words.get("fo:font-weight") in bold_weights,
        italic=words.get("fo:font-style") in ("italic", "oblique"),
        struck=words.get("style:text-line-through-style") not in ("", "none"),
        hidden=words.get("text:display") == "none",
        title="Title" in names and not names & NON_TITLE_STYLES,
        quote=bool(names & QUOTE_STYLES),
        superscript=place.startswith("super") or (place[:1].isdigit() and not place.startswith("0")),
        subscript=place.startswith(("sub", "-")),
        code=bool(names & {"Preformatted_20_Text", "Preformatted Text"}),
    )


def _nothing(_: XmlElement) -> XmlElement:
    return XmlElement("")


@dataclass
class OdfRunBuilder:
    """Makes runs of paragraphs, and puts aside what stands beside them.

    Args:
        draft: Remembers links and what was hidden.
        styles: The styles.
        find_object: The content of a formula or a chart that stands in a frame; an empty element if there is none.
    """

    draft: DocumentDraft
    styles: OdfStyles
    boxes: list[XmlElement] = field(default_factory=list)
    notes: list[tuple[str, XmlElement]] = field(default_factory=list)
    comment_count: int = 0
    find_object: Callable[[XmlElement], XmlElement] = _nothing
    _keeps_spaces: bool = False
    _code_detector: CodeDetector = field(default_factory=CodeDetector)
    _runs: list[TextRun] = field(default_factory=list)

    def build_runs(self, paragraph: XmlElement) -> list[TextRun]:
        """The paragraph's runs."""
        self._runs = []
        look = self.styles.resolve_style("paragraph", paragraph.get("text:style-name"))
        self._keeps_spaces = look.code
        self._visit_children(
            paragraph, TextRun("", code=bool(look.fixed) and not self.styles.is_all_monospaced), hidden=look.hidden
        )
        return self._code_detector.filter_code(self._runs)

    def flatten_text(self, element: XmlElement) -> str:
        """All paragraphs in an element as one line."""
        found = element.iter_outermost("text:p", "text:h", "office:annotation", "draw:object")
        texts = (render_inline(self.build_runs(each)) for each in found if each.name in ("text:p", "text:h"))
        return " ".join(" ".join(text.split()) for text in texts if text)

    def _visit_children(self, element: XmlElement, style: TextRun, *, hidden: bool) -> None:
        for child in element.children:
            if isinstance(child, XmlElement):
                self._visit_piece(child, style, hidden=hidden)
            elif hidden:
                self.draft.hidden_count += bool(child.strip())
            else:
                self._add(" ".join(child.split()) if child.isspace() else child, style, blank=child.isspace())

    def _add(self, text: str, style: TextRun, *, blank: bool = False) -> None:
        text = " " if blank else text.replace("\n", " ").replace("\t", " ")
        text = format_script_digits(text, style.rise)
        self._runs.append(replace(style, text=text, rise=0))

    def _visit_piece(self, piece: XmlElement, style: TextRun, *, hidden: bool) -> None:
        name = piece.name
        if name == "text:span":
            look = self.styles.resolve_style("text", piece.get("text:style-name"))
            self._visit_children(
                piece, _apply_style(style, look, typed=self.styles.is_all_monospaced), hidden=hidden or look.hidden
            )
        elif name == "text:a":
            address = self.draft.resolve_link(piece.get("xlink:href"), piece.text)
            self._visit_children(piece, replace(style, address=address, literal=False, rise=0), hidden=hidden)
        elif name in SPACE_ELEMENTS:
            self._runs.append(TextRun(SPACE_ELEMENTS[name] * self._count_spaces(piece, style), code=style.code))
        elif name == "text:note":
            self._note(piece)
        elif name == "office:annotation":
            self._comment(piece)
        elif name.startswith("draw:") and name not in NON_SHAPES:
            (self._visit_frame if name == "draw:frame" else self._collect_shape)(piece)
        elif name not in SKIPPED_ELEMENTS:
            self._visit_children(piece, style, hidden=hidden)

    def _count_spaces(self, piece: XmlElement, style: TextRun) -> int:
        """How many spaces are meant; they tell something in listings only."""
        given = piece.get("text:c")
        return min(200, int(given)) if (self._keeps_spaces or style.code) and given.isdigit() and len(given) < 4 else 1

    def _note(self, note: XmlElement) -> None:
        label = f"{'e' if note.get('text:note-class') == 'endnote' else ''}{len(self.notes) + 1}"
        self._runs.append(TextRun(f"[^{label}]", literal=True))
        self.notes.append((label, note.find("text:note-body") or XmlElement("")))

    def _comment(self, note: XmlElement) -> None:
        self.comment_count += 1
        self._runs.append(TextRun(f"[^c{self.comment_count}]", literal=True))
        self.notes.append((f"c{self.comment_count}", note))

    def _collect_shape(self, shape: XmlElement) -> None:
        """A drawing; what is written in it is put aside."""
        if any(True for _ in shape.iter_outermost("text:p", "text:h")):
            self.boxes.append(shape)

    def _visit_frame(self, frame: XmlElement) -> None:
        """A picture is told by its description; a text box is put aside."""
        boxes = list(frame.iter_outermost("draw:text-box"))
        if boxes:
            self.boxes += boxes
            return
        content = self.find_object(frame)
        if formula := render_latex(content):
            beside = any(run.text.strip() for run in self._runs)
            self._runs.append(TextRun(formula.replace("$$", "$") if beside else formula, literal=True))
            return
        title, rows = read_chart(content)
        if rows:
            self.draft.add_block(f"Chart: {title or 'untitled'}")
            self.draft.add_table(rows)
            return
        said = next((each.text for each in frame.iter_named("svg:desc", "svg:title") if each.text.strip()), "")
        if said:
            self._runs.append(TextRun(f"(picture: {' '.join(said.split())[:500]})", literal=True))


def _apply_style(run: TextRun, look: OdfStyle, *, typed: bool) -> TextRun:
    return replace(
        run,
        bold=run.bold or look.bold,
        italic=run.italic or look.italic,
        struck=run.struck or look.struck,
        rise=run.rise or look.superscript - look.subscript,
        code=run.code if look.fixed is None else look.fixed and not typed,
    )
