"""Formulas as LaTeX, from wherever a page keeps them."""

import re
from typing import Any

from outrider.pages.content.latex import latex_of

DISPLAYED = re.compile(r"\{\\(?:displaystyle|textstyle)\b(.*)\}")
PICTURED = re.compile(r"(?:^|\s)(?:(?:wp-)?latex|tex|math|mwe-math-fallback-image-\w+)(?:\s|$)")
LIMIT = 5_000  # characters of a formula


def of_math(node: Any) -> str:
    """The LaTeX of a MathML element between dollar signs: its annotation, its alternative text, or what its
    elements mean; empty if they mean nothing.
    """
    note = node.css_first('annotation[encoding="application/x-tex"]')
    source = note.text() if note else node.attributes.get("alttext") or latex_of(node)
    return _fenced(source, display=node.attributes.get("display") == "block")


def of_script(node: Any) -> str:
    """The LaTeX of a MathJax script; empty for any other script."""
    kind = node.attributes.get("type") or ""
    return _fenced(node.text(), display="display" in kind) if kind.startswith("math/tex") else ""


def of_picture(names: str, alternative: str) -> str:
    """The LaTeX that a picture of these classes shows, as its alternative text; empty for any other picture."""
    if not PICTURED.search(names) or not alternative:
        return ""
    source = alternative.strip().removeprefix("$").removesuffix("$").removeprefix("$").removesuffix("$")
    return _fenced(source, display="display" in names)


def _fenced(source: str, *, display: bool) -> str:
    source = " ".join(source.split())
    if found := DISPLAYED.fullmatch(source):
        source = found[1].strip()
    if not source or len(source) > LIMIT:
        return ""
    return f" $${source}$$ " if display else f"${source}$"
