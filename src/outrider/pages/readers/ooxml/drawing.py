"""Read text boxes, pictures and charts that lie over a sheet (SpreadsheetDrawingML).

ISO/IEC 29500-1 section 20.5.
"""

from collections.abc import Iterator

from outrider.pages.readers.ooxml.chart import read_chart
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.xml import XmlElement


def iter_drawing_texts(package: Package, part: str, draft: DocumentDraft) -> Iterator[str]:
    """Yield each text box's words, each picture's description and each chart's title.

    A chart's numbers are not repeated: they are in the cells. Hidden shapes are counted.

    Args:
        package: The workbook.
        part: The drawing's part.
        draft: Records links and hidden shapes.
    """
    relations = package.get_relationships(part)
    for shape in package.parse_part(part).iter_outermost("xdr:sp", "xdr:pic", "xdr:graphicFrame"):
        properties = next(shape.iter_descendants("xdr:cNvPr"), XmlElement(""))
        if properties.get("hidden") in ("1", "true"):
            draft.hidden_count += 1
        elif shape.name == "xdr:sp":
            yield render_line(shape.find("xdr:txBody"), draft, relations)
        elif shape.name == "xdr:pic":
            yield _format_description("picture", properties.get("descr") or properties.get("title"))
        else:
            charts = (relations.get(chart.get("r:id")) for chart in shape.iter_descendants("c:chart"))
            titles = (read_chart(package.parse_part(chart.target))[0] for chart in charts if chart)
            yield _format_description("chart", next(titles, "") or properties.get("descr"))


def _format_description(kind: str, words: str) -> str:
    max_chars = 500
    return f"({kind}: {' '.join(words.split())[:max_chars]})" if words.strip() else ""
