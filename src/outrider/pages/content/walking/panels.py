"""Panels that a reader opens: answers to questions, folds of an accordion, what stands behind a tab or "show more".

Only their names tell them from menus, dialogs and texts for machines: a script keeps all of these hidden until they are
asked for. Of 1,497 pages every fortieth has such a panel in its content, collections and products above all. What a
script does not show again later, text of no size or beside the page, stays hidden whatever its name.
"""

import re
from typing import Any

NAMED = re.compile(
    r"faq|accordion|accordian|collaps|expand|answer|(?:panel|toggle|drawer)[-_]*(?:content|body)"
    r"|tab[-_]*(?:pane|content|panel|body|item)|(?:read|show)-?more|more-?text|truncat|spoiler"
)
OTHERS = re.compile(
    r"nav|menu|modal|popup|cookie|consent|cli-|dialog|overlay|search|cart|login|offcanvas|mobile|banner|footer|filter"
    r"|facet|refine|swatch|help|editor"
)
TRICKS = re.compile(r"font(?:-size)?\s*:\s*0|:\s*-\d{3,}|clip|scale|transparent", re.IGNORECASE)
LEAST = 20  # characters of a panel that bears no name of one
CONTROLS = "[aria-controls][aria-expanded]"
ANSWERS = frozenset({"acceptedAnswer", "suggestedAnswer"})  # schema.org/Question
ROLES = frozenset({"dialog", "alertdialog", "menu", "listbox", "tooltip"})
NAMES_LIMIT, STYLE_LIMIT = 300, 600  # characters that are looked at


def is_panel(given: dict[str, str | None]) -> bool:
    """Whether a hidden element with these attributes is one that a reader can open.

    What is taken out of sight by more than its display, its visibility or its height is not.
    """
    names = f"{given.get('class') or ''} {given.get('id') or ''}"[:NAMES_LIMIT].lower()
    if not NAMED.search(names) or OTHERS.search(names) or given.get("role") in ROLES:
        return False
    style = given.get("style")
    return not style or not TRICKS.search(style[:STYLE_LIMIT])


def is_fold(given: dict[str, str | None]) -> bool:
    """Whether a hidden element that bears no name of a panel might be one: nothing speaks against it."""
    names = f"{given.get('class') or ''} {given.get('id') or ''}"[:NAMES_LIMIT].lower()
    if "popover" in given or given.get("role") in ROLES or OTHERS.search(names):
        return False
    return not TRICKS.search((given.get("style") or "")[:STYLE_LIMIT])


def is_prose(node: Any, text: str) -> bool:
    """Whether a hidden element holds running text, this one, and not mostly links as menus do."""
    chars = len(text.strip())
    return chars >= LEAST and 2 * sum([len(link.text()) for link in node.css("a")]) < chars


def unfolds(node: Any, given: dict[str, str | None]) -> bool:
    """Whether what stands around a hidden element opens it, or it is marked as the answer to a question."""
    if given.get("itemprop") in ANSWERS:
        return True
    up = node.parent
    return up is not None and up.tag == "details"


def controlled(body: Any) -> frozenset[str]:
    """The ids of elements that buttons open and shut (WAI-ARIA 1.2, aria-expanded)."""
    return frozenset(node.attributes["aria-controls"] or "" for node in body.css(CONTROLS))
