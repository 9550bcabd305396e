"""Read formulas and charts embedded in OpenDocument.

Each is a document of its own.

OASIS OpenDocument 1.3 part 3 section 10.4.6.
"""

from html import escape
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.formulas import read_mathml
from outrider.pages.readers.parsing.xml import ElementBudget, XmlElement


def render_latex(content: XmlElement) -> str:
    """Return a formula as LaTeX with its dollar signs; empty if the content is not a formula."""
    max_elements = 2_000
    math = content if content.name == "math:math" else next(content.iter_descendants("math:math"), None)
    if math is None:
        return ""
    node = LexborHTMLParser(_render_mathml(math, ElementBudget(max_elements))).css_first("math")
    return read_mathml(node) if node else ""


def _render_mathml(element: XmlElement, budget: ElementBudget) -> str:
    """Return an element as MathML in HTML."""
    budget.remaining -= 1
    name = element.name.removeprefix("math:")
    if budget.remaining < 0 or not name.isascii() or not name.replace("-", "").isalnum():
        return ""
    attributes = {key: element.get(key) for key in ("encoding", "open", "close")}
    if name == "math" and element.get("display") == "block":
        attributes["display"] = "block"
    markup = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value)
    content = "".join(
        escape(child) if isinstance(child, str) else _render_mathml(child, budget) for child in element.children
    )
    return f"<{name}{markup}>{content}</{name}>"


def read_chart(content: XmlElement) -> tuple[str, list[list[str]]]:
    """Return a chart's title and its labelled numbers as rows; no rows if the content is not a chart."""
    max_columns = 60
    max_rows = 500
    chart = next(content.iter_descendants("chart:chart"), None)
    if chart is None:
        return "", []
    title = chart.find("chart:title")
    table = next(chart.iter_descendants("table:table"), None) or XmlElement("")
    rows = [
        [" ".join(cell.text.split()) for cell in row.iter_named("table:table-cell")][:max_columns]
        for row in islice(table.iter_descendants("table:table-row"), max_rows)
    ]
    return " ".join(title.text.split()) if title else "", rows
