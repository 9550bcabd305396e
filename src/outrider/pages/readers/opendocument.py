"""Read OpenDocument texts, sheets and slides, zipped or as one XML file.

OASIS OpenDocument 1.3, ISO/IEC 26300.
"""

import posixpath
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.odf.table import RowShortener, read_table
from outrider.pages.readers.odf.text import OdfRunBuilder, OdfStyle, OdfStyles
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG, ISO_DATE
from outrider.pages.readers.parsing.draft import (
    ITEM_INDENT,
    DocumentDraft,
    TextRun,
    format_item,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.parsing.monospace import is_code_line
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree
from outrider.pages.readers.spreadsheet.sheet import report_hidden_sheets
from outrider.pages.readers.text import format_code_block

ODF_KIND = "OpenDocument file"
OMITTED_ELEMENTS = frozenset(
    "text:tracked-changes text:table-of-content text:alphabetical-index text:illustration-index office:forms "  # noqa: SIM905
    "text:sequence-decls text:variable-decls text:user-field-decls table:named-expressions table:database-ranges "
    "table:calculation-settings table:content-validations presentation:settings svg:title svg:desc".split()
)


def read_opendocument(source: ReaderInput) -> Document:
    """Return a text, a workbook or a presentation as Markdown.

    Hidden text, hidden sheets and slides, deleted changes and tables of contents are left out.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
    content, styles, meta, objects = _parse_parts(source, budget)
    odf_styles = OdfStyles()
    odf_styles.load_styles(styles)
    odf_styles.load_styles(content)
    body = content.find("office:body")
    if body is None:
        raise build_broken_error(source, ODF_KIND, "it has no body")
    draft = DocumentDraft(source, "opendocument")
    writer = OdfWriter(draft, odf_styles, objects)
    writer.write_body(body)
    draft.record_budget(budget)
    properties = meta.find("office:meta") or XmlElement("")
    texts = {element.name: " ".join(element.text.split()) for element in properties.iter_children()}
    date = ISO_DATE.match(texts.get("meta:creation-date") or texts.get("dc:date", ""))
    facts = {
        "title": texts.get("dc:title") or writer.title,
        "author": texts.get("meta:initial-creator") or texts.get("dc:creator", ""),
        "description": texts.get("dc:description") or texts.get("dc:subject", ""),
        "language": texts.get("dc:language", ""),
        "published": date[0] if date else "",
    }
    return draft.build_document(facts, metadata=writer.metadata)


def _parse_parts(
    source: ReaderInput, budget: ElementBudget
) -> tuple[XmlElement, XmlElement, XmlElement, "EmbeddedObjects"]:
    """Return content, styles, properties and embedded objects; of a flat file the root is all of the first three."""
    try:
        if source.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            root = parse_tree(source.body, budget, RowShortener().shorten)
            return root, root, root, EmbeddedObjects(None, budget)
        archive = ZipArchive(source, ODF_KIND)
        if "content.xml" not in archive:
            raise build_broken_error(source, ODF_KIND, "its content is missing")
        manifest = _parse_part(archive, "META-INF/manifest.xml", budget)
        if any(True for _ in manifest.iter_descendants("manifest:encryption-data")):
            raise build_encrypted_error(source, ODF_KIND)
        content, styles = (_parse_part(archive, name, budget) for name in ("content.xml", "styles.xml"))
        meta = XmlElement("")
        with suppress(MalformedXML):  # the properties are not needed
            meta = _parse_part(archive, "meta.xml", budget)
    except MalformedXML as error:
        raise build_broken_error(source, ODF_KIND, f"it is malformed ({error})") from None
    return content, styles, meta, EmbeddedObjects(archive, budget)


def _parse_part(archive: ZipArchive, name: str, budget: ElementBudget) -> XmlElement:
    chunks = archive.iter_chunks(name) if name in archive else [b"<none/>"]
    return parse_tree(chunks, budget, RowShortener().shorten)


@dataclass
class EmbeddedObjects:
    """The formulas, charts and workbooks of a document; in a flat file their content is in their frames."""

    archive: ZipArchive | None
    budget: ElementBudget
    objects_left: int = 500

    def find_object(self, frame: XmlElement) -> XmlElement:
        """Return the content of the object in a frame; an empty element if there is none, or it is damaged."""
        element = frame.find("draw:object")
        if element is None or self.archive is None or element.find("office:document") or element.find("math:math"):
            return element or XmlElement("")
        name = posixpath.normpath(f"{element.get('xlink:href')}/content.xml").lstrip("/")
        self.objects_left -= 1
        try:
            body = self.archive.read(name) if self.objects_left >= 0 else b""
            return XmlElement("", {}, [parse_tree(body, self.budget)]) if body else XmlElement("")
        except MalformedXML:
            return XmlElement("")


@dataclass
class OdfWriter:
    """Write the body's blocks in order."""

    draft: DocumentDraft
    styles: OdfStyles
    objects: EmbeddedObjects
    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    _code: list[str] = field(default_factory=list)
    _title_levels: int = 0  # 1 once a title took heading level 1
    _list_counts: dict[str, int] = field(default_factory=dict)  # by list id, and by style

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
            author = note.find("dc:creator")
            text = self.run_builder.flatten_text(note)
            if label[0] == "c":
                text = f"Comment{f' by {author.text}' if author else ''}: {text}"
            self.draft.add_note(label, text)

    def _write_blocks(self, parent: XmlElement) -> None:
        for child in parent.iter_children():
            if self.draft.is_full:
                self.draft.is_cut = True
                return
            self._write_block(child)

    def _write_block(self, element: XmlElement) -> None:
        if element.name in ("text:p", "text:h"):
            style = self.styles.resolve_style("paragraph", element.get("text:style-name"))
            runs = self.run_builder.build_runs(element)
            boxes, self.run_builder.boxes = self.run_builder.boxes, []
            if style.code or (is_code_line(runs) and not style.quote and element.name == "text:p"):
                self._code.append("".join(run.text for run in runs))
            else:
                self._end_code()
                self._write_text(element, runs, style)
            for box in boxes:
                self._write_blocks(box)
        elif element.name == "text:list":
            self._end_code()
            self._write_list(element, 0, "")
        elif element.name == "table:table":
            self._end_code()
            sheet = read_table(element, "", self.run_builder.flatten_cell)
            sheet.fill_merged()
            # Unlike in a sheet, gaps do not separate tables here.
            columns = sorted({column for row in sheet.rows.values() for column in row})
            rows = [[sheet.rows[row].get(column, "") for column in columns] for row in sorted(sheet.rows)]
            self.draft.add_table(rows)
        elif element.name not in OMITTED_ELEMENTS:
            self._write_blocks(element)

    def _write_text(self, paragraph: XmlElement, runs: list[TextRun], style: OdfStyle) -> None:
        is_title = style.title or paragraph.get("text:style-name") == "Title"
        plain = render_plain(runs) if is_title or paragraph.name == "text:h" else ""
        if plain and is_title:
            self._title_levels, self.title = 1, self.title or plain
            self.draft.add_heading(1, plain)
        elif paragraph.name == "text:h":
            outline = paragraph.get("text:outline-level")
            level = int(outline) if outline.isdigit() and len(outline) < 3 else 1
            self.draft.add_heading(level + self._title_levels, plain)
            self.title = self.title or plain
        elif style.quote:
            self.draft.add_quote(render_inline(runs))
        else:
            self.draft.add_block(render_inline(runs))

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.draft.add_block(format_code_block(code, ""))

    def _write_list(self, element: XmlElement, level: int, style: str) -> None:
        style = element.get("text:style-name") or style
        continues = element.get("text:continue-numbering") == "true"
        numbering = self.styles.lists.get(style, {}).get(level + 1)
        first = numbering.start if numbering else 1
        number = self._list_counts.get(f"style {style}", first - 1) if continues else first - 1
        if element.get("text:continue-list"):
            number = self._list_counts.get(self._get_list_id(element), 0)
        for item in element.iter_named("text:list-item", "text:list-header"):
            start = item.get("text:start-value")
            is_item = item.name == "text:list-item"
            counts = is_item and any(True for _ in item.iter_named("text:p", "text:h"))
            number = int(start) if start.isdigit() and len(start) < 6 else number + counts
            marker = numbering.format_marker(number) if numbering else "-"
            has_marker = is_item and (style, level + 1) not in self.styles.blank_levels
            for child in item.iter_children():
                if child.name == "text:list":
                    self._write_list(child, level + 1, style)
                elif child.name not in ("text:p", "text:h"):
                    self._write_block(child)
                else:
                    text = render_inline(self.run_builder.build_runs(child))
                    if has_marker:
                        self.draft.add_item(level, *format_item(text, marker))
                    else:
                        self.draft.add_block(ITEM_INDENT * (level + is_item) + text)
                    has_marker = False  # further paragraphs continue the item
        for name in (element.get("id"), f"style {style}", self._get_list_id(element)):
            self._list_counts[name] = number

    @staticmethod
    def _get_list_id(element: XmlElement) -> str:
        return element.get("text:continue-list") or element.get("id")

    def _write_sheets(self, workbook: XmlElement) -> None:
        names, hidden = [], 0
        for sheet in workbook.iter_named("table:table"):
            if sheet.get("table:style-name") in self.styles.hidden_styles:
                hidden += 1
                continue
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            names.append(sheet.get("table:name"))
            read_table(sheet, sheet.get("table:name"), self.run_builder.flatten_text).write(self.draft)
        report_hidden_sheets(self.draft, hidden)
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
                frames = shape.iter_descendants("draw:frame")
                frames = (frame for frame in frames if frame.get("presentation:class") not in footer_classes)
                boxes = (box for frame in frames for box in frame.iter_named("draw:text-box"))
                notes = "\n".join(filter(None, map(self.run_builder.flatten_text, boxes)))
                self.draft.add_quote(f"Notes: {notes}" if notes else "")
            elif kind == "title":
                text = self.run_builder.flatten_text(shape)
                self.draft.add_heading(2, text)
                self.title = self.title or text
            elif shape.name == "draw:frame" and not shape.find("draw:text-box") and not shape.find("table:table"):
                self._write_block(XmlElement("text:p", {}, [shape]))
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
