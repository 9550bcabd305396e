"""Label the items of lists that are numbered by letters or Roman numerals.

Markdown only has numbers, so these labels follow a bullet.
"""

import re

from outrider.pages.extraction.blocks.page_blocks import Attributes

# The values of `type` (html.spec.whatwg.org, the ol element). Classes are named after values of `list-style-type`.
LIST_TYPES = {"a": "alpha", "A": "ALPHA", "i": "roman", "I": "ROMAN"}
LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
LIST_CLASS = re.compile(r"(?:^|[\s-])((?:lower|upper)-?(?:alpha|latin|roman))(?:\s|$)")


def detect_numbering(attributes: Attributes) -> str:
    """Return `alpha`, `roman`, either in capitals, or `none`, as a list's attributes say, or "" for numbers."""
    if "style" in attributes and (match := LIST_STYLE.search(attributes["style"] or "")):
        return _normalize_style(match[1])
    if (list_type := attributes.get("type") or "") in LIST_TYPES:
        return LIST_TYPES[list_type]
    match = LIST_CLASS.search(attributes.get("class") or "")
    return _normalize_style(match[1]) if match else ""


def _normalize_style(style: str) -> str:
    style = style.lower()
    if style == "none":
        return style
    kind = "roman" if style.endswith("roman") else "alpha"
    return kind.upper() if style.startswith("upper") else kind


def format_label(number: int, numbering: str) -> str:
    """Return the label of an item, or "" if its number has no letter."""
    max_number = 4_000  # larger Roman numerals are unreadable
    numerals = (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
        (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    )  # fmt: skip
    if numbering == "none" or not 0 < number < max_number:
        return ""
    label, rest = "", number
    if numbering.lower() == "alpha":
        while rest:
            rest, letter = divmod(rest - 1, 26)
            label = chr(ord("a") + letter) + label
    else:
        for value, numeral in numerals:
            count, rest = divmod(rest, value)
            label += numeral * count
    return f"{label.upper() if numbering.isupper() else label}. "
