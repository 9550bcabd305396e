"""The words of one Word paragraph: runs, links, fields, formulas and references (ISO/IEC 29500-1 section 17.3)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from outrider.pages.readers.parts.openxml.math import latex
from outrider.pages.readers.parts.openxml.package import Relation
from outrider.pages.readers.parts.openxml.styles import Styles, fixed
from outrider.pages.readers.parts.signs import symbol
from outrider.pages.readers.parts.typewriter import Typewriter
from outrider.pages.readers.parts.writing import Draft, Run, raised
from outrider.pages.readers.parts.xml import Element

HYPERLINK = re.compile(r'^\s*HYPERLINK\s+(?:\\[mnht]\s+)*"?([^"\s\\][^"\s]*)')
PLACE = re.compile(r'\\l\s+"?([^"\s]{1,500})')
OFF = frozenset({"0", "false", "off", "none"})
LEFT_OUT = frozenset({"w:del", "w:moveFrom", "w:pPr", "w:rPr", "mc:Fallback", "w:sdtPr", "w:delText", "w:sectPr"})
SIGNS = {"w:tab": " ", "w:cr": "\n", "w:noBreakHyphen": "\u2011", "w:ptab": " ", "w:sym": ""}
DRAWINGS = frozenset({"w:drawing", "w:pict", "w:object", "mc:AlternateContent"})
RISES = {"superscript": 1, "subscript": -1}
NOTES = {"w:footnoteReference": "", "w:endnoteReference": "e", "w:commentReference": "c"}


@dataclass
class Field:
    """A field that is open: its instruction, whether its result has begun, and where it leads."""

    code: str = ""
    shown: bool = False
    address: str = ""


@dataclass
class Words:
    """Makes runs of paragraphs. Fields may span several, so their state is kept.

    Args:
        draft: Remembers links and what was hidden.
        relations: Where the part's links lead.
        pictured: What to say of a drawing; empty for nothing.
        styles: Tell what is code.
    """

    draft: Draft
    relations: Mapping[str, Relation]
    pictured: Callable[[Element], str]
    styles: Styles
    references: dict[str, str] = field(default_factory=dict)
    boxes: list[Element] = field(default_factory=list)
    _fields: list[Field] = field(default_factory=list)
    _runs: list[Run] = field(default_factory=list)
    _typed: bool = False
    _typewriter: Typewriter = field(default_factory=Typewriter)

    def of(self, paragraph: Element) -> list[Run]:
        """The paragraph's runs; its text boxes are put aside."""
        self._runs = []
        style = paragraph.value("w:pPr", "w:pStyle", attribute="w:val") or ""
        self._typed = bool(self.styles.fixed(style))
        self._inside(paragraph, "")
        return self._typewriter.coded(self._runs)

    def label(self, kind: str, number: str) -> str:
        """The label of a note, given when it is first referred to."""
        key = f"{kind}:{number}"
        prefix = NOTES[kind]
        if key not in self.references:
            used = sum(each.startswith(f"{kind}:") for each in self.references)
            self.references[key] = f"{prefix}{used + 1}"
        return self.references[key]

    def _inside(self, element: Element, address: str) -> None:
        for child in element.elements():
            if child.name == "w:r":
                self._run(child, address)
            elif child.name in ("m:oMath", "m:oMathPara"):
                self._formula(child)
            elif child.name == "mc:AlternateContent":
                self._inside(child.find("mc:Choice") or child.find("mc:Fallback") or child, address)
            elif child.name == "w:txbxContent":
                self.boxes.append(child)
            elif child.name not in LEFT_OUT:
                self._inside(child, self._leads(child) or address)

    def _leads(self, element: Element) -> str:
        """Where a link or a field with all in one element leads."""
        if element.name == "w:hyperlink":
            return self._linked(element)
        return self._pointed(element.get("w:instr")) if element.name == "w:fldSimple" else ""

    def _run(self, run: Element, address: str) -> None:
        properties = run.find("w:rPr") or Element("")
        hidden = _on(properties, "w:vanish")
        address = next((each.address for each in reversed(self._fields) if each.address), address)
        place = properties.value("w:vertAlign", attribute="w:val") or ""
        style = Run(
            "",
            rise=RISES.get(place, 0),
            bold=_on(properties, "w:b"),
            italic=_on(properties, "w:i"),
            struck=_on(properties, "w:strike") or _on(properties, "w:dstrike"),
            address=address,
            code=self._is_code(properties),
        )
        for piece in run.elements():
            if piece.name == "w:ruby":  # of letters with how they are spoken, the letters
                self._inside(piece.find("w:rubyBase") or piece, address)
            else:
                self._piece(piece, style, hidden=hidden)

    def _is_code(self, properties: Element) -> bool:
        if self.styles.typed:
            return False
        style = properties.value("w:rStyle", attribute="w:val") or ""
        said = fixed(properties), self.styles.fixed(style) if style else None
        return next((each for each in said if each is not None), self._typed)

    def _piece(self, piece: Element, style: Run, *, hidden: bool) -> None:
        if piece.name == "w:fldChar":
            self._field(piece.get("w:fldCharType"))
        elif piece.name == "w:instrText":
            if self._fields:
                self._fields[-1].code += piece.text[:3_000]
        elif not all(each.shown for each in self._fields):
            return
        elif hidden:
            self.draft.hidden += bool(piece.text.strip())
        elif text := self._text(piece):
            self._runs.append(replace(style, text=raised(text, style.rise), literal=piece.name in NOTES))

    def _text(self, piece: Element) -> str:
        if piece.name == "w:t":
            return piece.text.replace("\n", " ").replace("\u00a0", " ")
        if piece.name in SIGNS:
            return SIGNS[piece.name] or symbol(piece.get("w:font"), piece.get("w:char"))
        if piece.name == "w:br":
            return "\n"
        if piece.name in NOTES:
            return f"[^{self.label(piece.name, piece.get('w:id'))}]"
        return self._drawing(piece) if piece.name in DRAWINGS else ""

    def _drawing(self, drawing: Element) -> str:
        """Its description in words; its text boxes are put aside."""
        chosen = drawing.find("mc:Choice") if drawing.name == "mc:AlternateContent" else drawing
        self.boxes += (chosen or drawing).outermost("w:txbxContent")
        said = self.pictured(chosen or drawing)
        return f"({said})" if said else ""

    def _formula(self, element: Element) -> None:
        found = latex(element)
        if found:
            mark = "$$" if element.name == "m:oMathPara" else "$"
            self._runs.append(Run(f"{mark}{found}{mark}", literal=True))

    def _field(self, kind: str) -> None:
        if kind == "begin" and len(self._fields) < 50:
            self._fields.append(Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].shown = True
            self._fields[-1].address = self._pointed(self._fields[-1].code)
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _linked(self, element: Element) -> str:
        relation = self.relations.get(element.get("r:id"))
        return self.draft.address(relation.target, element.text) if relation and relation.external else ""

    def _pointed(self, code: str) -> str:
        address = pointed(code)
        return self.draft.address(address) if address else ""


def pointed(code: str) -> str:
    """Where a field leads (ISO/IEC 29500-1 section 17.16.5.25); empty if that is in the document, or it is no link."""
    found = HYPERLINK.match(code[:3_000])
    if not found:
        return ""
    place = PLACE.search(code, found.end(), 3_000)
    return f"{found[1]}#{place[1]}" if place and "#" not in found[1] else found[1]


def _on(properties: Element, name: str) -> bool:
    """Whether a toggle is set; one without a value is (ISO/IEC 29500-1 section 17.3.2)."""
    value = properties.value(name, attribute="w:val")
    return value is not None and value.lower() not in OFF
