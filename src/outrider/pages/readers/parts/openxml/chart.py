"""The numbers behind a chart, as a table (DrawingML charts, ISO/IEC 29500-1 section 21.2)."""

from outrider.pages.readers.parts.xml import Element

SERIES = 30
POINTS = 200


def chart(root: Element) -> tuple[str, list[list[str]]]:
    """The chart's title, and its categories and series as rows; no rows if it keeps no values."""
    title = next((_words(each) for each in root.all("c:title")), "")
    series = list(root.all("c:ser"))[:SERIES]
    names = [_words(each.find("c:tx")) or f"series {at}" for at, each in enumerate(series, 1)]
    values = [_points(each.find("c:val") or each.find("c:yVal")) for each in series]
    labels = next((found for each in series if (found := _points(each.find("c:cat") or each.find("c:xVal")))), {})
    places = sorted({at for points in (*values, labels) for at in points})[:POINTS]
    rows = [[labels.get(at, str(at + 1)), *(points.get(at, "") for points in values)] for at in places]
    return title, [["", *names], *rows] if rows and any(values) else []


def _points(element: Element | None) -> dict[int, str]:
    """Index to value of what the chart has cached."""
    found: dict[int, str] = {}
    for point in element.all("c:pt") if element else ():
        index = point.get("idx")
        if index.isdigit() and len(index) < 7 and int(index) not in found:
            found[int(index)] = " ".join("".join(each.text for each in point.each("c:v")).split())
    return found


def _words(element: Element | None) -> str:
    return " ".join(" ".join(each.text for each in element.all("a:t", "c:v")).split()) if element else ""
