"""Formulas as LaTeX, from wherever a page keeps them."""

import re
from typing import Any
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.content.walking.blocks import Given
from outrider.pages.content.walking.latex import latex_of

DISPLAYED = re.compile(r"\{\\(?:displaystyle|textstyle)\b(.*)\}")
PICTURED = re.compile(r"(?:^|\s)(?:(?:wp-)?latex|tex|math|mwe-math-fallback-image-\w+)(?:\s|$)")
# Services that draw formulas, which they are told in their address.
PAINTED = re.compile(
    r"latex\.codecogs\.com/\w+\.(?:image|latex)\?(.+)|/latex\.php\?(?:.*&)?latex=([^&]+)|[?&]cht=tx&(?:.*&)?chl=([^&]+)"
    r"|/equation\?(?:.*&)?tex=([^&]+)"
)
STYLED = re.compile(r"\\(?:inline|large|Large|small|displaystyle|(?:dpi|bg|fg|fn)\s*(?:\{\w*\}|_\w+))\s*")
UNDRAWN = frozenset({"math inline", "math display"})  # classes of formulas before KaTeX has drawn them
DELIMITED = re.compile(r"\\[(\[]|\$")
LIMIT = 5_000  # characters of a formula


def of_math(node: Any) -> str:
    """The LaTeX of a MathML element between dollar signs: its annotation, its alternative text, or what its
    elements mean; empty if they mean nothing.
    """
    notes = (note.text() for note in node.css("annotation[encoding]") if "tex" in note.attributes["encoding"].lower())
    source = next(notes, "") or node.attributes.get("alttext") or latex_of(node)
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
    math = LexborHTMLParser(source[:LIMIT]).css_first("math")
    return of_math(math) if math else ""


def of_drawn(node: Any, given: Given, names: str) -> str:
    """The formula of an inline element in which a script draws it, or would: told in its attributes, or as its text.

    Args:
        node: The element.
        given: Its attributes.
        names: Its classes.

    Returns:
        Nothing if what it holds tells the formula, or the script behind it, which is read by itself.
    """
    if source := given.get("data-tex"):
        return _fenced(source.strip(), display="display" in names)
    if names in UNDRAWN:
        source, inner = node.text(), node.first_child
        return (
            ""
            if DELIMITED.search(source) or (inner is not None and inner.next is not None)
            else _fenced(source, display="display" in names)
        )
    if markup := given.get("data-mathml"):
        return "" if _is_told(node) else _of_markup(markup)
    if node.tag == "mjx-container" and node.css_first("math") is None:
        named = node if "data-latex" in given else node.css_first("[data-latex]")
        source = (named.attributes.get("data-latex") or "") if named else ""
        return _fenced(source, display=given.get("display") == "true")
    return ""


def _is_told(node: Any) -> bool:
    """Whether the next element, or the next one around it, is a script that holds the formula."""
    for each in (node, node.parent):
        after = each.next
        while after is not None and after.tag == "-text":
            after = after.next
        if after is not None and after.tag == "script" and (after.attributes.get("type") or "")[:5] == "math/":
            return True
    return False


def of_picture(given: Given) -> str:
    """The LaTeX that a picture shows, by its class or its address; empty for any other picture."""
    names, alternative = given.get("class") or "", (given.get("alt") or "").strip()
    if alternative and names and PICTURED.search(names):
        source = alternative.removeprefix("$").removesuffix("$").removeprefix("$").removesuffix("$")
        return _fenced(source, display="display" in names)
    address = given.get("src") or ""
    if "latex" not in address and "tex=" not in address and "cht=tx" not in address:
        return ""
    if found := PAINTED.search(address[: 2 * LIMIT]):
        return _fenced(STYLED.sub("", unquote_plus(next(filter(None, found.groups())))), display=False)
    return ""


def _fenced(source: str, *, display: bool) -> str:
    source = " ".join(source.split())
    if found := DISPLAYED.fullmatch(source):
        source = found[1].strip()
    if not source or len(source) > LIMIT:
        return ""
    return f" $${source}$$ " if display else f"${source}$"
