"""OpenDocument (OASIS OpenDocument 1.3, ISO/IEC 26300): texts, sheets and slides, zipped or as one XML file."""

import posixpath
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.odf.table import read_table
from outrider.pages.readers.odf.text import OdfRunBuilder, OdfStyles
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG, ISO_DATE
from outrider.pages.readers.parsing.draft import DocumentDraft, render_inline, render_plain
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.parsing.monospace import is_code_line
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree
from outrider.pages.readers.spreadsheet.sheet import SheetCells
from outrider.pages.readers.text import format_code_block
from outrider.pages.readers.word import format_item

ODF_KIND = "OpenDocument file"
OMITTED_ELEMENTS = frozenset(
    "text:tracked-changes text:table-of-content text:alphabetical-index text:illustration-index office:forms "  # noqa: SIM905
    "text:sequence-decls text:variable-decls text:user-field-decls table:named-expressions table:database-ranges "
    "table:calculation-settings table:content-validations presentation:settings svg:title svg:desc".split()
)
MAX_OBJECTS = 500  # of one document that are looked into
LISTED = frozenset({"outline", "subtitle"})


def read_opendocument(source: ReaderInput) -> Document:
    """A text, a workbook or a presentation.

    Hidden text, hidden sheets and slides, deleted changes and tables of contents are left out.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
    content, styles, meta, objects = _parse_parts(source, budget)
    looks = OdfStyles()
    looks.load_styles(styles)
    looks.load_styles(content)
    body = content.find("office:body")
    if body is None:
        raise build_broken_error(source, ODF_KIND, "it has no body")
    draft = DocumentDraft(source, "opendocument")
    writer = OdfWriter(draft, looks, objects)
    writer.write_body(body)
    draft.record_budget(budget)
    facts = _read_facts(meta)
    facts["title"] = facts["title"] or writer.title
    return draft.build_document(facts, metadata=writer.metadata)


def _parse_parts(
    source: ReaderInput, budget: ElementBudget
) -> tuple[XmlElement, XmlElement, XmlElement, "EmbeddedObjects"]:
    """Content, styles and properties, all three the same root where the document is one XML file; and its objects."""
    try:
        if source.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            root = parse_tree(source.body, budget)
            return root, root, root, EmbeddedObjects(None, budget)
        archive = ZipArchive(source, ODF_KIND)
        if "content.xml" not in archive:
            raise build_broken_error(source, ODF_KIND, "its content is missing")
        manifest = parse_tree(archive.read("META-INF/manifest.xml") or b"<none/>", budget)
        if any(True for _ in manifest.iter_descendants("manifest:encryption-data")):
            raise build_encrypted_error(source, ODF_KIND)
        parts = (archive.read(name) or b"<none/>" for name in ("content.xml", "styles.xml", "meta.xml"))
        content, styles, meta = (parse_tree(part, budget) for part in parts)
    except MalformedXML as error:
        raise build_broken_error(source, ODF_KIND, f"it is malformed ({error})") from None
    return content, styles, meta, EmbeddedObjects(archive, budget)


@dataclass
class EmbeddedObjects:
    """The formulas and charts that a document holds; of a single XML file they stand in their frames."""

    archive: ZipArchive | None
    budget: ElementBudget
    objects_left: int = MAX_OBJECTS

    def find_object(self, frame: XmlElement) -> XmlElement:
        """The content of the object in a frame; an empty element if there is none, or it is damaged."""
        found = frame.find("draw:object")
        if found is None or self.archive is None or found.find("office:document") or found.find("math:math"):
            return found or XmlElement("")
        name = posixpath.normpath(f"{found.get('xlink:href')}/content.xml").lstrip("/")
        self.objects_left -= 1
        try:
            body = self.archive.read(name) if self.objects_left >= 0 else b""
            return XmlElement("", {}, [parse_tree(body, self.budget)]) if body else XmlElement("")
        except MalformedXML:
            return XmlElement("")


def _read_facts(root: XmlElement) -> dict[str, str]:
    meta = root.find("office:meta") or XmlElement("")
    texts = {each.name: " ".join(each.text.split()) for each in meta.iter_children()}
    date = ISO_DATE.match(texts.get("meta:creation-date") or texts.get("dc:date", ""))
    return {
        "title": texts.get("dc:title", ""),
        "author": texts.get("meta:initial-creator") or texts.get("dc:creator", ""),
        "description": texts.get("dc:description") or texts.get("dc:subject", ""),
        "language": texts.get("dc:language", ""),
        "published": date[0] if date else "",
    }


@dataclass
class OdfWriter:
    """Writes the body's blocks in order."""

    draft: DocumentDraft
    styles: OdfStyles
    objects: EmbeddedObjects
    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _code: list[str] = field(default_factory=list)
    _shift: int = 0
    _counted: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run_builder = OdfRunBuilder(self.draft, self.styles, find_object=self.objects.find_object)

    def write_body(self, body: XmlElement) -> None:
        for kind in body.iter_children():
            if kind.name == "office:spreadsheet":
                self._write_sheets(kind)
            elif kind.name in ("office:presentation", "office:drawing"):
                self._write_slides(kind)
            else:
                self._write_blocks(kind)
        self._end_code()
        for label, note in self.run_builder.notes:
            who = note.find("dc:creator")
            said = self.run_builder.flatten_text(note)
            self.draft.add_note(
                label, f"Comment{f' by {who.text}' if who else ''}: {said}" if label[0] == "c" else said
            )

    def _write_blocks(self, parent: XmlElement) -> None:
        for child in parent.iter_children():
            if self.draft.is_full:
                self.draft.is_cut = True
                return
            self._write_block(child)

    def _write_block(self, element: XmlElement) -> None:
        if element.name in ("text:p", "text:h"):
            self._write_paragraph(element)
        elif element.name == "text:list":
            self._end_code()
            self._write_list(element, 0, "")
        elif element.name == "table:table":
            self._end_code()
            self._table(read_table(element, "", self.run_builder.flatten_text))
        elif element.name not in OMITTED_ELEMENTS:
            self._write_blocks(element)

    def _write_paragraph(self, paragraph: XmlElement) -> None:
        look = self.styles.resolve_style("paragraph", paragraph.get("text:style-name"))
        runs = self.run_builder.build_runs(paragraph)
        boxes, self.run_builder.boxes = self.run_builder.boxes, []
        listed = is_code_line(runs) and not look.quote
        if look.code or (listed and paragraph.name == "text:p"):
            self._code.append("".join(run.text for run in runs))
        else:
            self._end_code()
            self._write_text(
                paragraph,
                render_inline(runs),
                render_plain(runs),
                title=look.title or paragraph.get("text:style-name") == "Title",
                quote=look.quote,
            )
        for box in boxes:
            self._write_blocks(box)

    def _write_text(self, paragraph: XmlElement, text: str, bare: str, *, title: bool, quote: bool) -> None:
        if title and bare:
            self._shift, self.title = 1, self.title or bare
            self.draft.add_heading(1, bare)
        elif paragraph.name == "text:h":
            level = paragraph.get("text:outline-level")
            self.draft.add_heading((int(level) if level.isdigit() and len(level) < 3 else 1) + self._shift, bare)
            self.title = self.title or bare
        elif quote:
            self.draft.add_quote(text)
        else:
            self.draft.add_block(text)

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.draft.add_block(format_code_block(code, ""))

    def _write_list(self, element: XmlElement, level: int, style: str) -> None:
        style = element.get("text:style-name") or style
        number = self._find_previous_number(element, style)
        for item in element.iter_named("text:list-item", "text:list-header"):
            given = item.get("text:start-value")
            counts = item.name == "text:list-item" and any(True for _ in item.iter_named("text:p", "text:h"))
            number = int(given) if given.isdigit() and len(given) < 6 else number + counts
            numbering = self.styles.lists.get(style, {}).get(level + 1)
            marker = numbering.format_marker(number) if numbering else "-"
            first = True
            for child in item.iter_children():
                if child.name == "text:list":
                    self._write_list(child, level + 1, style)
                elif child.name in ("text:p", "text:h"):
                    text = render_inline(self.run_builder.build_runs(child))
                    if first and (style, level + 1) not in self.styles.blank_levels:
                        self.draft.add_item(level, *format_item(text, marker))
                    else:
                        self.draft.add_block("    " * (level + 1) + text)
                    first = False
                else:
                    self._write_block(child)
        for name in (element.get("id"), f"style {style}", self._get_list_id(element)):
            self._counted[name] = number

    def _find_previous_number(self, element: XmlElement, style: str) -> int:
        """The number of the item before a list that goes on from another one; 0 if it begins."""
        if element.get("text:continue-list"):
            return self._counted.get(self._get_list_id(element), 0)
        return self._counted.get(f"style {style}", 0) if element.get("text:continue-numbering") == "true" else 0

    @staticmethod
    def _get_list_id(element: XmlElement) -> str:
        return element.get("text:continue-list") or element.get("id")

    def _table(self, sheet: SheetCells) -> None:
        """A table of a text: no gaps in it mean anything, so it is one."""
        sheet.fill_merged()
        columns = sorted({column for row in sheet.rows.values() for column in row})
        self.draft.add_table([[sheet.rows[row].get(column, "") for column in columns] for row in sorted(sheet.rows)])

    def _write_sheets(self, workbook: XmlElement) -> None:
        names, hidden = [], 0
        for each in workbook.iter_named("table:table"):
            if each.get("table:style-name") in self.styles.hidden_styles:
                hidden += 1
                continue
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            names.append(each.get("table:name"))
            read_table(each, each.get("table:name"), self.run_builder.flatten_text).write(self.draft)
        if hidden:
            self.draft.hidden_count += hidden
            self.draft.add_block(f"({hidden} hidden sheet{'s' if hidden > 1 else ''} left out)")
        self.metadata["sheets"] = names

    def _write_slides(self, show: XmlElement) -> None:
        slides = list(show.iter_named("draw:page"))
        self.metadata["slides"] = len(slides)
        for number, slide in enumerate(slides, 1):
            if self.draft.is_full or number > self.draft.source.max_pages:
                self.draft.is_cut = True
                return
            if slide.get("draw:style-name") in self.styles.hidden_styles:
                self.draft.hidden_count += 1
                self.draft.add_block(f"--- slide {number} of {len(slides)} is hidden and left out ---")
                continue
            self.draft.add_block(f"--- slide {number} of {len(slides)} ---")
            self._write_slide(slide)

    def _write_slide(self, slide: XmlElement) -> None:
        footer_classes = frozenset({"header", "footer", "date-time", "page-number"})
        for shape in slide.iter_children():
            kind = shape.get("presentation:class")
            if shape.name == "presentation:notes":
                frames = (
                    each
                    for each in shape.iter_descendants("draw:frame")
                    if each.get("presentation:class") not in footer_classes
                )
                boxes = (box for frame in frames for box in frame.iter_named("draw:text-box"))
                said = "\n".join(text for each in boxes if (text := self.run_builder.flatten_text(each)))
                self.draft.add_quote(f"Notes: {said}" if said else "")
            elif kind == "title":
                text = self.run_builder.flatten_text(shape)
                self.draft.add_heading(2, text)
                self.title = self.title or text
            elif shape.name == "draw:frame" and not shape.find("draw:text-box") and not shape.find("table:table"):
                self.draft.add_block(render_inline(self.run_builder.build_runs(XmlElement("", {}, [shape]))))
            elif kind not in footer_classes:
                self._write_blocks(shape)


ODF_TYPE_PREFIX = "application/vnd.oasis.opendocument."
ODF_TYPE_NAMES = ("text", "spreadsheet", "presentation", "graphics")
ODF_TYPES = (
    *(f"{ODF_TYPE_PREFIX}{name}" for name in ODF_TYPE_NAMES),
    *(f"{ODF_TYPE_PREFIX}{name}-template" for name in ODF_TYPE_NAMES),
    *(f"{ODF_TYPE_PREFIX}{name}-flat-xml" for name in ODF_TYPE_NAMES),
    f"{ODF_TYPE_PREFIX}text-master",
)
ODF_SUFFIXES = (".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp", ".fodt", ".fods", ".fodp")
reader = DocumentReader("opendocument", ODF_TYPES, read_opendocument, suffixes=ODF_SUFFIXES, needs_whole_body=True)
