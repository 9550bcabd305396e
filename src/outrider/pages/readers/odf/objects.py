"""Formulas and charts in OpenDocument, which are small documents of their own (OpenDocument 1.3 part 3, 10.4.6)."""

from html import escape

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.formulas import read_mathml
from outrider.pages.readers.parsing.xml import XmlElement


def render_latex(content: XmlElement) -> str:
    """The LaTeX of a formula with its dollar signs; empty if the content is none."""
    max_elements = 2_000  # of a formula
    math = content if content.name == "math:math" else next(content.iter_descendants("math:math"), None)
    if math is None:
        return ""

    found = LexborHTMLParser(_render_mathml(math, [max_elements])).css_first("math")
    return read_mathml(found) if found else ""


def _render_mathml(element: XmlElement, left: list[int]) -> str:
    """MathML as a web page holds it."""
    left[0] -= 1
    name = element.name.removeprefix("math:")
    if left[0] < 0 or not name.isascii() or not name.replace("-", "").isalnum():
        return ""
    display = ' display="block"' if element.get("display") == "block" and name == "math" else ""
    kept = "".join(f' {key}="{escape(element.get(key))}"' for key in ("encoding", "open", "close") if element.get(key))
    inside = "".join(escape(each) if isinstance(each, str) else _render_mathml(each, left) for each in element.children)
    return f"<{name}{display}{kept}>{inside}</{name}>"


def read_chart(content: XmlElement) -> tuple[str, list[list[str]]]:
    """A chart's title and the numbers that it shows, with their names; no rows if the content is none."""
    max_columns = 60
    max_rows = 500
    found = next(content.iter_descendants("chart:chart"), None)
    if found is None:
        return "", []
    title = found.find("chart:title")
    table = next(found.iter_descendants("table:table"), None) or XmlElement("")
    rows = [[" ".join(cell.text.split()) for cell in row.iter_named("table:table-cell")][:max_columns]
            for row in list(table.iter_descendants("table:table-row"))[:max_rows]]  # fmt: skip
    return " ".join(title.text.split()) if title else "", rows
