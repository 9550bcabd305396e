"""What the style sheets inside of a page hide by a plain rule for a class or an id, or for several classes at once.

Rules inside of @media and the like, and opacity, are not looked at: real pages use them for what scripts bring into
view. For the same reason a name that any other rule shows again hides nothing: it is a tab, a menu, a dialog.
"""

import re
from collections.abc import Iterator
from typing import Any

from outrider.pages.extraction.blocks.head_elements import HeadElements, collect_head_elements
from outrider.pages.extraction.blocks.hidden_attributes import HIDING_RULE_PATTERN
from outrider.pages.extraction.blocks.page_blocks import Attributes

SIMPLE_SELECTOR_PATTERN = re.compile(r"#-?[_a-z][\w-]*|(?:[a-z][a-z1-6]*)?(?:\.-?[_a-z][\w-]*)+", re.IGNORECASE)
RULE_BODY_PATTERN = re.compile(r"(?![\w-])[^{}]{0,300}\{([^{}]{0,600})")  # what follows a name in a rule
CSS_COMMENT_PATTERN = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# What may hide, in small letters: each begins with letters, for which a search is quick.
HIDING_PROPERTY_PATTERNS = (
    ("none", re.compile(r"display\s*:\s*none")), ("visibility", re.compile(r"visibility\s*:\s*(?:hidden|collapse)")),
    ("font", re.compile(r"font(?:-size)?\s*:\s*0")),
)  # fmt: skip
# Values that are rarer than their properties, and what stands before them then.
HIDING_VALUE_PATTERNS = (
    ("rect(", re.compile(r"clip\s*:\s*\Z")), ("inset(", re.compile(r"clip-path\s*:\s*\Z")),
    ("transparent", re.compile(r"color\s*:\s*\Z")),
)  # fmt: skip
FAR_OFFSET_PATTERN, OFFSET_PROPERTY_PATTERN = (
    re.compile(r":\s*-\d{3}"),
    re.compile(r"(?:text-indent|left|top|right)\s*\Z"),
)
SHOWING_DECLARATION_PATTERN = re.compile(
    r"display\s*:\s*(?!none|\s)|visibility\s*:\s*visible|position\s*:\s*static|clip\s*:\s*auto", re.IGNORECASE
)


class StyleSheets:
    """The plain rules of a page's style sheets that hide."""

    __slots__ = ("_classes", "_compound_selectors", "_hidden_by_classes", "_hidden_by_selector", "_ids", "_source")

    def __init__(self, source: str) -> None:
        max_compound_selectors = (
            100  # selectors that name more than one class that are looked at; each is asked of each element
        )
        self._source = CSS_COMMENT_PATTERN.sub(" ", source) if "/*" in source else source
        found = _find_hiding_selectors(self._source)
        self._ids = {name[1:] for name in found if name[0] == "#"}
        self._classes = {name[1:] for name in found if name[0] == "." and "." not in name[1:]}
        joint = sorted(name for name in found if name[0] != "#" and name[1:] not in self._classes)[
            :max_compound_selectors
        ]
        parts = [name.split(".") for name in joint]
        self._compound_selectors = [(tag.lower(), frozenset(classes)) for tag, *classes in parts]
        self._hidden_by_classes: dict[tuple[str, str], bool] = {}
        self._hidden_by_selector: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._classes or self._ids or self._compound_selectors)

    def is_hidden(self, attributes: Attributes, tag: str) -> bool:
        """Whether an element with these attributes and this name is hidden."""
        if (name := attributes.get("id")) and name in self._ids and self._is_hiding_selector(f"#{name}"):
            return True
        names = attributes.get("class")
        if not names:
            return False
        key = tag, names
        found = self._hidden_by_classes.get(key)
        if found is None:
            found = self._hidden_by_classes[key] = self._has_hiding_class(tag, frozenset(names.split()))
        return found

    def _has_hiding_class(self, tag: str, names: frozenset[str]) -> bool:
        """Whether an element of these classes is hidden by one of them, or by several together."""
        if any(self._is_hiding_selector(f".{name}") for name in names & self._classes):
            return True
        joint = [classes for other, classes in self._compound_selectors if other in ("", tag) and classes <= names]
        return any(all(self._is_hiding_selector(f".{name}") for name in classes) for classes in joint)

    def _is_hiding_selector(self, name: str) -> bool:
        """Whether no rule shows again what bears this name; remembered."""
        found = self._hidden_by_selector.get(name)
        if found is None:
            found = self._hidden_by_selector[name] = self._is_never_reshown(name)
        return found

    def _is_never_reshown(self, name: str) -> bool:
        at = self._source.find(name)
        while at >= 0:
            at += len(name)
            if (rule := RULE_BODY_PATTERN.match(self._source, at)) and SHOWING_DECLARATION_PATTERN.search(rule[1]):
                return False
            at = self._source.find(name, at)
        return True


def collect_style_sheets(tree: Any, told: HeadElements | None = None) -> StyleSheets:
    """The style sheets of a parsed page, which may have been asked what it tells."""
    max_sheet_chars = 200_000  # characters of style sheets that are looked at
    left, sources = max_sheet_chars, []
    for node in (told or collect_head_elements(tree)).styles:
        source = node.text() or ""
        if left > 0 and "{" in source:
            sources.append(source[:left])
            left -= len(source)
    return StyleSheets("\n".join(sources))


def _find_hiding_selectors(source: str) -> set[str]:
    """The classes and ids of which a rule of the sheet's top level hides what bears them."""
    max_rule_chars = 600  # characters of one rule
    found: set[str] = set()
    lower = source if source.isascii() else source.encode("ascii", "replace").decode()
    lower = lower.lower()
    depth = at = 0
    for place, sure in sorted(_iter_hiding_declarations(lower)):
        start = lower.rfind("{", at, place)
        if start < 0:
            continue
        depth, at = depth + lower.count("{", at, start) - lower.count("}", at, start), start
        if not depth and (
            sure or HIDING_RULE_PATTERN.search(lower[start + 1 : start + max_rule_chars].partition("}")[0])
        ):
            found.update(_parse_simple_selectors(source, start))
    return found


def _iter_hiding_declarations(lower: str) -> Iterator[tuple[int, bool]]:
    """Where a sheet says what may hide, and whether it does whatever its value goes on with."""
    property_chars = 40  # characters in which a property stands before its value
    certain_words = ("none", "visibility")
    for word, pattern in HIDING_PROPERTY_PATTERNS:
        if word in lower:
            yield from ((match.start(), word in certain_words) for match in pattern.finditer(lower))
    for word, before in HIDING_VALUE_PATTERNS:
        at = lower.find(word)
        while at >= 0:
            if before.search(lower[max(0, at - property_chars) : at]):
                yield at, False
            at = lower.find(word, at + 1)
    for match in FAR_OFFSET_PATTERN.finditer(lower):
        if OFFSET_PROPERTY_PATTERN.search(lower[max(0, match.start() - property_chars) : match.start()]):
            yield match.start(), False


def _parse_simple_selectors(source: str, end: int) -> list[str]:
    """The selectors before a rule's body that are an id, or classes of one element, with its name or without."""
    start = max(source.rfind(mark, 0, end) for mark in "{};")
    return [
        part for each in source[start + 1 : end].split(",") if SIMPLE_SELECTOR_PATTERN.fullmatch(part := each.strip())
    ]
