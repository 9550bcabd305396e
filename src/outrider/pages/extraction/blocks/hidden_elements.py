"""Decide which elements are hidden, and which readers can open."""

import re
from collections.abc import Callable
from typing import Any

from outrider.pages.extraction.blocks.block_builder import BlockBuilder
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.hidden_attributes import (
    HIDING_ATTRIBUTES,
    is_hidden_by_attributes,
    is_white,
    is_white_text,
)
from outrider.pages.extraction.blocks.page_blocks import Attributes
from outrider.pages.extraction.blocks.panels import (
    find_controlled_ids,
    is_details_or_answer,
    is_prose_text,
    may_be_panel,
)

FAQ_BIT = 1 << CATEGORY["faq"]
NON_PANEL_BITS = sum(1 << CATEGORY[name] for name in ("nav", "form", "search", "consent", "popup"))
ALWAYS_SHOWN_TAGS = frozenset({"html", "body", "main", "article"})  # if hidden, they wait for a script
INLINE_TAGS = ("span", "u", "small", "font", "big", "abbr", "time", "ins", "mark", "dfn", "var", "bdi", "bdo")
HidingRule = Callable[[Attributes, str], bool]
BACKGROUND_PATTERN = re.compile(r"background(?:-color|-image)?\s*:\s*([^;}]{0,200})")


class HiddenElements(BlockBuilder):
    """Detect hidden elements around the current block.

    Attributes:
        by_rule: Returns whether a style sheet hides an element with these attributes and this tag.
        revealed_nodes: Memory ids of nodes that are treated as shown although they are hidden.
        hidden_by_rule: Whether a style sheet hid the last hidden element.
        body: The page's body node.
        background: The background of the page's text, None until first needed.
        panel_chars_left: Budget for reading hidden text in search of panels, which may be nested.
        controlled_ids: Ids of elements that buttons open, None until first needed.
    """

    __slots__ = (
        "background",
        "body",
        "by_rule",
        "controlled_ids",
        "hidden_by_rule",
        "panel_chars_left",
        "revealed_nodes",
    )

    def __init__(self, by_rule: HidingRule | None, revealed: frozenset[int]) -> None:
        super().__init__()
        self.by_rule = by_rule
        self.revealed_nodes = revealed
        self.hidden_by_rule = False
        self.body: Any = None
        self.background: PageBackground | None = None
        self.controlled_ids: frozenset[str] | None = None
        self.panel_chars_left = 1_500_000

    def is_hidden(self, node: Any, tag: str, attributes: Attributes) -> bool:
        """Return whether an element is hidden."""
        own = not HIDING_ATTRIBUTES.isdisjoint(attributes) and (
            is_hidden_by_attributes(attributes) or self._is_white_on_white(node, attributes)
        )
        # pandoc hides captions from screen readers, which read them as the picture's text already.
        own = own and not (tag == "figcaption" and HIDING_ATTRIBUTES.intersection(attributes) == {"aria-hidden"})
        if not own and (self.by_rule is None or not self.by_rule(attributes, tag)):
            return False
        names = attributes.get("class") or ""
        # A formula is hidden because it duplicates a rendered one, or is that rendering.
        is_formula = "math" in names or (names == "katex-html" and node.prev is None)
        if tag in ALWAYS_SHOWN_TAGS or node.mem_id in self.revealed_nodes or is_formula:
            return False
        if own and tag not in INLINE_TAGS and self._is_openable_panel(node, attributes):
            return False
        self.hidden_by_rule = not own
        return True

    def _is_white_on_white(self, node: Any, attributes: Attributes) -> bool:
        if not is_white_text(attributes.get("style") or f"color:{attributes.get('color')}"):
            return False
        if self.background is None:
            self.background = PageBackground(self.body)
        return self.background.is_white_behind(node)

    def _is_openable_panel(self, node: Any, attributes: Attributes) -> bool:
        """Return whether a button or its place among questions makes a hidden element a panel."""
        cost_chars = 5_000  # of checking an element, regardless of the length of its text
        is_answer = is_details_or_answer(node, attributes) or self._is_faq_answer(attributes)
        if not is_answer and ("id" not in attributes or self._is_inside_menu_or_form()):
            return False
        if self.panel_chars_left < 0 or not may_be_panel(attributes):
            return False
        text = node.text()
        self.panel_chars_left -= cost_chars + len(text)
        if not is_prose_text(node, text):
            return False
        if is_answer:
            return True
        if self.controlled_ids is None:
            self.controlled_ids = find_controlled_ids(self.body)
        return attributes["id"] in self.controlled_ids

    def _is_inside_menu_or_form(self) -> bool:
        return self.current < 0 or self.page.elements[self.current][3] & NON_PANEL_BITS != 0

    def _is_faq_answer(self, attributes: Attributes) -> bool:
        """Return whether an element hidden from screen readers is only among questions."""
        max_ancestors = 3  # one of them is named after questions
        if "aria-hidden" not in attributes or self._is_inside_menu_or_form():
            return False
        ancestor, elements, bits = self.current, self.page.elements, 0
        if not elements[ancestor][3] & FAQ_BIT:
            return False
        for _ in range(max_ancestors):
            bits |= elements[ancestor][2] if ancestor >= 0 else 0
            ancestor = elements[ancestor][0]
        return bits & FAQ_BIT != 0


class PageBackground:
    """The backgrounds that a page's own source gives to its elements.

    Without a browser only those are known, so a page with other style sheets may be of any color.

    Args:
        body: The page's body node.
    """

    def __init__(self, body: Any) -> None:
        self._root = body.parent or body
        self._is_white_by_rules: bool | None = None
        self._steps_left = 200_000  # up to ancestors, for the whole page

    def is_white_behind(self, node: Any) -> bool:
        """Return whether neither the element nor anything around it has another background than white."""
        if self._is_white_by_rules is None:
            by_others = 'link[rel~="stylesheet" i], [color-scheme], meta[name="color-scheme" i]'
            sources = (node.text() or "" for node in self._root.css("style"))
            self._is_white_by_rules = self._root.css_first(by_others) is None and all(
                "@import" not in source and _is_white_style(source) for source in sources
            )
        if not self._is_white_by_rules:
            return False
        while node is not None and self._steps_left > 0:
            self._steps_left -= 1
            attributes = node.attributes
            if attributes and ("bgcolor" in attributes or "background" in attributes):
                return False
            if not _is_white_style((attributes.get("style") or "") if attributes else ""):
                return False
            node = node.parent
        return self._steps_left > 0


def _is_white_style(source: str) -> bool:
    if "background" not in source and "BACKGROUND" not in source.upper():
        return True
    values = (value.strip().partition(" ")[0] for value in BACKGROUND_PATTERN.findall(source.lower()))
    return all(value in {"none", "transparent", "0"} or is_white(value) for value in values if value)
