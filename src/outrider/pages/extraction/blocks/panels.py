"""Panels that a reader opens: answers to questions, folds of an accordion, what stands behind a tab or "show more".

Only their names tell them from menus, dialogs and texts for machines: a script keeps all of these hidden until they are
asked for. Of 1,497 pages every fortieth has such a panel in its content, collections and products above all. What a
script does not show again later, text of no size or beside the page, stays hidden whatever its name.
"""

import re
from typing import Any

PANEL_NAME_PATTERN = re.compile(
    r"faq|accordion|accordian|collaps|expand|answer|(?:panel|toggle|drawer)[-_]*(?:content|body)"
    r"|tab[-_]*(?:pane|content|panel|body|item)|(?:read|show)-?more|more-?text|truncat|spoiler"
)
NON_PANEL_NAME_PATTERN = re.compile(
    r"nav|menu|modal|popup|cookie|consent|cli-|dialog|overlay|search|cart|login|offcanvas|mobile|banner|footer|filter"
    r"|facet|refine|swatch|help|editor"
)
HIDING_TRICK_PATTERN = re.compile(r"font(?:-size)?\s*:\s*0|:\s*-\d{3,}|clip|scale|transparent", re.IGNORECASE)
NON_PANEL_ROLES = frozenset({"dialog", "alertdialog", "menu", "listbox", "tooltip"})
MAX_NAMES_CHARS, MAX_PANEL_STYLE_CHARS = 300, 600  # characters that are looked at


def is_named_panel(given: dict[str, str | None]) -> bool:
    """Whether a hidden element with these attributes is one that a reader can open.

    What is taken out of sight by more than its display, its visibility or its height is not.
    """
    names = f"{given.get('class') or ''} {given.get('id') or ''}"[:MAX_NAMES_CHARS].lower()
    if (
        not PANEL_NAME_PATTERN.search(names)
        or NON_PANEL_NAME_PATTERN.search(names)
        or given.get("role") in NON_PANEL_ROLES
    ):
        return False
    style = given.get("style")
    return not style or not HIDING_TRICK_PATTERN.search(style[:MAX_PANEL_STYLE_CHARS])


def may_be_panel(given: dict[str, str | None]) -> bool:
    """Whether a hidden element that bears no name of a panel might be one: nothing speaks against it."""
    names = f"{given.get('class') or ''} {given.get('id') or ''}"[:MAX_NAMES_CHARS].lower()
    if "popover" in given or given.get("role") in NON_PANEL_ROLES or NON_PANEL_NAME_PATTERN.search(names):
        return False
    return not HIDING_TRICK_PATTERN.search((given.get("style") or "")[:MAX_PANEL_STYLE_CHARS])


def is_prose_text(node: Any, text: str) -> bool:
    """Whether a hidden element holds running text, this one, and not mostly links as menus do."""
    min_panel_chars = 20  # characters of a panel that bears no name of one
    chars = len(text.strip())
    return chars >= min_panel_chars and 2 * sum([len(link.text()) for link in node.css("a")]) < chars


def is_details_or_answer(node: Any, given: dict[str, str | None]) -> bool:
    """Whether what stands around a hidden element opens it, or it is marked as the answer to a question."""
    answer_properties = frozenset({"acceptedAnswer", "suggestedAnswer"})  # schema.org/Question
    if given.get("itemprop") in answer_properties:
        return True
    up = node.parent
    return up is not None and up.tag == "details"


def find_controlled_ids(body: Any) -> frozenset[str]:
    """The ids of elements that buttons open and shut (WAI-ARIA 1.2, aria-expanded)."""
    control_selector = "[aria-controls][aria-expanded]"
    return frozenset(node.attributes["aria-controls"] or "" for node in body.css(control_selector))
