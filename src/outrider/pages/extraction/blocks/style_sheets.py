"""Find the classes and ids that a page's own style sheets hide.

Rules in @media and similar blocks are ignored, because pages use them for content that scripts bring into view. For the
same reason, a name that any other rule shows again hides nothing: it is a tab, a menu or a dialog. Rules that only fold
an element or make it transparent count if no other rule and no transition touches it.
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
# Declarations that may hide, in lower case. Each begins with letters, because that makes the search fast.
HIDING_PROPERTY_PATTERNS = (
    ("none", re.compile(r"display\s*:\s*none")), ("visibility", re.compile(r"visibility\s*:\s*(?:hidden|collapse)")),
    ("font", re.compile(r"font(?:-size)?\s*:\s*0")), ("opacity", re.compile(r"opacity\s*:\s*\.?0")),
    ("max-height", re.compile(r"max-height\s*:\s*0")), ("-fill-color", re.compile(r"fill-color\s*:\s*t")),
)  # fmt: skip
# Values that are rarer than their properties, and the text before them.
HIDING_VALUE_PATTERNS = (
    ("rect(", re.compile(r"clip\s*:\s*\Z")), ("inset(", re.compile(r"clip-path\s*:\s*\Z")),
    ("transparent", re.compile(r"color\s*:\s*\Z")), ("rgba(", re.compile(r"(?<![-\w])color\s*:\s*\Z")),
    ("polygon(", re.compile(r"clip-path\s*:\s*\Z")), ("translate", re.compile(r"transform\s*:[^;{}]*\Z")),
)  # fmt: skip
FADING_DECLARATION_PATTERN = re.compile(
    r"(?:^|[;\s])opacity\s*:\s*(?:0(?:\.0*)?|\.0+)%?\s*(?:[;!]|$)|-text-fill-color\s*:\s*transparent"
    r"|(?:^|[;\s])max-height\s*:\s*0(?:px)?\s*[;!][^}]*overflow|overflow[^}]*[;\s]max-height\s*:\s*0(?:px)?\s*(?:[;!]|$)"
)
APPEARING_DECLARATION_PATTERN = re.compile(r"transition|animation|background-clip")
FAR_OFFSET_PATTERN, OFFSET_PROPERTY_PATTERN = (
    re.compile(r":\s*-\d{3}"),
    re.compile(r"(?:text-indent|left|top|right)\s*\Z"),
)
SHOWING_DECLARATION_PATTERN = re.compile(
    r"display\s*:\s*(?!none|\s)|visibility\s*:\s*visible|position\s*:\s*static|clip\s*:\s*auto", re.IGNORECASE
)


class StyleSheets:
    """The simple rules of a page's style sheets that hide elements."""

    __slots__ = ("_classes", "_compound_selectors", "_hidden_by_classes", "_hidden_by_selector", "_ids", "_source")

    def __init__(self, source: str) -> None:
        max_compound_selectors = 100  # each is compared with every element
        self._source = CSS_COMMENT_PATTERN.sub(" ", source) if "/*" in source else source
        selectors = _find_hiding_selectors(self._source)
        self._ids = {name[1:] for name in selectors if name[0] == "#"}
        self._classes = {name[1:] for name in selectors if name[0] == "." and "." not in name[1:]}
        compound = sorted(name for name in selectors if name[0] != "#" and name[1:] not in self._classes)
        parts = [name.split(".") for name in compound[:max_compound_selectors]]
        self._compound_selectors = [(tag.lower(), frozenset(classes)) for tag, *classes in parts]
        self._hidden_by_classes: dict[tuple[str, str], bool] = {}
        self._hidden_by_selector: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._classes or self._ids or self._compound_selectors)

    def is_hidden(self, attributes: Attributes, tag: str) -> bool:
        """Return whether a rule hides an element with these attributes and this tag."""
        if (name := attributes.get("id")) and name in self._ids and self._is_hiding_selector(f"#{name}"):
            return True
        names = attributes.get("class")
        if not names:
            return False
        key = tag, names
        is_hiding = self._hidden_by_classes.get(key)
        if is_hiding is None:
            classes = frozenset(names.split())
            hiding = [frozenset({name}) for name in classes & self._classes]
            hiding += [each for other, each in self._compound_selectors if other in ("", tag) and each <= classes]
            is_hiding = any(all(self._is_hiding_selector(f".{name}") for name in each) for each in hiding)
            self._hidden_by_classes[key] = is_hiding
        return is_hiding

    def _is_hiding_selector(self, name: str) -> bool:
        """Return whether no rule shows elements with this class or id again."""
        if name in self._hidden_by_selector:
            return self._hidden_by_selector[name]
        is_reshown = False
        at = self._source.find(name)
        while at >= 0 and not is_reshown:
            at += len(name)
            rule = RULE_BODY_PATTERN.match(self._source, at)
            is_reshown = rule is not None and SHOWING_DECLARATION_PATTERN.search(rule[1]) is not None
            at = self._source.find(name, at)
        self._hidden_by_selector[name] = not is_reshown
        return not is_reshown


def collect_style_sheets(tree: Any, head: HeadElements | None = None) -> StyleSheets:
    """Parse the style sheets of a page."""
    chars_left, sources = 200_000, []
    for node in (head or collect_head_elements(tree)).styles:
        source = node.text() or ""
        if chars_left > 0 and "{" in source:
            sources.append(source[:chars_left])
            chars_left -= len(source)
    return StyleSheets("\n".join(sources))


def _find_hiding_selectors(source: str) -> set[str]:
    """Return the simple selectors whose top-level rules hide elements."""
    max_rule_chars = 600
    selectors: set[str] = set()
    lower = source if source.isascii() else source.encode("ascii", "replace").decode()
    lower = lower.lower()
    depth = at = 0
    for offset, is_certain in sorted(_iter_hiding_declarations(lower)):
        start = lower.rfind("{", at, offset)
        if start < 0:
            continue
        depth, at = depth + lower.count("{", at, start) - lower.count("}", at, start), start
        if depth:
            continue
        rule = lower[start + 1 : start + max_rule_chars].partition("}")[0]
        is_hiding = is_certain or HIDING_RULE_PATTERN.search(rule) is not None
        is_fading = FADING_DECLARATION_PATTERN.search(rule) and not APPEARING_DECLARATION_PATTERN.search(rule)
        if not is_hiding and not is_fading:
            continue
        rule_start = max(source.rfind(mark, 0, start) for mark in "{};") + 1
        names = filter(SIMPLE_SELECTOR_PATTERN.fullmatch, map(str.strip, source[rule_start:start].split(",")))
        selectors.update(name for name in names if is_hiding or source.count(name) == 1)
    return selectors


def _iter_hiding_declarations(lower: str) -> Iterator[tuple[int, bool]]:
    """Yield offsets of declarations that may hide, and whether any value hides."""
    property_chars = 40  # a value's property is this close before it
    for word, pattern in HIDING_PROPERTY_PATTERNS:
        if word in lower:
            yield from ((match.start(), word in ("none", "visibility")) for match in pattern.finditer(lower))
    for word, property_pattern in HIDING_VALUE_PATTERNS:
        at = lower.find(word)
        while at >= 0:
            if property_pattern.search(lower[max(0, at - property_chars) : at]):
                yield at, False
            at = lower.find(word, at + 1)
    for match in FAR_OFFSET_PATTERN.finditer(lower):
        if OFFSET_PROPERTY_PATTERN.search(lower[max(0, match.start() - property_chars) : match.start()]):
            yield match.start(), False
