"""Recognize hidden panels that readers can open: answers, accordions, tabs, "show more".

Only their names distinguish them from menus, dialogs and texts for machines, because a script hides all of these until
they are asked for. Text without size or off the page stays hidden under any name, because no script shows it.
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
MAX_NAMES_CHARS, MAX_PANEL_STYLE_CHARS = 300, 600  # the rest is ignored


def is_named_panel(attributes: dict[str, str | None]) -> bool:
    """Return whether a hidden element is a panel by its names.

    Anything hidden by more than its display, visibility or height is not.
    """
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:MAX_NAMES_CHARS].lower()
    if (
        not PANEL_NAME_PATTERN.search(names)
        or NON_PANEL_NAME_PATTERN.search(names)
        or attributes.get("role") in NON_PANEL_ROLES
    ):
        return False
    style = attributes.get("style")
    return not style or not HIDING_TRICK_PATTERN.search(style[:MAX_PANEL_STYLE_CHARS])


def may_be_panel(attributes: dict[str, str | None]) -> bool:
    """Return whether a hidden element could be a panel."""
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:MAX_NAMES_CHARS].lower()
    if "popover" in attributes or attributes.get("role") in NON_PANEL_ROLES or NON_PANEL_NAME_PATTERN.search(names):
        return False
    return not HIDING_TRICK_PATTERN.search((attributes.get("style") or "")[:MAX_PANEL_STYLE_CHARS])


def is_prose_text(node: Any, text: str) -> bool:
    """Return whether a hidden element's text is mostly prose.

    Menus, by contrast, are mostly links.
    """
    min_panel_chars = 20
    chars = len(text.strip())
    return chars >= min_panel_chars and 2 * sum([len(link.text()) for link in node.css("a")]) < chars


def is_details_or_answer(node: Any, attributes: dict[str, str | None]) -> bool:
    """Return whether a hidden element holds details or an answer.

    It is in a `details` element or marked as an answer (schema.org/Question).
    """
    if attributes.get("itemprop") in {"acceptedAnswer", "suggestedAnswer"}:
        return True
    parent = node.parent
    return parent is not None and parent.tag == "details"


def find_controlled_ids(body: Any) -> frozenset[str]:
    """Return the ids of elements that buttons expand (WAI-ARIA 1.2, aria-expanded)."""
    return frozenset(node.attributes["aria-controls"] or "" for node in body.css("[aria-controls][aria-expanded]"))
