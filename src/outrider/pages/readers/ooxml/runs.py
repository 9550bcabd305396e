"""Build the runs of a Word paragraph: text, links, fields, formulas, references.

ISO/IEC 29500-1 section 17.3.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from outrider.pages.readers.ooxml.math import render_latex
from outrider.pages.readers.ooxml.package import Relationship
from outrider.pages.readers.ooxml.styles import WordStyles, apply_toggles, is_monospaced_run, is_toggle_on
from outrider.pages.readers.parsing.draft import DocumentDraft, TextRun, format_script_digits
from outrider.pages.readers.parsing.monospace import CodeDetector
from outrider.pages.readers.parsing.symbol_fonts import decode_symbol
from outrider.pages.readers.parsing.xml import XmlElement

HYPERLINK_FIELD = re.compile(r'^\s*HYPERLINK\s+(?:\\[mnht]\s+)*"?([^"\s\\][^"\s]*)')
BOOKMARK_SWITCH = re.compile(r'\\l\s+"?([^"\s]{1,500})')
SKIPPED_ELEMENTS = frozenset(
    {"w:del", "w:moveFrom", "w:pPr", "w:rPr", "mc:Fallback", "w:sdtPr", "w:delText", "w:sectPr"}
)
SIGN_ELEMENTS = {"w:tab": " ", "w:cr": "\n", "w:noBreakHyphen": "\u2011", "w:ptab": " ", "w:sym": ""}
DRAWING_ELEMENTS = frozenset({"w:drawing", "w:pict", "w:object", "mc:AlternateContent"})
CHECK_SIGNS = ("☐", "☒")
NOTE_PREFIXES = {"w:footnoteReference": "", "w:endnoteReference": "e", "w:commentReference": "c"}


@dataclass
class ComplexField:
    """An open field: its instruction, whether its result has begun, and the URL that it links to.

    `default` is the sign or the choice of a form field, which has no result.
    """

    instruction: str = ""
    default: str = ""
    has_result: bool = False
    address: str = ""


@dataclass
class WordRunBuilder:
    """Build runs of paragraphs. Fields may span several, so their state is kept.

    Args:
        draft: Records links and hidden text.
        relations: The part's relationships, which hold the links' targets.
        describe_picture: Returns a drawing's description, or an empty string.
        styles: The document's styles.
    """

    draft: DocumentDraft
    relations: Mapping[str, Relationship]
    describe_picture: Callable[[XmlElement], str]
    styles: WordStyles
    note_labels: dict[str, str] = field(default_factory=dict)
    boxes: list[XmlElement] = field(default_factory=list)
    _label_counts: Counter[str] = field(default_factory=Counter)
    _fields: list[ComplexField] = field(default_factory=list)
    _runs: list[TextRun] = field(default_factory=list)
    _is_monospaced: bool = False
    _paragraph_toggles: frozenset[str] = frozenset()
    _code_detector: CodeDetector = field(default_factory=CodeDetector)

    def build_runs(self, paragraph: XmlElement) -> list[TextRun]:
        """Return a paragraph's runs; its text boxes are appended to `boxes`."""
        self._runs = []
        style = paragraph.get_value("w:pPr", "w:pStyle", attribute="w:val") or ""
        self._is_monospaced = bool(self.styles.is_monospaced(style))
        # A style that makes all of a paragraph bold emphasizes nothing in it.
        self._paragraph_toggles = self.styles.get_toggles(style) & {"w:vanish"}
        self._visit_children(paragraph, "")
        return self._code_detector.filter_code(self._runs)

    def get_note_label(self, kind: str, number: str) -> str:
        """Return a note's label, which is assigned at its first reference."""
        key = f"{kind}:{number}"
        if key not in self.note_labels:
            self._label_counts[kind] += 1
            self.note_labels[key] = f"{NOTE_PREFIXES[kind]}{self._label_counts[kind]}"
        return self.note_labels[key]

    def _visit_children(self, element: XmlElement, address: str) -> None:
        for child in element.iter_children():
            if child.name == "w:r":
                self._visit_run(child, address)
            elif child.name in ("m:oMath", "m:oMathPara"):
                if formula := render_latex(child):
                    mark = "$$" if child.name == "m:oMathPara" else "$"
                    self._runs.append(TextRun(f"{mark}{formula}{mark}", literal=True))
            elif child.name == "mc:AlternateContent":
                self._visit_children(child.find("mc:Choice") or child.find("mc:Fallback") or child, address)
            elif child.name == "w:txbxContent":
                self.boxes.append(child)
            elif child.name not in SKIPPED_ELEMENTS:
                self._visit_children(child, self._find_link(child) or address)

    def _find_link(self, element: XmlElement) -> str:
        """Return the URL of a hyperlink or a simple field; empty for other elements."""
        if element.name == "w:hyperlink":
            relation, anchor = self.relations.get(element.get("r:id")), element.get("w:anchor")
            if relation is None or not relation.external:
                return ""
            place = f"#{anchor}" if anchor and "#" not in relation.target else ""
            return self.draft.resolve_link(relation.target + place, element.text)
        return self._resolve_field_link(element.get("w:instr")) if element.name == "w:fldSimple" else ""

    def _visit_run(self, run: XmlElement, address: str) -> None:
        properties = run.find("w:rPr") or XmlElement("")
        address = next((open_field.address for open_field in reversed(self._fields) if open_field.address), address)
        alignment = properties.get_value("w:vertAlign", attribute="w:val") or ""
        style_name = properties.get_value("w:rStyle", attribute="w:val") or ""
        toggles = apply_toggles(properties, self._paragraph_toggles | self.styles.get_toggles(style_name))
        hidden = "w:vanish" in toggles
        code = is_monospaced_run(properties)
        if code is None and style_name:
            code = self.styles.is_monospaced(style_name)
        code = self._is_monospaced if code is None else code
        style = TextRun(
            "",
            rise={"superscript": 1, "subscript": -1}.get(alignment, 0),
            bold="w:b" in toggles,
            italic="w:i" in toggles,
            struck="w:strike" in toggles or "w:dstrike" in toggles,
            address=address,
            code=code and not self.styles.is_all_monospaced,
        )
        for piece in run.iter_children():
            if piece.name == "w:ruby":  # keep the base text, drop its pronunciation
                self._visit_children(piece.find("w:rubyBase") or piece, address)
            else:
                self._visit_piece(piece, style, hidden=hidden)

    def _visit_piece(self, piece: XmlElement, style: TextRun, *, hidden: bool) -> None:
        if piece.name == "w:fldChar":
            self._handle_field_char(piece, style, hidden=hidden)
        elif piece.name == "w:instrText":
            if self._fields:
                self._fields[-1].instruction += piece.text[:3_000]
        elif not all(open_field.has_result for open_field in self._fields):
            return
        elif hidden:
            self.draft.hidden_count += bool(piece.text.strip())
        elif text := self._read_piece(piece):
            self._runs.append(
                replace(style, text=format_script_digits(text, style.rise), literal=piece.name in NOTE_PREFIXES)
            )

    def _read_piece(self, piece: XmlElement) -> str:
        if piece.name == "w:t":
            return piece.text.replace("\n", " ").replace("\u00a0", " ")
        if piece.name in SIGN_ELEMENTS:
            return SIGN_ELEMENTS[piece.name] or decode_symbol(piece.get("w:font"), piece.get("w:char"))
        if piece.name == "w:br":
            return "\n"
        if piece.name in NOTE_PREFIXES:
            return f"[^{self.get_note_label(piece.name, piece.get('w:id'))}]"
        if piece.name not in DRAWING_ELEMENTS:
            return ""
        drawing = piece.find("mc:Choice") if piece.name == "mc:AlternateContent" else piece
        self.boxes += (drawing or piece).iter_outermost("w:txbxContent")
        description = self.describe_picture(drawing or piece)
        return f"({description})" if description else ""

    def _handle_field_char(self, piece: XmlElement, style: TextRun, *, hidden: bool) -> None:
        kind = piece.get("w:fldCharType")
        if kind == "begin" and len(self._fields) < 50:
            self._fields.append(ComplexField(default=read_form_field(piece.find("w:ffData"))))
        elif kind == "separate" and self._fields:
            self._fields[-1].has_result = True
            self._fields[-1].address = self._resolve_field_link(self._fields[-1].instruction)
        elif kind == "end" and self._fields:
            ended = self._fields.pop()
            is_shown = not hidden and all(open_field.has_result for open_field in self._fields)
            if ended.default and is_shown and (not ended.has_result or ended.default in CHECK_SIGNS):
                self._runs.append(replace(style, text=ended.default))

    def _resolve_field_link(self, code: str) -> str:
        address = parse_hyperlink_field(code)
        return self.draft.resolve_link(address) if address else ""


def read_form_field(data: XmlElement | None) -> str:
    """Return the sign of a check box or the choice of a list; empty for other fields (section 17.16.17)."""
    if data is None:
        return ""
    if (box := data.find("w:checkBox")) is not None:
        is_checked = is_toggle_on(box, "w:checked", default=is_toggle_on(box, "w:default"))
        return CHECK_SIGNS[is_checked]
    choices = data.find("w:ddList") or XmlElement("")
    number = choices.get_value("w:result", attribute="w:val") or choices.get_value("w:default", attribute="w:val")
    entries = [entry.get("w:val") for entry in choices.iter_named("w:listEntry")]
    at = int(number) if number and number.isascii() and number.isdigit() and len(number) < 4 else 0
    return entries[at] if at < len(entries) else ""


def parse_hyperlink_field(code: str) -> str:
    """Return the URL of a HYPERLINK field (section 17.16.5.25); empty for links inside the document."""
    link = HYPERLINK_FIELD.match(code[:3_000])
    if not link:
        return ""
    bookmark = BOOKMARK_SWITCH.search(code, link.end(), 3_000)
    return f"{link[1]}#{bookmark[1]}" if bookmark and "#" not in link[1] else link[1]
