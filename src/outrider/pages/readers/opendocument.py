"""OpenDocument (OASIS OpenDocument 1.3, ISO/IEC 26300): texts, sheets and slides, zipped or as one XML file."""

import posixpath
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.archives.archive import Archive
from outrider.pages.readers.parts.opendocument.table import gathered
from outrider.pages.readers.parts.opendocument.text import Looks, Words
from outrider.pages.readers.parts.openxml.package import DATE, ELEMENTS
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.sheets.sheet import Sheet
from outrider.pages.readers.parts.typewriter import is_listed
from outrider.pages.readers.parts.writing import Draft, inline, unmarked
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, tree
from outrider.pages.readers.text import fenced
from outrider.pages.readers.word import written

KIND = "OpenDocument file"
LEFT_OUT = frozenset(
    "text:tracked-changes text:table-of-content text:alphabetical-index text:illustration-index office:forms "  # noqa: SIM905
    "text:sequence-decls text:variable-decls text:user-field-decls table:named-expressions table:database-ranges "
    "table:calculation-settings table:content-validations presentation:settings svg:title svg:desc".split()
)
OBJECTS = 500  # of one document that are looked into
LISTED = frozenset({"outline", "subtitle"})
FURNITURE = frozenset({"header", "footer", "date-time", "page-number"})


def read(source: Source) -> Document:
    """A text, a workbook or a presentation.

    Hidden text, hidden sheets and slides, deleted changes and tables of contents are left out.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    budget = Budget(source.tags * ELEMENTS)
    content, styles, meta, objects = _parts(source, budget)
    looks = Looks()
    looks.learn(styles)
    looks.learn(content)
    body = content.find("office:body")
    if body is None:
        raise broken(source, KIND, "it has no body")
    draft = Draft(source, "opendocument")
    writer = Writer(draft, looks, objects)
    writer.body(body)
    draft.spent(budget)
    facts = _facts(meta)
    facts["title"] = facts["title"] or writer.title
    return draft.document(facts, metadata=writer.metadata)


def _parts(source: Source, budget: Budget) -> tuple[Element, Element, Element, "Objects"]:
    """Content, styles and properties, all three the same root where the document is one XML file; and its objects."""
    try:
        if source.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            root = tree(source.body, budget)
            return root, root, root, Objects(None, budget)
        archive = Archive(source, KIND)
        if "content.xml" not in archive:
            raise broken(source, KIND, "its content is missing")
        manifest = tree(archive.read("META-INF/manifest.xml") or b"<none/>", budget)
        if any(True for _ in manifest.all("manifest:encryption-data")):
            raise encrypted(source, KIND)
        parts = (archive.read(name) or b"<none/>" for name in ("content.xml", "styles.xml", "meta.xml"))
        content, styles, meta = (tree(part, budget) for part in parts)
    except MalformedXML as error:
        raise broken(source, KIND, f"it is malformed ({error})") from None
    return content, styles, meta, Objects(archive, budget)


@dataclass
class Objects:
    """The formulas and charts that a document holds; of a single XML file they stand in their frames."""

    archive: Archive | None
    budget: Budget
    left: int = OBJECTS

    def of(self, frame: Element) -> Element:
        """The content of the object in a frame; an empty element if there is none, or it is damaged."""
        found = frame.find("draw:object")
        if found is None or self.archive is None or found.find("office:document") or found.find("math:math"):
            return found or Element("")
        name = posixpath.normpath(f"{found.get('xlink:href')}/content.xml").lstrip("/")
        self.left -= 1
        try:
            body = self.archive.read(name) if self.left >= 0 else b""
            return Element("", {}, [tree(body, self.budget)]) if body else Element("")
        except MalformedXML:
            return Element("")


def _facts(root: Element) -> dict[str, str]:
    meta = root.find("office:meta") or Element("")
    texts = {each.name: " ".join(each.text.split()) for each in meta.elements()}
    date = DATE.match(texts.get("meta:creation-date") or texts.get("dc:date", ""))
    return {
        "title": texts.get("dc:title", ""),
        "author": texts.get("meta:initial-creator") or texts.get("dc:creator", ""),
        "description": texts.get("dc:description") or texts.get("dc:subject", ""),
        "language": texts.get("dc:language", ""),
        "published": date[0] if date else "",
    }


@dataclass
class Writer:
    """Writes the body's blocks in order."""

    draft: Draft
    looks: Looks
    objects: Objects
    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _code: list[str] = field(default_factory=list)
    _shift: int = 0
    _counted: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = Words(self.draft, self.looks, objects=self.objects.of)

    def body(self, body: Element) -> None:
        for kind in body.elements():
            if kind.name == "office:spreadsheet":
                self._sheets(kind)
            elif kind.name in ("office:presentation", "office:drawing"):
                self._slides(kind)
            else:
                self._blocks(kind)
        self._end_code()
        for label, note in self.words.notes:
            who = note.find("dc:creator")
            said = self.words.text(note)
            self.draft.note(label, f"Comment{f' by {who.text}' if who else ''}: {said}" if label[0] == "c" else said)

    def _blocks(self, parent: Element) -> None:
        for child in parent.elements():
            if self.draft.full:
                self.draft.cut = True
                return
            self._block(child)

    def _block(self, element: Element) -> None:
        if element.name in ("text:p", "text:h"):
            self._paragraph(element)
        elif element.name == "text:list":
            self._end_code()
            self._list(element, 0, "")
        elif element.name == "table:table":
            self._end_code()
            self._table(gathered(element, "", self.words.text))
        elif element.name not in LEFT_OUT:
            self._blocks(element)

    def _paragraph(self, paragraph: Element) -> None:
        look = self.looks.of("paragraph", paragraph.get("text:style-name"))
        runs = self.words.of(paragraph)
        boxes, self.words.boxes = self.words.boxes, []
        listed = is_listed(runs) and not look.quote
        if look.code or (listed and paragraph.name == "text:p"):
            self._code.append("".join(run.text for run in runs))
        else:
            self._end_code()
            self._write(
                paragraph,
                inline(runs),
                unmarked(runs),
                title=look.title or paragraph.get("text:style-name") == "Title",
                quote=look.quote,
            )
        for box in boxes:
            self._blocks(box)

    def _write(self, paragraph: Element, text: str, bare: str, *, title: bool, quote: bool) -> None:
        if title and bare:
            self._shift, self.title = 1, self.title or bare
            self.draft.heading(1, bare)
        elif paragraph.name == "text:h":
            level = paragraph.get("text:outline-level")
            self.draft.heading((int(level) if level.isdigit() and len(level) < 3 else 1) + self._shift, bare)
            self.title = self.title or bare
        elif quote:
            self.draft.quote(text)
        else:
            self.draft.add(text)

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.draft.add(fenced(code, ""))

    def _list(self, element: Element, level: int, style: str) -> None:
        style = element.get("text:style-name") or style
        number = self._before(element, style)
        for item in element.each("text:list-item", "text:list-header"):
            given = item.get("text:start-value")
            counts = item.name == "text:list-item" and any(True for _ in item.each("text:p", "text:h"))
            number = int(given) if given.isdigit() and len(given) < 6 else number + counts
            numbering = self.looks.lists.get(style, {}).get(level + 1)
            marker = numbering.marker(number) if numbering else "-"
            first = True
            for child in item.elements():
                if child.name == "text:list":
                    self._list(child, level + 1, style)
                elif child.name in ("text:p", "text:h"):
                    text = inline(self.words.of(child))
                    if first and (style, level + 1) not in self.looks.blank:
                        self.draft.item(level, *written(text, marker))
                    else:
                        self.draft.add("    " * (level + 1) + text)
                    first = False
                else:
                    self._block(child)
        for name in (element.get("id"), f"style {style}", self._root(element)):
            self._counted[name] = number

    def _before(self, element: Element, style: str) -> int:
        """The number of the item before a list that goes on from another one; 0 if it begins."""
        if element.get("text:continue-list"):
            return self._counted.get(self._root(element), 0)
        return self._counted.get(f"style {style}", 0) if element.get("text:continue-numbering") == "true" else 0

    @staticmethod
    def _root(element: Element) -> str:
        return element.get("text:continue-list") or element.get("id")

    def _table(self, sheet: Sheet) -> None:
        """A table of a text: no gaps in it mean anything, so it is one."""
        sheet.fill()
        columns = sorted({column for row in sheet.rows.values() for column in row})
        self.draft.rows([[sheet.rows[row].get(column, "") for column in columns] for row in sorted(sheet.rows)])

    def _sheets(self, workbook: Element) -> None:
        names, hidden = [], 0
        for each in workbook.each("table:table"):
            if each.get("table:style-name") in self.looks.hidden:
                hidden += 1
                continue
            if self.draft.full:
                self.draft.cut = True
                break
            names.append(each.get("table:name"))
            gathered(each, each.get("table:name"), self.words.text).write(self.draft)
        if hidden:
            self.draft.hidden += hidden
            self.draft.add(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
        self.metadata["sheets"] = names

    def _slides(self, show: Element) -> None:
        slides = list(show.each("draw:page"))
        self.metadata["slides"] = len(slides)
        for number, slide in enumerate(slides, 1):
            if self.draft.full or number > self.draft.source.pages:
                self.draft.cut = True
                return
            if slide.get("draw:style-name") in self.looks.hidden:
                self.draft.hidden += 1
                self.draft.add(f"--- slide {number} of {len(slides)} is hidden and left out ---")
                continue
            self.draft.add(f"--- slide {number} of {len(slides)} ---")
            self._slide(slide)

    def _slide(self, slide: Element) -> None:
        for shape in slide.elements():
            kind = shape.get("presentation:class")
            if shape.name == "presentation:notes":
                frames = (each for each in shape.all("draw:frame") if each.get("presentation:class") not in FURNITURE)
                boxes = (box for frame in frames for box in frame.each("draw:text-box"))
                said = "\n".join(text for each in boxes if (text := self.words.text(each)))
                self.draft.quote(f"Notes: {said}" if said else "")
            elif kind == "title":
                text = self.words.text(shape)
                self.draft.heading(2, text)
                self.title = self.title or text
            elif shape.name == "draw:frame" and not shape.find("draw:text-box") and not shape.find("table:table"):
                self.draft.add(inline(self.words.of(Element("", {}, [shape]))))
            elif kind not in FURNITURE:
                self._blocks(shape)


FAMILY = "application/vnd.oasis.opendocument."
NAMES = ("text", "spreadsheet", "presentation", "graphics")
TYPES = (
    *(f"{FAMILY}{name}" for name in NAMES),
    *(f"{FAMILY}{name}-template" for name in NAMES),
    *(f"{FAMILY}{name}-flat-xml" for name in NAMES),
    f"{FAMILY}text-master",
)
SUFFIXES = (".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp", ".fodt", ".fods", ".fodp")
reader = Reader("opendocument", TYPES, read, suffixes=SUFFIXES, whole=True)
