"""Which elements are hidden: by their attributes, by style sheets; and which of those are panels that readers open."""

from collections.abc import Callable
from typing import Any

from outrider.pages.content.walking.blocks import Given
from outrider.pages.content.walking.hiding import CLUES, hides
from outrider.pages.content.walking.panels import controlled, is_fold, is_prose, unfolds
from outrider.pages.content.walking.passage import Passage
from outrider.pages.content.walking.words import NUMBER as CATEGORY

FOLDED = 3  # elements around a panel of which one is named after questions or folds
FOLDS, FOLD = 1_500_000, 5_000  # characters of hidden text that are looked at, and what each element counts for
ASKED = 1 << CATEGORY["faq"]
NEVER_OPENED = sum(1 << CATEGORY[name] for name in ("nav", "form", "search", "consent", "popup"))
NEVER_HIDDEN = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
INLINE = ("span", "u", "small", "font", "big", "abbr", "time", "ins", "mark", "dfn", "var", "bdi", "bdo")
Hides = Callable[[Given, str], bool]


class Unseen(Passage):
    """The block at hand, and what around it is not shown.

    Attributes:
        by_rule: Whether a rule of a style sheet hides an element with these attributes and this name.
        shown: The elements that are looked into though they are hidden.
        ruled_here: Whether the last hidden element was hidden by such a rule.
        body: The node that all of them stand in.
        folds: How much is still looked into of what is hidden, for panels without a name: they may stand in each other.
        controls: The ids of elements that buttons open, once they have been asked for.
    """

    __slots__ = ("body", "by_rule", "controls", "folds", "ruled_here", "shown")

    def __init__(self, by_rule: Hides | None, shown: frozenset[int]) -> None:
        super().__init__()
        self.by_rule = by_rule
        self.shown = shown
        self.ruled_here = False
        self.body: Any = None
        self.controls: frozenset[str] | None = None
        self.folds = FOLDS

    def hides(self, node: Any, tag: str, given: Given) -> bool:
        """Whether an element is hidden."""
        own = not CLUES.isdisjoint(given) and hides(given)
        if not own and (self.by_rule is None or not self.by_rule(given, tag)):
            return False
        if tag in NEVER_HIDDEN or node.mem_id in self.shown or _is_formula(node, given):
            return False
        if own and tag not in INLINE and self._is_opened(node, given):
            return False
        self.ruled_here = not own
        return True

    def _is_opened(self, node: Any, given: Given) -> bool:
        """Whether a hidden element is a panel that readers open: by its button, or since it stands among questions."""
        asked = unfolds(node, given) or self._is_asked_for(given)
        if not asked and ("id" not in given or self._is_never_opened()):
            return False
        if self.folds < 0 or not is_fold(given):
            return False
        text = node.text()
        self.folds -= FOLD + len(text)
        return is_prose(node, text) and (asked or self._is_controlled(given))

    def _is_never_opened(self) -> bool:
        """Whether the open elements are a menu, a form or the like."""
        return self.current < 0 or self.page.elements[self.current][3] & NEVER_OPENED != 0

    def _is_asked_for(self, given: Given) -> bool:
        """Whether what only screen readers are kept from stands among questions."""
        if "aria-hidden" not in given or self._is_never_opened():
            return False
        at, elements, near = self.current, self.page.elements, 0
        if not elements[at][3] & ASKED:
            return False
        for _ in range(FOLDED):
            near |= elements[at][2] if at >= 0 else 0
            at = elements[at][0]
        return near & ASKED != 0

    def _is_controlled(self, given: Given) -> bool:
        """Whether a button opens an element with these attributes; the page is asked for its buttons once."""
        if self.controls is None:
            self.controls = controlled(self.body)
        return given["id"] in self.controls


def _is_formula(node: Any, given: Given) -> bool:
    """Whether an element is hidden only because a formula is drawn beside it, or is all that is drawn of one."""
    names = given.get("class") or ""
    return "math" in names or (names == "katex-html" and node.prev is None)
