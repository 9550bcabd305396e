"""PowerPoint presentations (Office Open XML, ISO/IEC 29500-1 part 19): pptx, pptm, ppsx and templates."""

from dataclasses import dataclass

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.chart import chart
from outrider.pages.readers.parts.openxml.package import Package
from outrider.pages.readers.parts.openxml.slide_text import line, title, write
from outrider.pages.readers.parts.writing import Draft, spread
from outrider.pages.readers.parts.xml import Element

KIND = "PowerPoint presentation"
TITLES = frozenset({"title", "ctrTitle"})
FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
LISTED = frozenset({"body", "obj", ""})  # placeholders whose paragraphs have bullets, as masters have it
OFF = frozenset({"0", "false"})
SPAN = 60


def read(source: Source) -> Document:
    """The slides in order: title, text, tables, numbers of charts, speaker notes and comments.

    Hidden slides are left out and counted.

    Raises:
        Refused: code `encrypted` or `too_large`.
        Unavailable: code `broken_file`.
    """
    package = Package(source, KIND)
    draft = Draft(source, "powerpoint")
    relations = package.relations(package.main)
    listed = package.tree(package.main).find("p:sldIdLst") or Element("")
    targets = [relations[each.get("r:id")].target for each in listed.elements() if each.get("r:id") in relations]
    titles = _slides(package, draft, targets[: source.pages])
    if len(targets) > source.pages:
        draft.add(f"--- {len(targets) - source.pages} more slides were not read ---")
    draft.spent(package.budget)
    facts = package.facts()
    facts["title"] = facts["title"] or next((each for each in titles if each), "")
    return draft.document(facts, metadata={"slides": len(targets)})


def _slides(package: Package, draft: Draft, targets: list[str]) -> list[str]:
    titles = []
    for number, target in enumerate(targets, 1):
        if draft.full:
            draft.cut = True
            break
        root = package.tree(target)
        if root.get("show") in OFF:
            draft.hidden += 1
            draft.add(f"--- slide {number} of {len(targets)} is hidden and left out ---")
            continue
        draft.add(f"--- slide {number} of {len(targets)} ---")
        titles.append(Slide(package, draft, target, root).write())
    return titles


@dataclass
class Slide:
    """Writes one slide.

    Args:
        package: The presentation.
        draft: Takes it.
        part: The slide's part.
        root: Its content.
    """

    package: Package
    draft: Draft
    part: str
    root: Element

    def __post_init__(self) -> None:
        self.relations = self.package.relations(self.part)

    def write(self) -> str:
        """Writes it; returns its title."""
        shapes = [] if (tree := self.root.find("p:cSld", "p:spTree")) is None else _shapes(tree)
        heads = [shape for shape in shapes if _placeholder(shape) in TITLES]
        titled = next((text for each in heads if (text := self._title(each))), "")
        self.draft.heading(2, titled)
        for shape in shapes:
            if shape not in heads:
                self._shape(shape)
        self._notes()
        self._comments()
        return titled

    def _title(self, shape: Element) -> str:
        return title(shape.find("p:txBody"), self.draft, self.relations)

    def _shape(self, shape: Element) -> None:
        if shape.name == "p:pic":
            self._picture(shape)
        elif shape.name == "p:graphicFrame":
            self._graphic(shape)
        elif (kind := _placeholder(shape)) not in FURNITURE:
            write(shape.find("p:txBody"), self.draft, self.relations, listed=kind in LISTED)

    def _picture(self, shape: Element) -> None:
        words = " ".join((shape.value("p:nvPicPr", "p:cNvPr", attribute="descr") or "").split())
        if words:
            self.draft.add(f"(picture: {words[:500]})")

    def _graphic(self, frame: Element) -> None:
        for table in frame.all("a:tbl"):
            self.draft.rows(self._table(table))
        for reference in frame.all("c:chart"):
            relation = self.relations.get(reference.get("r:id"))
            heading, rows = chart(self.package.tree(relation.target)) if relation else ("", [])
            if rows:
                self.draft.add(f"Chart: {heading or 'untitled'}")
                self.draft.rows(rows)
        for reference in frame.all("dgm:relIds"):
            relation = self.relations.get(reference.get("r:dm"))
            for point in self.package.tree(relation.target).all("dgm:t") if relation else ():
                self.draft.item(0, line(point, self.draft, self.relations))

    def _table(self, table: Element) -> list[list[str]]:
        """Its rows: what spans columns or rows stands in each of them."""
        rows: list[list[str]] = []
        for row in table.each("a:tr"):
            cells: list[tuple[str, int]] = []
            for at, cell in enumerate(row.each("a:tc")):
                text = line(cell.find("a:txBody"), self.draft, self.relations)
                if cell.get("vMerge") not in ("", *OFF) and rows and at < len(rows[-1]):
                    text = rows[-1][at]
                if cell.get("hMerge") not in ("", *OFF) and cells:
                    cells[-1] = (cells[-1][0], min(SPAN, cells[-1][1] + 1))
                else:
                    cells.append((text, 1))
            rows.append(spread(cells, sum(span for _, span in cells)))
        return rows

    def _notes(self) -> None:
        part = self.package.related(self.part, "notesSlide")
        tree = self.package.tree(part).find("p:cSld", "p:spTree")
        said: list[str] = []
        for shape in _shapes(tree) if tree else ():
            if _placeholder(shape) == "body" and (body := shape.find("p:txBody")):
                relations = self.package.relations(part or "")
                said += [line(Element("", {}, [each]), self.draft, relations) for each in body.each("a:p")]
        if any(said):
            self.draft.quote("Notes: " + "\n".join(each for each in said if each))

    def _comments(self) -> None:
        """Comments of both kinds: those of PowerPoint to 2019, and the threaded ones since."""
        for part in self.package.all_related(self.part, "comments"):
            for comment in self.package.tree(part).all("p:cm", "p188:cm", "p188:reply"):
                text = comment.find("p:text")
                body = comment.find("p188:txBody")
                said = text.text if text is not None else line(body, self.draft, self.relations)
                self.draft.quote(f"Comment: {' '.join(said.split())}" if said.strip() else "")


def _shapes(tree: Element) -> list[Element]:
    """The shapes in reading order, which is that of the file; groups are dissolved."""
    return [each for each in tree.outermost("p:sp", "p:pic", "p:graphicFrame", "p:cxnSp") if each.name != "p:cxnSp"]


def _placeholder(shape: Element) -> str | None:
    """What a shape holds the place of; None if it is a shape of its own."""
    for name in ("p:nvSpPr", "p:nvPicPr", "p:nvGraphicFramePr"):
        if (found := shape.find(name, "p:nvPr", "p:ph")) is not None:
            return found.get("type")
    return None


TYPES = (
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    "application/vnd.openxmlformats-officedocument.presentationml.template",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    "application/vnd.ms-powerpoint.template.macroenabled.12",
)
reader = Reader("powerpoint", TYPES, read, suffixes=(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"), whole=True)
