"""What the style sheets inside of a page hide by a plain rule for a class or an id, or for several classes at once.

Rules inside of @media and the like, and opacity, are not looked at: real pages use them for what scripts bring into
view. For the same reason a name that any other rule shows again hides nothing: it is a tab, a menu, a dialog.
"""

import re
from collections.abc import Iterator
from typing import Any

from outrider.pages.content.walking.blocks import Given
from outrider.pages.content.walking.hiding import BY_RULE
from outrider.pages.content.walking.told import Told, told_by

SHEET_LIMIT = 200_000  # characters of style sheets that are looked at
RULE_LIMIT = 600  # characters of one rule
JOINT = 100  # selectors that name more than one class that are looked at; each is asked of each element
SIMPLE = re.compile(r"#-?[_a-z][\w-]*|(?:[a-z][a-z1-6]*)?(?:\.-?[_a-z][\w-]*)+", re.IGNORECASE)
RULE = re.compile(r"(?![\w-])[^{}]{0,300}\{([^{}]{0,600})")  # what follows a name in a rule
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# What may hide, in small letters: each begins with letters, for which a search is quick.
SUSPECTS = (
    ("none", re.compile(r"display\s*:\s*none")), ("visibility", re.compile(r"visibility\s*:\s*(?:hidden|collapse)")),
    ("font", re.compile(r"font(?:-size)?\s*:\s*0")),
)  # fmt: skip
SURE = ("none", "visibility")
# Values that are rarer than their properties, and what stands before them then.
VALUES = (
    ("rect(", re.compile(r"clip\s*:\s*\Z")), ("inset(", re.compile(r"clip-path\s*:\s*\Z")),
    ("transparent", re.compile(r"color\s*:\s*\Z")),
)  # fmt: skip
FAR, SIDE = re.compile(r":\s*-\d{3}"), re.compile(r"(?:text-indent|left|top|right)\s*\Z")
BEFORE = 40  # characters in which a property stands before its value
SHOWS = re.compile(
    r"display\s*:\s*(?!none|\s)|visibility\s*:\s*visible|position\s*:\s*static|clip\s*:\s*auto", re.IGNORECASE
)


class Sheets:
    """The plain rules of a page's style sheets that hide."""

    __slots__ = ("_classes", "_ids", "_joint", "_known", "_source", "_sure")

    def __init__(self, source: str) -> None:
        self._source = COMMENT.sub(" ", source) if "/*" in source else source
        found = _suspects(self._source)
        self._ids = {name[1:] for name in found if name[0] == "#"}
        self._classes = {name[1:] for name in found if name[0] == "." and "." not in name[1:]}
        joint = sorted(name for name in found if name[0] != "#" and name[1:] not in self._classes)[:JOINT]
        parts = [name.split(".") for name in joint]
        self._joint = [(tag.lower(), frozenset(classes)) for tag, *classes in parts]
        self._known: dict[tuple[str, str], bool] = {}
        self._sure: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._classes or self._ids or self._joint)

    def hide(self, given: Given, tag: str) -> bool:
        """Whether an element with these attributes and this name is hidden."""
        if (name := given.get("id")) and name in self._ids and self._hides(f"#{name}"):
            return True
        names = given.get("class")
        if not names:
            return False
        key = tag, names
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._hides_any(tag, frozenset(names.split()))
        return found

    def _hides_any(self, tag: str, names: frozenset[str]) -> bool:
        """Whether an element of these classes is hidden by one of them, or by several together."""
        if any(self._hides(f".{name}") for name in names & self._classes):
            return True
        joint = [classes for other, classes in self._joint if other in ("", tag) and classes <= names]
        return any(all(self._hides(f".{name}") for name in classes) for classes in joint)

    def _hides(self, name: str) -> bool:
        """Whether no rule shows again what bears this name; remembered."""
        found = self._sure.get(name)
        if found is None:
            found = self._sure[name] = self._never_shows(name)
        return found

    def _never_shows(self, name: str) -> bool:
        at = self._source.find(name)
        while at >= 0:
            at += len(name)
            if (rule := RULE.match(self._source, at)) and SHOWS.search(rule[1]):
                return False
            at = self._source.find(name, at)
        return True


def sheets_of(tree: Any, told: Told | None = None) -> Sheets:
    """The style sheets of a parsed page, which may have been asked what it tells."""
    left, sources = SHEET_LIMIT, []
    for node in (told or told_by(tree)).styles:
        source = node.text() or ""
        if left > 0 and "{" in source:
            sources.append(source[:left])
            left -= len(source)
    return Sheets("\n".join(sources))


def _suspects(source: str) -> set[str]:
    """The classes and ids of which a rule of the sheet's top level hides what bears them."""
    found: set[str] = set()
    lower = source if source.isascii() else source.encode("ascii", "replace").decode()
    lower = lower.lower()
    depth = at = 0
    for place, sure in sorted(_hiding(lower)):
        start = lower.rfind("{", at, place)
        if start < 0:
            continue
        depth, at = depth + lower.count("{", at, start) - lower.count("}", at, start), start
        if not depth and (sure or BY_RULE.search(lower[start + 1 : start + RULE_LIMIT].partition("}")[0])):
            found.update(_simple(source, start))
    return found


def _hiding(lower: str) -> Iterator[tuple[int, bool]]:
    """Where a sheet says what may hide, and whether it does whatever its value goes on with."""
    for word, pattern in SUSPECTS:
        if word in lower:
            yield from ((match.start(), word in SURE) for match in pattern.finditer(lower))
    for word, before in VALUES:
        at = lower.find(word)
        while at >= 0:
            if before.search(lower[max(0, at - BEFORE) : at]):
                yield at, False
            at = lower.find(word, at + 1)
    for match in FAR.finditer(lower):
        if SIDE.search(lower[max(0, match.start() - BEFORE) : match.start()]):
            yield match.start(), False


def _simple(source: str, end: int) -> list[str]:
    """The selectors before a rule's body that are an id, or classes of one element, with its name or without."""
    start = max(source.rfind(mark, 0, end) for mark in "{};")
    return [part for each in source[start + 1 : end].split(",") if SIMPLE.fullmatch(part := each.strip())]
