"""How ordered lists are numbered: Markdown knows numbers alone, so letters and Roman numbers stand behind a bullet."""

import re

from outrider.pages.content.walking.blocks import Given

# Values of `type` (html.spec.whatwg.org, the ol element), and of `list-style-type`, of which classes are made too.
TYPES = {"a": "alpha", "A": "ALPHA", "i": "roman", "I": "ROMAN"}
STYLED = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
CALLED = re.compile(r"(?:^|[\s-])((?:lower|upper)-?(?:alpha|latin|roman))(?:\s|$)")
ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
MOST = 4_000  # from which on Roman numbers say nothing


def numbering_of(given: Given) -> str:
    """How the items of a list with these attributes are numbered: `alpha`, `roman`, either in capitals, `none`, or by
    numbers if empty.
    """
    if "style" in given and (found := STYLED.search(given["style"] or "")):
        return _named(found[1])
    if (kind := given.get("type") or "") in TYPES:
        return TYPES[kind]
    found = CALLED.search(given.get("class") or "")
    return _named(found[1]) if found else ""


def _named(style: str) -> str:
    style = style.lower()
    if style == "none":
        return style
    kind = "roman" if style.endswith("roman") else "alpha"
    return kind.upper() if style.startswith("upper") else kind


def label_of(number: int, numbering: str) -> str:
    """What stands before an item of this number; nothing for what has no letter."""
    if numbering == "none" or not 0 < number < MOST:
        return ""
    label = _letters(number) if numbering.lower() == "alpha" else _roman(number)
    return f"{label.upper() if numbering.isupper() else label}. "


def _letters(number: int) -> str:
    found = ""
    while number:
        number, at = divmod(number - 1, 26)
        found = chr(ord("a") + at) + found
    return found


def _roman(number: int) -> str:
    found = ""
    for value, sign in ROMAN:
        count, number = divmod(number, value)
        found += sign * count
    return found
