"""PowerPoint presentations (Office Open XML, ISO/IEC 29500-1 part 19): pptx, pptm, ppsx and templates."""

from dataclasses import dataclass

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.chart import read_chart
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line, render_title, write_paragraphs
from outrider.pages.readers.parsing.draft import DocumentDraft, spread_spans
from outrider.pages.readers.parsing.xml import XmlElement

FALSE_VALUES = frozenset({"0", "false"})


def read_powerpoint(source: ReaderInput) -> Document:
    """The slides in order: title, text, tables, numbers of charts, speaker notes and comments.

    Hidden slides are left out and counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    kind_name = "PowerPoint presentation"
    package = Package(source, kind_name)
    draft = DocumentDraft(source, "powerpoint")
    relations = package.get_relationships(package.main_part)
    listed = package.parse_part(package.main_part).find("p:sldIdLst") or XmlElement("")
    targets = [relations[each.get("r:id")].target for each in listed.iter_children() if each.get("r:id") in relations]
    titles = _write_slides(package, draft, targets[: source.max_pages])
    if len(targets) > source.max_pages:
        draft.add_block(f"--- {len(targets) - source.max_pages} more slides were not read ---")
    draft.record_budget(package.budget)
    facts = package.read_facts()
    facts["title"] = facts["title"] or next((each for each in titles if each), "")
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
    """Writes one slide.

    Args:
        package: The presentation.
        draft: Takes it.
        part: The slide's part.
        root: Its content.
    """

    package: Package
    draft: DocumentDraft
    part: str
    root: XmlElement

    def __post_init__(self) -> None:
        self.relations = self.package.get_relationships(self.part)

    def write(self) -> str:
        """Writes it; returns its title."""
        title_kinds = frozenset({"title", "ctrTitle"})
        shapes = [] if (tree := self.root.find("p:cSld", "p:spTree")) is None else _list_shapes(tree)
        heads = [shape for shape in shapes if _get_placeholder(shape) in title_kinds]
        titled = next((text for each in heads if (text := self._title(each))), "")
        self.draft.add_heading(2, titled)
        for shape in shapes:
            if shape not in heads:
                self._write_shape(shape)
        self._write_notes()
        self._write_comments()
        return titled

    def _title(self, shape: XmlElement) -> str:
        return render_title(shape.find("p:txBody"), self.draft, self.relations)

    def _write_shape(self, shape: XmlElement) -> None:
        bulleted_kinds = frozenset(
            {"body", "obj", ""}
        )  # placeholders whose paragraphs have bullets, as masters have it
        footer_kinds = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
        if shape.name == "p:pic":
            self._picture(shape)
        elif shape.name == "p:graphicFrame":
            self._write_graphic(shape)
        elif (kind := _get_placeholder(shape)) not in footer_kinds:
            write_paragraphs(shape.find("p:txBody"), self.draft, self.relations, listed=kind in bulleted_kinds)

    def _picture(self, shape: XmlElement) -> None:
        words = " ".join((shape.get_value("p:nvPicPr", "p:cNvPr", attribute="descr") or "").split())
        if words:
            self.draft.add_block(f"(picture: {words[:500]})")

    def _write_graphic(self, frame: XmlElement) -> None:
        for table in frame.iter_descendants("a:tbl"):
            self.draft.add_table(self._build_table(table))
        for reference in frame.iter_descendants("c:chart"):
            relation = self.relations.get(reference.get("r:id"))
            heading, rows = read_chart(self.package.parse_part(relation.target)) if relation else ("", [])
            if rows:
                self.draft.add_block(f"Chart: {heading or 'untitled'}")
                self.draft.add_table(rows)
        for reference in frame.iter_descendants("dgm:relIds"):
            relation = self.relations.get(reference.get("r:dm"))
            for point in self.package.parse_part(relation.target).iter_descendants("dgm:t") if relation else ():
                self.draft.add_item(0, render_line(point, self.draft, self.relations))

    def _build_table(self, table: XmlElement) -> list[list[str]]:
        """Its rows: what spans columns or rows stands in each of them."""
        max_span = 60
        rows: list[list[str]] = []
        for row in table.iter_named("a:tr"):
            cells: list[tuple[str, int]] = []
            for at, cell in enumerate(row.iter_named("a:tc")):
                text = render_line(cell.find("a:txBody"), self.draft, self.relations)
                if cell.get("vMerge") not in ("", *FALSE_VALUES) and rows and at < len(rows[-1]):
                    text = rows[-1][at]
                if cell.get("hMerge") not in ("", *FALSE_VALUES) and cells:
                    cells[-1] = (cells[-1][0], min(max_span, cells[-1][1] + 1))
                else:
                    cells.append((text, 1))
            rows.append(spread_spans(cells, sum(span for _, span in cells)))
        return rows

    def _write_notes(self) -> None:
        part = self.package.find_part(self.part, "notesSlide")
        tree = self.package.parse_part(part).find("p:cSld", "p:spTree")
        said: list[str] = []
        for shape in _list_shapes(tree) if tree else ():
            if _get_placeholder(shape) == "body" and (body := shape.find("p:txBody")):
                relations = self.package.get_relationships(part or "")
                said += [
                    render_line(XmlElement("", {}, [each]), self.draft, relations) for each in body.iter_named("a:p")
                ]
        if any(said):
            self.draft.add_quote("Notes: " + "\n".join(each for each in said if each))

    def _write_comments(self) -> None:
        """Comments of both kinds: those of PowerPoint to 2019, and the threaded ones since."""
        for part in self.package.find_parts(self.part, "comments"):
            for comment in self.package.parse_part(part).iter_descendants("p:cm", "p188:cm", "p188:reply"):
                text = comment.find("p:text")
                body = comment.find("p188:txBody")
                said = text.text if text is not None else render_line(body, self.draft, self.relations)
                self.draft.add_quote(f"Comment: {' '.join(said.split())}" if said.strip() else "")


def _list_shapes(tree: XmlElement) -> list[XmlElement]:
    """The shapes in reading order, which is that of the file; groups are dissolved."""
    return [
        each for each in tree.iter_outermost("p:sp", "p:pic", "p:graphicFrame", "p:cxnSp") if each.name != "p:cxnSp"
    ]


def _get_placeholder(shape: XmlElement) -> str | None:
    """What a shape holds the place of; None if it is a shape of its own."""
    for name in ("p:nvSpPr", "p:nvPicPr", "p:nvGraphicFramePr"):
        if (found := shape.find(name, "p:nvPr", "p:ph")) is not None:
            return found.get("type")
    return None


POWERPOINT_TYPES = (
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    "application/vnd.openxmlformats-officedocument.presentationml.template",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    "application/vnd.ms-powerpoint.template.macroenabled.12",
)
reader = DocumentReader(
    "powerpoint",
    POWERPOINT_TYPES,
    read_powerpoint,
    suffixes=(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    needs_whole_body=True,
)
