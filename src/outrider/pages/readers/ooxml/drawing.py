"""What lies over the cells of a sheet: text boxes, pictures and charts (SpreadsheetDrawingML, ISO/IEC 29500-1 20.5)."""

from collections.abc import Iterator

from outrider.pages.readers.ooxml.chart import read_chart
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.xml import XmlElement


def iter_drawing_texts(package: Package, part: str, draft: DocumentDraft) -> Iterator[str]:
    """The words of each text box, the description of each picture, the title of each chart.

    The numbers of a chart stand in the cells. What is hidden is counted.

    Args:
        package: That of the workbook.
        part: The drawing.
        draft: Remembers links, and what is hidden.
    """
    shape_elements = ("xdr:sp", "xdr:pic", "xdr:graphicFrame")
    relations = package.get_relationships(part)
    for shape in package.parse_part(part).iter_outermost(*shape_elements):
        about = next(shape.iter_descendants("xdr:cNvPr"), XmlElement(""))
        if about.get("hidden") in ("1", "true"):
            draft.hidden_count += 1
        elif shape.name == "xdr:sp":
            yield render_line(shape.find("xdr:txBody"), draft, relations)
        elif shape.name == "xdr:pic":
            yield _format_description("picture", about.get("descr") or about.get("title"))
        else:
            charts = (relations.get(each.get("r:id")) for each in shape.iter_descendants("c:chart"))
            titles = (read_chart(package.parse_part(each.target))[0] for each in charts if each)
            yield _format_description("chart", next(titles, "") or about.get("descr"))


def _format_description(kind: str, words: str) -> str:
    max_chars = 500  # characters of a description
    return f"({kind}: {' '.join(words.split())[:max_chars]})" if words.strip() else ""
