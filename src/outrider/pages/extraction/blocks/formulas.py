"""Formulas as LaTeX, from wherever a page keeps them."""

import re
from typing import Any
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.mathml import mathml_to_latex
from outrider.pages.extraction.blocks.page_blocks import Attributes

DISPLAY_STYLE_PATTERN = re.compile(r"\{\\(?:displaystyle|textstyle)\b(.*)\}")
FORMULA_IMAGE_CLASS_PATTERN = re.compile(r"(?:^|\s)(?:(?:wp-)?latex|tex|math|mwe-math-fallback-image-\w+)(?:\s|$)")
# Services that draw formulas, which they are told in their address.
FORMULA_SERVICE_PATTERN = re.compile(
    r"latex\.codecogs\.com/\w+\.(?:image|latex)\?(.+)|/latex\.php\?(?:.*&)?latex=([^&]+)|[?&]cht=tx&(?:.*&)?chl=([^&]+)"
    r"|/equation\?(?:.*&)?tex=([^&]+)"
)
LATEX_STYLE_PATTERN = re.compile(r"\\(?:inline|large|Large|small|displaystyle|(?:dpi|bg|fg|fn)\s*(?:\{\w*\}|_\w+))\s*")
KATEX_SOURCE_CLASSES = frozenset({"math inline", "math display"})  # classes of formulas before KaTeX has drawn them
LATEX_DELIMITER_PATTERN = re.compile(r"\\[(\[]|\$")
MAX_FORMULA_CHARS = 5_000  # characters of a formula


def read_mathml(node: Any) -> str:
    """The LaTeX of a MathML element between dollar signs: its annotation, its alternative text, or what its
    elements mean; empty if they mean nothing.
    """
    notes = (note.text() for note in node.css("annotation[encoding]") if "tex" in note.attributes["encoding"].lower())
    source = next(notes, "") or node.attributes.get("alttext") or mathml_to_latex(node)
    return _delimit_latex(source, display=node.attributes.get("display") == "block")


def read_formula_script(node: Any) -> str:
    """The formula of a MathJax script: LaTeX, or what its MathML means, or AsciiMath as code; empty for others."""
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


def read_rendered_formula(node: Any, given: Attributes, names: str) -> str:
    """The formula of an inline element in which a script draws it, or would: told in its attributes, or as its text.

    Args:
        node: The element.
        given: Its attributes.
        names: Its classes.

    Returns:
        Nothing if what it holds tells the formula, or the script behind it, which is read by itself.
    """
    if source := given.get("data-tex"):
        return _delimit_latex(source.strip(), display="display" in names)
    if names in KATEX_SOURCE_CLASSES:
        source, inner = node.text(), node.first_child
        return (
            ""
            if LATEX_DELIMITER_PATTERN.search(source) or (inner is not None and inner.next is not None)
            else _delimit_latex(source, display="display" in names)
        )
    if markup := given.get("data-mathml"):
        return "" if _has_formula_script_after(node) else _read_mathml_source(markup)
    if node.tag == "mjx-container" and node.css_first("math") is None:
        named = node if "data-latex" in given else node.css_first("[data-latex]")
        source = (named.attributes.get("data-latex") or "") if named else ""
        return _delimit_latex(source, display=given.get("display") == "true")
    return ""


def _has_formula_script_after(node: Any) -> bool:
    """Whether the next element, or the next one around it, is a script that holds the formula."""
    for each in (node, node.parent):
        after = each.next
        while after is not None and after.tag == "-text":
            after = after.next
        if after is not None and after.tag == "script" and (after.attributes.get("type") or "")[:5] == "math/":
            return True
    return False


def read_formula_image(given: Attributes) -> str:
    """The LaTeX that a picture shows, by its class or its address; empty for any other picture."""
    names, alternative = given.get("class") or "", (given.get("alt") or "").strip()
    if alternative and names and FORMULA_IMAGE_CLASS_PATTERN.search(names):
        source = alternative.removeprefix("$").removesuffix("$").removeprefix("$").removesuffix("$")
        return _delimit_latex(source, display="display" in names)
    address = given.get("src") or ""
    if "latex" not in address and "tex=" not in address and "cht=tx" not in address:
        return ""
    if found := FORMULA_SERVICE_PATTERN.search(address[: 2 * MAX_FORMULA_CHARS]):
        return _delimit_latex(
            LATEX_STYLE_PATTERN.sub("", unquote_plus(next(filter(None, found.groups())))), display=False
        )
    return ""


def _delimit_latex(source: str, *, display: bool) -> str:
    source = " ".join(source.split())
    if found := DISPLAY_STYLE_PATTERN.fullmatch(source):
        source = found[1].strip()
    if not source or len(source) > MAX_FORMULA_CHARS:
        return ""
    return f" $${source}$$ " if display else f"${source}$"
