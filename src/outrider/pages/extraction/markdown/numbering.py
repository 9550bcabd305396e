"""How ordered lists are numbered: Markdown knows numbers alone, so letters and Roman numbers stand behind a bullet."""

import re

from outrider.pages.extraction.blocks.page_blocks import Attributes

# Values of `type` (html.spec.whatwg.org, the ol element), and of `list-style-type`, of which classes are made too.
LIST_TYPES = {"a": "alpha", "A": "ALPHA", "i": "roman", "I": "ROMAN"}
LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
LIST_CLASS = re.compile(r"(?:^|[\s-])((?:lower|upper)-?(?:alpha|latin|roman))(?:\s|$)")


def detect_numbering(attributes: Attributes) -> str:
    """How the items of a list with these attributes are numbered: `alpha`, `roman`, either in capitals, `none`, or by
    numbers if empty.
    """
    if "style" in attributes and (found := LIST_STYLE.search(attributes["style"] or "")):
        return _normalize_style(found[1])
    if (kind := attributes.get("type") or "") in LIST_TYPES:
        return LIST_TYPES[kind]
    found = LIST_CLASS.search(attributes.get("class") or "")
    return _normalize_style(found[1]) if found else ""


def _normalize_style(style: str) -> str:
    style = style.lower()
    if style == "none":
        return style
    kind = "roman" if style.endswith("roman") else "alpha"
    return kind.upper() if style.startswith("upper") else kind


def format_label(number: int, numbering: str) -> str:
    """What stands before an item of this number; nothing for what has no letter."""
    max_number = 4_000  # from which on Roman numbers say nothing
    if numbering == "none" or not 0 < number < max_number:
        return ""
    label = _format_letters(number) if numbering.lower() == "alpha" else _format_roman(number)
    return f"{label.upper() if numbering.isupper() else label}. "


def _format_letters(number: int) -> str:
    found = ""
    while number:
        number, at = divmod(number - 1, 26)
        found = chr(ord("a") + at) + found
    return found


def _format_roman(number: int) -> str:
    numerals = (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
        (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    )  # fmt: skip
    found = ""
    for value, sign in numerals:
        count, number = divmod(number, value)
        found += sign * count
    return found
