"""Formulas as LaTeX, from wherever a page keeps them."""

import re
from typing import Any
from urllib.parse import unquote_plus

from outrider.pages.content.blocks import Given
from outrider.pages.content.latex import latex_of

DISPLAYED = re.compile(r"\{\\(?:displaystyle|textstyle)\b(.*)\}")
PICTURED = re.compile(r"(?:^|\s)(?:(?:wp-)?latex|tex|math|mwe-math-fallback-image-\w+)(?:\s|$)")
# Services that draw formulas, which they are told in their address.
PAINTED = re.compile(
    r"latex\.codecogs\.com/\w+\.(?:image|latex)\?(.+)|/latex\.php\?(?:.*&)?latex=([^&]+)|[?&]cht=tx&(?:.*&)?chl=([^&]+)"
)
STYLED = re.compile(r"\\(?:inline|large|Large|small|displaystyle|(?:dpi|bg|fg|fn)\s*(?:\{\w*\}|_\w+))\s*")
LIMIT = 5_000  # characters of a formula


def of_math(node: Any) -> str:
    """The LaTeX of a MathML element between dollar signs: its annotation, its alternative text, or what its
    elements mean; empty if they mean nothing.
    """
    note = node.css_first('annotation[encoding="application/x-tex"]')
    source = note.text() if note else node.attributes.get("alttext") or latex_of(node)
    return _fenced(source, display=node.attributes.get("display") == "block")


def of_script(node: Any) -> str:
    """The formula of a MathJax script: LaTeX, or what its MathML means, or AsciiMath as code; empty for others."""
    kind = node.attributes.get("type") or ""
    if kind[:5] != "math/":
        return ""
    source = node.text() or ""
    if kind.startswith("math/tex"):
        return _fenced(source, display="display" in kind)
    if kind.startswith("math/asciimath"):
        return f"`{' '.join(source.split())[:LIMIT]}`" if source.strip() and "`" not in source else ""
    return _of_markup(source) if kind.startswith("math/mml") else ""


def _of_markup(source: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    math = LexborHTMLParser(source[:LIMIT]).css_first("math")
    return of_math(math) if math else ""


def of_picture(given: Given) -> str:
    """The LaTeX that a picture shows, by its class or its address; empty for any other picture."""
    names, alternative = given.get("class") or "", (given.get("alt") or "").strip()
    if alternative and names and PICTURED.search(names):
        source = alternative.removeprefix("$").removesuffix("$").removeprefix("$").removesuffix("$")
        return _fenced(source, display="display" in names)
    address = given.get("src") or ""
    if ("latex" in address or "cht=tx" in address) and (found := PAINTED.search(address[: 2 * LIMIT])):
        return _fenced(STYLED.sub("", unquote_plus(next(filter(None, found.groups())))), display=False)
    return ""


def _fenced(source: str, *, display: bool) -> str:
    source = " ".join(source.split())
    if found := DISPLAYED.fullmatch(source):
        source = found[1].strip()
    if not source or len(source) > LIMIT:
        return ""
    return f" $${source}$$ " if display else f"${source}$"
