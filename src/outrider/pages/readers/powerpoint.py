"""Read PowerPoint presentations (Office Open XML): pptx, pptm, ppsx and templates.

ISO/IEC 29500-1 part 19.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.embedded_workbook import write_embedded_workbook
from outrider.pages.readers.ooxml.chart import read_chart
from outrider.pages.readers.ooxml.diagram import render_diagram
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line, render_title, write_paragraphs
from outrider.pages.readers.parsing.draft import DocumentDraft, spread_spans
from outrider.pages.readers.parsing.xml import XmlElement

FALSE_VALUES = frozenset({"0", "false"})


def read_powerpoint(source: ReaderInput) -> Document:
    """Return the slides in order: title, text, tables, chart numbers, speaker notes and comments.

    Hidden slides are left out and counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    package = Package(source, "PowerPoint presentation")
    draft = DocumentDraft(source, "powerpoint")
    relations = package.get_relationships(package.main_part)
    slides = package.parse_part(package.main_part).find("p:sldIdLst") or XmlElement("")
    relation_ids = (slide.get("r:id") for slide in slides.iter_children())
    targets = [relations[relation_id].target for relation_id in relation_ids if relation_id in relations]
    titles = _write_slides(package, draft, targets[: source.max_pages])
    if len(targets) > source.max_pages:
        draft.add_block(f"--- {len(targets) - source.max_pages} more slides were not read ---")
    draft.record_budget(package.budget)
    facts = package.read_facts()
    facts["title"] = facts["title"] or next(filter(None, titles), "")
    return draft.build_document(facts, metadata={"slides": len(targets)})


def _write_slides(package: Package, draft: DocumentDraft, targets: list[str]) -> list[str]:
    titles = []
    for number, target in enumerate(targets, 1):
        if draft.is_full:
            draft.is_cut = True
            break
        root = package.parse_part(target)
        if root.get("show") in FALSE_VALUES:
            draft.hidden_count += 1
            draft.add_block(f"--- slide {number} of {len(targets)} is hidden and left out ---")
            continue
        draft.add_block(f"--- slide {number} of {len(targets)} ---")
        titles.append(SlideWriter(package, draft, target, root).write())
    return titles


@dataclass
class SlideWriter:
    """Write one slide.

    Args:
        package: The presentation.
        draft: The document that the slide is added to.
        part: The slide's part.
        root: The part's content.
    """

    package: Package
    draft: DocumentDraft
    part: str
    root: XmlElement

    def __post_init__(self) -> None:
        self.relations = self.package.get_relationships(self.part)

    def write(self) -> str:
        """Write the slide; return its title."""
        tree = self.root.find("p:cSld", "p:spTree") or XmlElement("")
        shapes = list(iter_shapes(tree, self.draft))
        title_shapes = [shape for shape in shapes if _get_placeholder(shape) in ("title", "ctrTitle")]
        titles = [render_title(shape.find("p:txBody"), self.draft, self.relations) for shape in title_shapes]
        title = next(filter(None, titles), "")
        self.draft.add_heading(2, title)
        for shape in shapes:
            kind = _get_placeholder(shape)
            if shape in title_shapes or kind in ("dt", "ftr", "hdr", "sldNum", "sldImg"):  # footers and the like
                continue
            if shape.name == "p:pic":
                words = " ".join((shape.get_value("p:nvPicPr", "p:cNvPr", attribute="descr") or "").split())
                self.draft.add_block(f"(picture: {words[:500]})" if words else "")
            elif shape.name == "p:graphicFrame":
                self._write_graphic(shape)
            else:
                # Masters give bullets to these placeholders.
                listed = kind in ("body", "obj", "")
                write_paragraphs(shape.find("p:txBody"), self.draft, self.relations, listed=listed)
        self._write_notes()
        # Comments of PowerPoint up to 2019, and threaded ones.
        for part in self.package.find_parts(self.part, "comments"):
            for comment in self.package.parse_part(part).iter_descendants("p:cm", "p188:cm", "p188:reply"):
                old_text = comment.find("p:text")
                body = comment.find("p188:txBody")
                text = old_text.text if old_text is not None else render_line(body, self.draft, self.relations)
                author = self.authors.get(comment.get("authorId"), "")
                said_by = f" by {author}" if author else ""
                self.draft.add_quote(f"Comment{said_by}: {' '.join(text.split())}" if text.strip() else "")
        return title

    @cached_property
    def authors(self) -> dict[str, str]:
        """The names of the authors of comments by their ids."""
        main = self.package.main_part
        parts = [part for kind in ("commentAuthors", "authors") for part in self.package.find_parts(main, kind)]
        authors = (author for part in parts for author in self.package.parse_part(part).iter_children())
        return {author.get("id"): author.get("name") for author in authors}

    def _write_graphic(self, frame: XmlElement) -> None:
        for table in frame.iter_descendants("a:tbl"):
            self.draft.add_table(self._build_table(table))
        for reference in frame.iter_descendants("c:chart", "cx:chart"):
            relation = self.relations.get(reference.get("r:id"))
            heading, rows = read_chart(self.package.parse_part(relation.target)) if relation else ("", [])
            if rows:
                self.draft.add_block(f"Chart: {heading or 'untitled'}")
                self.draft.add_table(rows)
        for reference in frame.iter_descendants("dgm:relIds"):
            relation = self.relations.get(reference.get("r:dm"))
            if relation:
                self.draft.add_block(render_diagram(self.package.parse_part(relation.target), self.draft))
        for reference in frame.iter_outermost("p:oleObj"):
            write_embedded_workbook(self.package, self.relations.get(reference.get("r:id")), self.draft)

    def _build_table(self, table: XmlElement) -> list[list[str]]:
        """Return a table's rows; cells that span columns or rows are repeated in each."""
        max_span = 60
        rows: list[list[str]] = []
        for row in table.iter_named("a:tr"):
            cells: list[tuple[str, int]] = []
            for column, cell in enumerate(row.iter_named("a:tc")):
                text = render_line(cell.find("a:txBody"), self.draft, self.relations)
                if cell.get("vMerge") not in ("", *FALSE_VALUES) and rows and column < len(rows[-1]):
                    text = rows[-1][column]
                if cell.get("hMerge") not in ("", *FALSE_VALUES) and cells:
                    cells[-1] = (cells[-1][0], min(max_span, cells[-1][1] + 1))
                else:
                    cells.append((text, 1))
            rows.append(spread_spans(cells, sum(span for _, span in cells)))
        return rows

    def _write_notes(self) -> None:
        part = self.package.find_part(self.part, "notesSlide")
        tree = self.package.parse_part(part).find("p:cSld", "p:spTree")
        lines: list[str] = []
        for shape in iter_shapes(tree, self.draft) if tree else ():
            if _get_placeholder(shape) == "body" and (body := shape.find("p:txBody")):
                relations = self.package.get_relationships(part or "")
                paragraphs = (XmlElement("", {}, [paragraph]) for paragraph in body.iter_named("a:p"))
                lines += [render_line(paragraph, self.draft, relations) for paragraph in paragraphs]
        if any(lines):
            self.draft.add_quote("Notes: " + "\n".join(filter(None, lines)))


def iter_shapes(tree: XmlElement, draft: DocumentDraft) -> Iterator[XmlElement]:
    """Yield the shapes in reading order, which is that of the file; groups are flattened.

    Hidden shapes are left out and counted. Connectors have no text.
    """
    for shape in tree.iter_outermost("p:sp", "p:pic", "p:graphicFrame", "p:cxnSp", "p:grpSp"):
        properties = next(shape.iter_children(), shape)  # the first child of each kind of shape
        if (properties.get_value("p:cNvPr", attribute="hidden") or "0") not in FALSE_VALUES:
            draft.hidden_count += 1
        elif shape.name == "p:grpSp":
            yield from iter_shapes(shape, draft)
        elif shape.name != "p:cxnSp":
            yield shape


def _get_placeholder(shape: XmlElement) -> str | None:
    """Return the type of a placeholder, often empty; None for other shapes."""
    for name in ("p:nvSpPr", "p:nvPicPr", "p:nvGraphicFramePr"):
        if (placeholder := shape.find(name, "p:nvPr", "p:ph")) is not None:
            return placeholder.get("type")
    return None


reader = DocumentReader(
    "powerpoint",
    (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.openxmlformats-officedocument.presentationml.template",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
        "application/vnd.ms-powerpoint.template.macroenabled.12",
    ),
    read_powerpoint,
    suffixes=(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    needs_whole_body=True,
)
