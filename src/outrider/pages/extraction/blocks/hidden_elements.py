"""Which elements are hidden: by their attributes, by style sheets; and which of those are panels that readers open."""

from collections.abc import Callable
from typing import Any

from outrider.pages.extraction.blocks.block_builder import BlockBuilder
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.hidden_attributes import HIDING_ATTRIBUTES, is_hidden_by_attributes
from outrider.pages.extraction.blocks.page_blocks import Attributes
from outrider.pages.extraction.blocks.panels import (
    find_controlled_ids,
    is_details_or_answer,
    is_prose_text,
    may_be_panel,
)

PANEL_TEXT_BUDGET_CHARS, PANEL_COST_CHARS = (
    1_500_000,
    5_000,
)  # characters of hidden text that are looked at, and what each element counts for
FAQ_BIT = 1 << CATEGORY["faq"]
NON_PANEL_BITS = sum(1 << CATEGORY[name] for name in ("nav", "form", "search", "consent", "popup"))
ALWAYS_SHOWN_TAGS = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
INLINE_TAGS = ("span", "u", "small", "font", "big", "abbr", "time", "ins", "mark", "dfn", "var", "bdi", "bdo")
HidingRule = Callable[[Attributes, str], bool]


class HiddenElements(BlockBuilder):
    """The block at hand, and what around it is not shown.

    Attributes:
        by_rule: Whether a rule of a style sheet hides an element with these attributes and this name.
        revealed_nodes: The elements that are looked into though they are hidden.
        hidden_by_rule: Whether the last hidden element was hidden by such a rule.
        body: The node that all of them stand in.
        panel_chars_left: How much is still looked into of what is hidden, for panels without a name: they may stand in each other.
        controlled_ids: The ids of elements that buttons open, once they have been asked for.
    """

    __slots__ = ("body", "by_rule", "controlled_ids", "hidden_by_rule", "panel_chars_left", "revealed_nodes")

    def __init__(self, by_rule: HidingRule | None, shown: frozenset[int]) -> None:
        super().__init__()
        self.by_rule = by_rule
        self.revealed_nodes = shown
        self.hidden_by_rule = False
        self.body: Any = None
        self.controlled_ids: frozenset[str] | None = None
        self.panel_chars_left = PANEL_TEXT_BUDGET_CHARS

    def is_hidden(self, node: Any, tag: str, given: Attributes) -> bool:
        """Whether an element is hidden."""
        own = not HIDING_ATTRIBUTES.isdisjoint(given) and is_hidden_by_attributes(given)
        if not own and (self.by_rule is None or not self.by_rule(given, tag)):
            return False
        if tag in ALWAYS_SHOWN_TAGS or node.mem_id in self.revealed_nodes or _is_hidden_formula(node, given):
            return False
        if own and tag not in INLINE_TAGS and self._is_openable_panel(node, given):
            return False
        self.hidden_by_rule = not own
        return True

    def _is_openable_panel(self, node: Any, given: Attributes) -> bool:
        """Whether a hidden element is a panel that readers open: by its button, or since it stands among questions."""
        asked = is_details_or_answer(node, given) or self._is_faq_answer(given)
        if not asked and ("id" not in given or self._is_inside_menu_or_form()):
            return False
        if self.panel_chars_left < 0 or not may_be_panel(given):
            return False
        text = node.text()
        self.panel_chars_left -= PANEL_COST_CHARS + len(text)
        return is_prose_text(node, text) and (asked or self._has_control_button(given))

    def _is_inside_menu_or_form(self) -> bool:
        """Whether the open elements are a menu, a form or the like."""
        return self.current < 0 or self.page.elements[self.current][3] & NON_PANEL_BITS != 0

    def _is_faq_answer(self, given: Attributes) -> bool:
        """Whether what only screen readers are kept from stands among questions."""
        max_ancestors = 3  # elements around a panel of which one is named after questions or folds
        if "aria-hidden" not in given or self._is_inside_menu_or_form():
            return False
        at, elements, near = self.current, self.page.elements, 0
        if not elements[at][3] & FAQ_BIT:
            return False
        for _ in range(max_ancestors):
            near |= elements[at][2] if at >= 0 else 0
            at = elements[at][0]
        return near & FAQ_BIT != 0

    def _has_control_button(self, given: Attributes) -> bool:
        """Whether a button opens an element with these attributes; the page is asked for its buttons once."""
        if self.controlled_ids is None:
            self.controlled_ids = find_controlled_ids(self.body)
        return given["id"] in self.controlled_ids


def _is_hidden_formula(node: Any, given: Attributes) -> bool:
    """Whether an element is hidden only because a formula is drawn beside it, or is all that is drawn of one."""
    names = given.get("class") or ""
    return "math" in names or (names == "katex-html" and node.prev is None)
