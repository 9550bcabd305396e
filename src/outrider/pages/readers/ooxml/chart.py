"""The numbers behind a chart, as a table (DrawingML charts, ISO/IEC 29500-1 section 21.2)."""

from outrider.pages.readers.parsing.xml import XmlElement


def read_chart(root: XmlElement) -> tuple[str, list[list[str]]]:
    """The chart's title, and its categories and series as rows; no rows if it keeps no values."""
    max_points = 200
    max_series = 30
    title = next((_join_words(each) for each in root.iter_descendants("c:title")), "")
    series = list(root.iter_descendants("c:ser"))[:max_series]
    names = [_join_words(each.find("c:tx")) or f"series {at}" for at, each in enumerate(series, 1)]
    values = [_read_points(each.find("c:val") or each.find("c:yVal")) for each in series]
    labels = next((found for each in series if (found := _read_points(each.find("c:cat") or each.find("c:xVal")))), {})
    places = sorted({at for points in (*values, labels) for at in points})[:max_points]
    rows = [[labels.get(at, str(at + 1)), *(points.get(at, "") for points in values)] for at in places]
    return title, [["", *names], *rows] if rows and any(values) else []


def _read_points(element: XmlElement | None) -> dict[int, str]:
    """Index to value of what the chart has cached."""
    found: dict[int, str] = {}
    for point in element.iter_descendants("c:pt") if element else ():
        index = point.get("idx")
        if index.isdigit() and len(index) < 7 and int(index) not in found:
            found[int(index)] = " ".join("".join(each.text for each in point.iter_named("c:v")).split())
    return found


def _join_words(element: XmlElement | None) -> str:
    return " ".join(" ".join(each.text for each in element.iter_descendants("a:t", "c:v")).split()) if element else ""
