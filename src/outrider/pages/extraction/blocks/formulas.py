"""Read formulas as LaTeX from MathML, scripts, attributes and images."""

import re
from typing import Any
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.mathml import mathml_to_latex
from outrider.pages.extraction.blocks.page_blocks import Attributes

DISPLAY_STYLE_PATTERN = re.compile(r"\{\\(?:displaystyle|textstyle)\b(.*)\}")
FORMULA_IMAGE_CLASS_PATTERN = re.compile(r"(?:^|\s)(?:(?:wp-)?latex|tex|math|mwe-math-fallback-image-\w+)(?:\s|$)")
# Services that draw the formula in their address.
FORMULA_SERVICE_PATTERN = re.compile(
    r"latex\.codecogs\.com/\w+\.(?:image|latex)\?(.+)|/latex\.php\?(?:.*&)?latex=([^&]+)|[?&]cht=tx&(?:.*&)?chl=([^&]+)"
    r"|/equation\?(?:.*&)?tex=([^&]+)"
)
LATEX_STYLE_PATTERN = re.compile(r"\\(?:inline|large|Large|small|displaystyle|(?:dpi|bg|fg|fn)\s*(?:\{\w*\}|_\w+))\s*")
KATEX_SOURCE_CLASSES = frozenset({"math inline", "math display"})  # before KaTeX has rendered them
MAX_FORMULA_CHARS = 5_000


def read_mathml(node: Any) -> str:
    """Return the LaTeX of a MathML element between dollar signs, or "" if it means nothing.

    The annotation comes first, then the alternative text, then the elements themselves.
    """
    notes = (note.text() for note in node.css("annotation[encoding]") if "tex" in note.attributes["encoding"].lower())
    source = next(notes, "") or node.attributes.get("alttext") or mathml_to_latex(node)
    return _delimit_latex(source, display=node.attributes.get("display") == "block")


def read_formula_script(node: Any) -> str:
    """Return the formula of a MathJax script, or "" for any other script.

    AsciiMath is returned as inline code, everything else as LaTeX.
    """
    kind = node.attributes.get("type") or ""
    if kind[:5] != "math/":
        return ""
    source = node.text() or ""
    if kind.startswith("math/tex"):
        return _delimit_latex(source, display="display" in kind)
    if kind.startswith("math/asciimath"):
        return f"`{' '.join(source.split())[:MAX_FORMULA_CHARS]}`" if source.strip() and "`" not in source else ""
    return _read_mathml_source(source) if kind.startswith("math/mml") else ""


def _read_mathml_source(source: str) -> str:
    math = LexborHTMLParser(source[:MAX_FORMULA_CHARS]).css_first("math")
    return read_mathml(math) if math else ""


def read_rendered_formula(node: Any, attributes: Attributes, names: str) -> str:
    """Return the formula of an inline element that a script renders, or would render.

    Args:
        node: The element.
        attributes: Its attributes.
        names: Its classes.

    Returns:
        LaTeX between dollar signs, or "" if the element's content or the script after it holds the formula.
    """
    if source := attributes.get("data-tex"):
        return _delimit_latex(source.strip(), display="display" in names)
    if names in KATEX_SOURCE_CLASSES:
        source, inner = node.text(), node.first_child
        if re.search(r"\\[(\[]|\$", source) or (inner is not None and inner.next is not None):
            return ""  # already rendered, or with its own delimiters
        return _delimit_latex(source, display="display" in names)
    if markup := attributes.get("data-mathml"):
        return "" if _has_formula_script_after(node) else _read_mathml_source(markup)
    if node.tag == "mjx-container" and node.css_first("math") is None:
        named = node if "data-latex" in attributes else node.css_first("[data-latex]")
        source = (named.attributes.get("data-latex") or "") if named else ""
        return _delimit_latex(source, display=attributes.get("display") == "true")
    return ""


def _has_formula_script_after(node: Any) -> bool:
    """Return whether a formula script follows the element or its parent.

    Only the next sibling counts.
    """
    for start in (node, node.parent):
        sibling = start.next
        while sibling is not None and sibling.tag == "-text":
            sibling = sibling.next
        if sibling is not None and sibling.tag == "script" and (sibling.attributes.get("type") or "")[:5] == "math/":
            return True
    return False


def read_formula_image(attributes: Attributes) -> str:
    """Return the LaTeX that an image shows by its class or address, or "" for any other image."""
    names, alternative = attributes.get("class") or "", (attributes.get("alt") or "").strip()
    if alternative and names and FORMULA_IMAGE_CLASS_PATTERN.search(names):
        source = alternative.removeprefix("$").removesuffix("$").removeprefix("$").removesuffix("$")
        return _delimit_latex(source, display="display" in names)
    address = attributes.get("src") or ""
    if "latex" not in address and "tex=" not in address and "cht=tx" not in address:
        return ""
    if match := FORMULA_SERVICE_PATTERN.search(address[: 2 * MAX_FORMULA_CHARS]):
        return _delimit_latex(
            LATEX_STYLE_PATTERN.sub("", unquote_plus(next(filter(None, match.groups())))), display=False
        )
    return ""


def _delimit_latex(source: str, *, display: bool) -> str:
    """Put LaTeX between dollar signs. Empty and overlong sources give ""."""
    source = " ".join(source.split())
    if match := DISPLAY_STYLE_PATTERN.fullmatch(source):
        source = match[1].strip()
    if not source or len(source) > MAX_FORMULA_CHARS:
        return ""
    return f" $${source}$$ " if display else f"${source}$"
