"""What the style sheets inside of a page hide by a plain rule for a class or an id.

Rules inside of @media and the like, and opacity, are not looked at: real pages use them for what scripts bring into
view. For the same reason a name that any other rule shows again hides nothing: it is a tab, a menu, a dialog.
"""

import re
from typing import Any

from outrider.pages.content.blocks import Given
from outrider.pages.content.hiding import BY_RULE

SHEET_LIMIT = 300_000  # characters of style sheets that are looked at
RULE_LIMIT = 600  # characters of one rule
SIMPLE = re.compile(r"[.#]-?[_a-z][\w-]*", re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Each begins with letters, for which a search is quick; what is found is then looked at as a whole.
SUSPECTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"display\s*:\s*none", r"visibility\s*:\s*(?:hidden|collapse)", r"font(?:-size)?\s*:\s*0", r"clip\s*:\s*rect",
        r"clip-path\s*:\s*inset", r"text-indent\s*:\s*-\d{3}", r"left\s*:\s*-\d{3}", r"top\s*:\s*-\d{3}",
        r"right\s*:\s*-\d{3}", r"color\s*:\s*transparent",
    )
)  # fmt: skip
SHOWS = re.compile(
    r"display\s*:\s*(?!none|\s)|visibility\s*:\s*visible|position\s*:\s*static|clip\s*:\s*auto", re.IGNORECASE
)


class Sheets:
    """The plain rules of a page's style sheets that hide."""

    __slots__ = ("_hidden", "_source")

    def __init__(self, source: str) -> None:
        self._source = COMMENT.sub(" ", source) if "/*" in source else source
        self._hidden: dict[str, bool | None] = dict.fromkeys(_suspects(self._source))

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def hide(self, given: Given) -> bool:
        """Whether an element with these attributes is hidden."""
        if (name := given.get("id")) and f"#{name}" in self._hidden and self._hides(f"#{name}"):
            return True
        return any(
            f".{name}" in self._hidden and self._hides(f".{name}") for name in (given.get("class") or "").split()
        )

    def _hides(self, name: str) -> bool:
        found = self._hidden[name]
        if found is None:
            rules = re.finditer(re.escape(name) + r"(?![\w-])[^{}]{0,300}\{([^{}]{0,600})", self._source)
            found = self._hidden[name] = not any(SHOWS.search(rule[1]) for rule in rules)
        return found


def sheets_of(tree: Any) -> Sheets:
    """The style sheets of a parsed page."""
    left, sources = SHEET_LIMIT, []
    for node in tree.css("style"):
        source = node.text() or ""
        if left > 0 and "{" in source:
            sources.append(source[:left])
            left -= len(source)
    return Sheets("\n".join(sources))


def _suspects(source: str) -> set[str]:
    """The classes and ids of which a rule of the sheet's top level hides what bears them."""
    found: set[str] = set()
    for suspect in SUSPECTS:
        depth = at = 0
        for match in suspect.finditer(source):
            start = source.rfind("{", at, match.start())
            if start < 0:
                continue
            depth, at = depth + source.count("{", at, start) - source.count("}", at, start), start
            body = source[start + 1 : start + RULE_LIMIT].partition("}")[0]
            if not depth and BY_RULE.search(body):
                before = max(source.rfind(mark, 0, start) for mark in "{};")
                found.update(
                    part for each in source[before + 1 : start].split(",") if SIMPLE.fullmatch(part := each.strip())
                )
    return found
