"""Read the numbers behind a chart as a table.

DrawingML charts, ISO/IEC 29500-1 section 21.2.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import islice

from outrider.pages.readers.ooxml.diagram import render_diagram
from outrider.pages.readers.ooxml.package import Package
from outrider.pages.readers.ooxml.slide_text import render_line
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.xml import XmlElement

AXES = ("c:catAx", "c:valAx", "c:dateAx", "c:serAx", "cx:axis")


@dataclass
class ChartSeries:
    """A series: its name, and its points' labels, values and sizes by index."""

    name: str
    labels: dict[int, str]
    values: dict[int, str]
    sizes: dict[int, str]


def read_chart(root: XmlElement) -> tuple[str, list[list[str]]]:
    """Return the title with those of the axes, and categories and series as rows.

    There are no rows if the file stores no values. A series has a column of labels if they differ from the first ones.
    """
    max_points = 200
    all_series = list_series(root)
    labels = next((series.labels for series in all_series if series.labels), {})
    columns: list[tuple[str, dict[int, str]]] = []
    for series in all_series:
        own_labels = [(f"{series.name} (x)", series.labels)] if series.labels not in ({}, labels) else []
        sizes = [(f"{series.name} (size)", series.sizes)] if series.sizes else []
        columns += [*own_labels, (series.name, series.values), *sizes]
    indexes = sorted({index for points in (labels, *(points for _, points in columns)) for index in points})
    rows = [
        [labels.get(index, str(index + 1)), *(points.get(index, "") for _, points in columns)]
        for index in indexes[:max_points]
    ]
    has_values = bool(rows) and any(series.values for series in all_series)
    return read_chart_title(root), [["", *(name for name, _ in columns)], *rows] if has_values else []


def read_chart_title(root: XmlElement) -> str:
    """Return the title of a chart, and those of its axes."""
    parts = list(root.iter_outermost("c:title", "cx:title", "c:ser", *AXES))  # points of series need not be looked at
    title = next(filter(None, (_join_words(part) for part in parts if part.name.endswith(":title"))), "")
    names = filter(
        None, (_join_words(part.find("c:title") or part.find("cx:title")) for part in parts if part.name in AXES)
    )
    axes = ", ".join(names)
    return f"{title or 'untitled'}; axes: {axes}" if axes else title


def list_series(root: XmlElement) -> list[ChartSeries]:
    """Return the series of a chart, also of the kinds since Office 2016 (MS-ODRAWXML section 2.24.3)."""
    max_series = 30
    data = {each.get("id"): each for part in root.iter_named("cx:chartData") for each in part.iter_named("cx:data")}
    listed: list[ChartSeries] = []
    for number, series in enumerate(islice(root.iter_descendants("c:ser", "cx:series"), max_series), 1):
        name = _join_words(series.find("c:tx") or series.find("cx:tx")) or f"series {number}"
        known = data.get(series.get_value("cx:dataId", attribute="val") or "") or series
        labels = known.find("c:cat") or known.find("c:xVal") or known.find("cx:strDim")
        values = known.find("c:val") or known.find("c:yVal") or known.find("cx:numDim")
        sizes = _read_points(known.find("c:bubbleSize"))
        listed.append(ChartSeries(name, _read_categories(labels), _read_points(values), sizes))
    return listed


def _read_points(element: XmlElement | None) -> dict[int, str]:
    """Return the cached values by index."""
    points: dict[int, str] = {}
    for point in element.iter_descendants("c:pt", "cx:pt") if element else ():
        index = point.get("idx")
        if index.isdigit() and len(index) < 7 and int(index) not in points:
            text = "".join(value.text for value in point.iter_named("c:v")) or point.text
            points[int(index)] = " ".join(text.split())
    return points


def _read_categories(element: XmlElement | None) -> dict[int, str]:
    """Return the labels by index; those of groups, which are at the first index of each, come first."""
    max_levels = 10
    levels = list(element.iter_descendants("c:lvl", "cx:lvl"))[:max_levels] if element else []
    labels = _read_points(levels[0] if levels else element)
    for level in levels[1:]:
        groups, group = _read_points(level), ""
        for index in sorted(labels):
            group = groups.get(index, group)
            labels[index] = f"{group}, {labels[index]}" if group else labels[index]
    return labels


def _join_words(element: XmlElement | None) -> str:
    """Return the texts of paragraphs, or a stored value; a paragraph's runs may divide a word."""
    blocks = element.iter_descendants("a:p", "c:v", "cx:v") if element else ()
    texts = ("".join(run.text for run in block.iter_descendants("a:t")) or block.text for block in blocks)
    return " ".join(" ".join(texts).split())


def iter_drawing_texts(package: Package, part: str, draft: DocumentDraft, sheet_names: Container[str]) -> Iterator[str]:
    """Yield each text box's words, each picture's description, each chart's title and each diagram's points.

    A chart's numbers are not repeated if they are in cells that are shown, else they are added as a table. Hidden
    shapes are counted.

    Args:
        package: The workbook.
        part: The drawing's part.
        draft: Records links and hidden shapes.
        sheet_names: The sheets that are shown.
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
            charts = (relations.get(chart.get("r:id")) for chart in shape.iter_descendants("c:chart", "cx:chart"))
            for chart in filter(None, charts):
                root = package.parse_part(chart.target)
                title, rows = read_chart(root)
                yield _format_description("chart", title or properties.get("descr"))
                sources = (source.text.rpartition("!")[0] for source in root.iter_descendants("c:f", "cx:f"))
                if any(source.strip("'").replace("''", "'") not in sheet_names for source in sources if source):
                    draft.add_table(rows)


def _format_description(kind: str, words: str) -> str:
    max_chars = 500
    return f"({kind}: {' '.join(words.split())[:max_chars]})" if words.strip() else ""
