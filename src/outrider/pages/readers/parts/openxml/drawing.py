"""What lies over the cells of a sheet: text boxes, pictures and charts (SpreadsheetDrawingML, ISO/IEC 29500-1 20.5)."""

from collections.abc import Iterator

from outrider.pages.readers.parts.openxml.chart import chart
from outrider.pages.readers.parts.openxml.package import Package
from outrider.pages.readers.parts.openxml.slide_text import line
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xml import Element

SHAPES = ("xdr:sp", "xdr:pic", "xdr:graphicFrame")
TOLD = 500  # characters of a description


def drawn(package: Package, part: str, draft: Draft) -> Iterator[str]:
    """The words of each text box, the description of each picture, the title of each chart.

    The numbers of a chart stand in the cells. What is hidden is counted.

    Args:
        package: That of the workbook.
        part: The drawing.
        draft: Remembers links, and what is hidden.
    """
    relations = package.relations(part)
    for shape in package.tree(part).outermost(*SHAPES):
        about = next(shape.all("xdr:cNvPr"), Element(""))
        if about.get("hidden") in ("1", "true"):
            draft.hidden += 1
        elif shape.name == "xdr:sp":
            yield line(shape.find("xdr:txBody"), draft, relations)
        elif shape.name == "xdr:pic":
            yield _described("picture", about.get("descr") or about.get("title"))
        else:
            charts = (relations.get(each.get("r:id")) for each in shape.all("c:chart"))
            titles = (chart(package.tree(each.target))[0] for each in charts if each)
            yield _described("chart", next(titles, "") or about.get("descr"))


def _described(kind: str, words: str) -> str:
    return f"({kind}: {' '.join(words.split())[:TOLD]})" if words.strip() else ""
