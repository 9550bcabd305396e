"""Formulas and charts in OpenDocument, which are small documents of their own (OpenDocument 1.3 part 3, 10.4.6)."""

from html import escape

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.content.walking.formula import of_math
from outrider.pages.readers.parts.xml import Element

ELEMENTS = 2_000  # of a formula
ROWS = 500
COLUMNS = 60


def latex(content: Element) -> str:
    """The LaTeX of a formula with its dollar signs; empty if the content is none."""
    math = content if content.name == "math:math" else next(content.all("math:math"), None)
    if math is None:
        return ""

    found = LexborHTMLParser(_html(math, [ELEMENTS])).css_first("math")
    return of_math(found) if found else ""


def _html(element: Element, left: list[int]) -> str:
    """MathML as a web page holds it."""
    left[0] -= 1
    name = element.name.removeprefix("math:")
    if left[0] < 0 or not name.isascii() or not name.replace("-", "").isalnum():
        return ""
    display = ' display="block"' if element.get("display") == "block" and name == "math" else ""
    kept = "".join(f' {key}="{escape(element.get(key))}"' for key in ("encoding", "open", "close") if element.get(key))
    inside = "".join(escape(each) if isinstance(each, str) else _html(each, left) for each in element.children)
    return f"<{name}{display}{kept}>{inside}</{name}>"


def chart(content: Element) -> tuple[str, list[list[str]]]:
    """A chart's title and the numbers that it shows, with their names; no rows if the content is none."""
    found = next(content.all("chart:chart"), None)
    if found is None:
        return "", []
    title = found.find("chart:title")
    table = next(found.all("table:table"), None) or Element("")
    rows = [[" ".join(cell.text.split()) for cell in row.each("table:table-cell")][:COLUMNS]
            for row in list(table.all("table:table-row"))[:ROWS]]  # fmt: skip
    return " ".join(title.text.split()) if title else "", rows
