"""The words of OpenDocument: paragraphs, spans, links, notes and styles (OASIS OpenDocument 1.3 part 3)."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

from outrider.pages.readers.parts.opendocument.objects import chart, latex
from outrider.pages.readers.parts.openxml.styles import count
from outrider.pages.readers.parts.typewriter import Typewriter, is_code, is_fixed
from outrider.pages.readers.parts.writing import Draft, Run, inline, raised
from outrider.pages.readers.parts.xml import Element

CHAIN = 20  # styles that one may be based on
LEFT_OUT = frozenset(
    "text:tracked-changes text:sequence-decls text:variable-decls office:forms text:alphabetical-index-mark "  # noqa: SIM905
    "text:bookmark text:bookmark-start text:bookmark-end text:reference-mark text:hidden-text text:ruby-text "
    "svg:title svg:desc office:event-listeners text:change text:change-start text:change-end".split()
)
FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
NO_SHAPES = frozenset({"draw:a", "draw:object", "draw:image"})
SPACES = {"text:tab": " ", "text:line-break": "\n", "text:s": " "}
UNTITLED = frozenset({"Author", "Date", "Subtitle"})  # which are based on the title
QUOTES = frozenset({"Quotations", "Block_20_Text", "Block Text", "Quote", "Intense_20_Quote", "Intense Quote"})
BOLD = frozenset({"bold", "600", "700", "800", "900"})


@dataclass
class Look:
    """What a style makes of words; `parent` is the style it goes on from."""

    parent: str = ""
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    title: bool = False
    quote: bool = False
    code: bool = False
    raised: bool = False
    lowered: bool = False
    fixed: bool | None = None  # whether letters have one width; None if it says nothing of it


MAKES = tuple(each.name for each in fields(Look) if each.name not in ("parent", "fixed"))


@dataclass(frozen=True)
class Numbering:
    """How a level of a list writes its numbers."""

    format: str = "decimal"
    before: str = ""
    after: str = ""

    def marker(self, number: int) -> str:
        """What stands before an item."""
        return f"{self.before}{count(number, self.format)}{self.after or '.'}"


@dataclass
class Looks:
    """The styles by family and name, and how each level of a list is numbered, by the list's name."""

    looks: dict[str, Look] = field(default_factory=dict)
    lists: dict[str, dict[int, Numbering]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    blank: set[tuple[str, int]] = field(default_factory=set)  # lists and their levels whose items only go on
    typed: bool = False  # whether all is in letters of one width, which says nothing else
    _faces: dict[str, bool] = field(default_factory=dict)

    def learn(self, root: Element) -> None:
        """Takes in the styles of one part."""
        for face in root.all("style:font-face"):
            named = f"{face.get('style:name')} {face.get('svg:font-family')}"
            self._faces[face.get("style:name")] = face.get("style:font-pitch") == "fixed" or is_fixed(named)
        for each in root.all("style:style", "style:default-style", "text:list-style"):
            if each.name == "style:default-style":
                if each.get("style:family") == "paragraph":
                    self.typed = bool(self._fixed(each))
            elif each.name == "text:list-style":
                numbered = {
                    int(level): Numbering(
                        FORMATS.get(child.get("style:num-format", "1"), "decimal"),
                        child.get("style:num-prefix")[:5],
                        child.get("style:num-suffix")[:5],
                    )
                    for child in each.each("text:list-level-style-number")
                    if (level := child.get("text:level")).isdigit()
                    and len(level) < 3
                    and child.get("style:num-format", "1")
                }
                self.lists[each.get("style:name")] = numbered
                self.blank |= {
                    (each.get("style:name"), int(level))
                    for child in each.each("text:list-level-style-bullet")
                    if (level := child.get("text:level")).isdigit()
                    and len(level) < 3
                    and child.get("text:bullet-char").isspace()
                }
            else:
                look = replace(_look(each), fixed=self._fixed(each))
                self.looks[f"{each.get('style:family')} {each.get('style:name')}"] = look
                if each.value("style:table-properties", attribute="table:display") == "false":
                    self.hidden.add(each.get("style:name"))
                if each.value("style:drawing-page-properties", attribute="presentation:visibility") == "hidden":
                    self.hidden.add(each.get("style:name"))

    def of(self, family: str, name: str) -> Look:
        """What a style says, with what it inherits."""
        merged, seen = Look(), 0
        while name and seen < CHAIN and (found := self.looks.get(f"{family} {name}")):
            fixed = found.fixed if merged.fixed is None else merged.fixed
            if name in UNTITLED:
                return replace(merged, fixed=fixed, title=False)
            merged = replace(merged, fixed=fixed, **{each: True for each in MAKES if getattr(found, each)})
            name, seen = found.parent, seen + 1
        return merged

    def _fixed(self, style: Element) -> bool | None:
        """Whether a style sets its words in letters of one width, or calls them code."""
        if style.get("style:family") == "text" and is_code(style.get("style:display-name") or style.get("style:name")):
            return True
        words = style.find("style:text-properties") or Element("")
        name, family = words.get("style:font-name"), words.get("fo:font-family")
        if not (name or family):
            return None
        return self._faces.get(name, False) or is_fixed(family or name)


def _look(style: Element) -> Look:
    words = style.find("style:text-properties") or Element("")
    place = words.get("style:text-position")
    names = {style.get("style:name"), style.get("style:display-name"), style.get("style:parent-style-name")}
    return Look(
        style.get("style:parent-style-name"),
        bold=words.get("fo:font-weight") in BOLD,
        italic=words.get("fo:font-style") in ("italic", "oblique"),
        struck=words.get("style:text-line-through-style") not in ("", "none"),
        hidden=words.get("text:display") == "none",
        title="Title" in names and not names & UNTITLED,
        quote=bool(names & QUOTES),
        raised=place.startswith("super") or (place[:1].isdigit() and not place.startswith("0")),
        lowered=place.startswith(("sub", "-")),
        code=bool(names & {"Preformatted_20_Text", "Preformatted Text"}),
    )


def _nothing(_: Element) -> Element:
    return Element("")


@dataclass
class Words:
    """Makes runs of paragraphs, and puts aside what stands beside them.

    Args:
        draft: Remembers links and what was hidden.
        looks: The styles.
        objects: The content of a formula or a chart that stands in a frame; an empty element if there is none.
    """

    draft: Draft
    looks: Looks
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    comments: int = 0
    objects: Callable[[Element], Element] = _nothing
    _exact: bool = False
    _typewriter: Typewriter = field(default_factory=Typewriter)
    _runs: list[Run] = field(default_factory=list)

    def of(self, paragraph: Element) -> list[Run]:
        """The paragraph's runs."""
        self._runs = []
        look = self.looks.of("paragraph", paragraph.get("text:style-name"))
        self._exact = look.code
        self._inside(paragraph, Run("", code=bool(look.fixed) and not self.looks.typed), hidden=look.hidden)
        return self._typewriter.coded(self._runs)

    def text(self, element: Element) -> str:
        """All paragraphs in an element as one line."""
        found = element.outermost("text:p", "text:h", "office:annotation", "draw:object")
        texts = (inline(self.of(each)) for each in found if each.name in ("text:p", "text:h"))
        return " ".join(" ".join(text.split()) for text in texts if text)

    def _inside(self, element: Element, style: Run, *, hidden: bool) -> None:
        for child in element.children:
            if isinstance(child, Element):
                self._piece(child, style, hidden=hidden)
            elif hidden:
                self.draft.hidden += bool(child.strip())
            else:
                self._add(" ".join(child.split()) if child.isspace() else child, style, blank=child.isspace())

    def _add(self, text: str, style: Run, *, blank: bool = False) -> None:
        text = " " if blank else text.replace("\n", " ").replace("\t", " ")
        text = raised(text, style.rise)
        self._runs.append(replace(style, text=text, rise=0))

    def _piece(self, piece: Element, style: Run, *, hidden: bool) -> None:
        name = piece.name
        if name == "text:span":
            look = self.looks.of("text", piece.get("text:style-name"))
            self._inside(piece, _styled(style, look, typed=self.looks.typed), hidden=hidden or look.hidden)
        elif name == "text:a":
            address = self.draft.address(piece.get("xlink:href"), piece.text)
            self._inside(piece, replace(style, address=address, literal=False, rise=0), hidden=hidden)
        elif name in SPACES:
            self._runs.append(Run(SPACES[name] * self._spaces(piece, style), code=style.code))
        elif name == "text:note":
            self._note(piece)
        elif name == "office:annotation":
            self._comment(piece)
        elif name.startswith("draw:") and name not in NO_SHAPES:
            (self._frame if name == "draw:frame" else self._shape)(piece)
        elif name not in LEFT_OUT:
            self._inside(piece, style, hidden=hidden)

    def _spaces(self, piece: Element, style: Run) -> int:
        """How many spaces are meant; they tell something in listings only."""
        given = piece.get("text:c")
        return min(200, int(given)) if (self._exact or style.code) and given.isdigit() and len(given) < 4 else 1

    def _note(self, note: Element) -> None:
        label = f"{'e' if note.get('text:note-class') == 'endnote' else ''}{len(self.notes) + 1}"
        self._runs.append(Run(f"[^{label}]", literal=True))
        self.notes.append((label, note.find("text:note-body") or Element("")))

    def _comment(self, note: Element) -> None:
        self.comments += 1
        self._runs.append(Run(f"[^c{self.comments}]", literal=True))
        self.notes.append((f"c{self.comments}", note))

    def _shape(self, shape: Element) -> None:
        """A drawing; what is written in it is put aside."""
        if any(True for _ in shape.outermost("text:p", "text:h")):
            self.boxes.append(shape)

    def _frame(self, frame: Element) -> None:
        """A picture is told by its description; a text box is put aside."""
        boxes = list(frame.outermost("draw:text-box"))
        if boxes:
            self.boxes += boxes
            return
        content = self.objects(frame)
        if formula := latex(content):
            beside = any(run.text.strip() for run in self._runs)
            self._runs.append(Run(formula.replace("$$", "$") if beside else formula, literal=True))
            return
        title, rows = chart(content)
        if rows:
            self.draft.add(f"Chart: {title or 'untitled'}")
            self.draft.rows(rows)
            return
        said = next((each.text for each in frame.each("svg:desc", "svg:title") if each.text.strip()), "")
        if said:
            self._runs.append(Run(f"(picture: {' '.join(said.split())[:500]})", literal=True))


def _styled(run: Run, look: Look, *, typed: bool) -> Run:
    return replace(
        run,
        bold=run.bold or look.bold,
        italic=run.italic or look.italic,
        struck=run.struck or look.struck,
        rise=run.rise or look.raised - look.lowered,
        code=run.code if look.fixed is None else look.fixed and not typed,
    )
