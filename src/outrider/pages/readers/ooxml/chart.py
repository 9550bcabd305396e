"""Read the numbers behind a chart as a table.

DrawingML charts, ISO/IEC 29500-1 section 21.2.
"""

from collections.abc import Iterator

from outrider.pages.readers.ooxml.diagram import render_diagram
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.xml import XmlElement


def read_chart(root: XmlElement) -> tuple[str, list[list[str]]]:
    """Return the title, and categories and series as rows; no rows if the file stores no values."""
    max_points = 200
    max_series = 30
    title = _join_words(next(root.iter_descendants("c:title"), None))
    all_series = list(root.iter_descendants("c:ser"))[:max_series]
    names = [_join_words(series.find("c:tx")) or f"series {number}" for number, series in enumerate(all_series, 1)]
    values = [_read_points(series.find("c:val") or series.find("c:yVal")) for series in all_series]
    categories = (_read_categories(series.find("c:cat") or series.find("c:xVal")) for series in all_series)
    labels = next(filter(None, categories), {})
    indexes = sorted({index for points in (*values, labels) for index in points})[:max_points]
    rows = [[labels.get(index, str(index + 1)), *(points.get(index, "") for points in values)] for index in indexes]
    return title, [["", *names], *rows] if rows and any(values) else []


def _read_points(element: XmlElement | None) -> dict[int, str]:
    """Return the cached values by index."""
    points: dict[int, str] = {}
    for point in element.iter_descendants("c:pt") if element else ():
        index = point.get("idx")
        if index.isdigit() and len(index) < 7 and int(index) not in points:
            points[int(index)] = " ".join("".join(value.text for value in point.iter_named("c:v")).split())
    return points


def _read_categories(element: XmlElement | None) -> dict[int, str]:
    """Return the labels by index; those of groups, which are at the first index of each, come first."""
    max_levels = 10
    levels = list(element.iter_descendants("c:lvl"))[:max_levels] if element else []
    labels = _read_points(levels[0] if levels else element)
    for level in levels[1:]:
        groups, group = _read_points(level), ""
        for index in sorted(labels):
            group = groups.get(index, group)
            labels[index] = f"{group}, {labels[index]}" if group else labels[index]
    return labels


def _join_words(element: XmlElement | None) -> str:
    """Return the texts of paragraphs, or a stored value; a paragraph's runs may divide a word."""
    blocks = element.iter_descendants("a:p", "c:v") if element else ()
    texts = ("".join(run.text for run in block.iter_descendants("a:t")) or block.text for block in blocks)
    return " ".join(" ".join(texts).split())


def iter_drawing_texts(package: Package, part: str, draft: DocumentDraft) -> Iterator[str]:
    """Yield each text box's words, each picture's description, each chart's title and each diagram's points.

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
            for diagram in shape.iter_descendants("dgm:relIds"):
                relation = relations.get(diagram.get("r:dm"))
                yield render_diagram(package.parse_part(relation.target), draft) if relation else ""
            charts = (relations.get(chart.get("r:id")) for chart in shape.iter_descendants("c:chart"))
            titles = (read_chart(package.parse_part(chart.target))[0] for chart in charts if chart)
            yield _format_description("chart", next(titles, "") or properties.get("descr"))


def _format_description(kind: str, words: str) -> str:
    max_chars = 500
    return f"({kind}: {' '.join(words.split())[:max_chars]})" if words.strip() else ""
