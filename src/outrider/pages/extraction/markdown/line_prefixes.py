"""Build the prefixes of lines inside quotes and list items."""

import re
from dataclasses import dataclass, field

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, Attributes, PageBlocks

LI_TAG, QUOTE_TAG, OL_TAG = (TAG_NUMBERS[tag] for tag in ("li", "blockquote", "ol"))
# The values of `type` (html.spec.whatwg.org, the ol element). Classes are named after values of `list-style-type`.
LIST_TYPES = {"a": "alpha", "A": "ALPHA", "i": "roman", "I": "ROMAN"}
LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
LIST_CLASS = re.compile(r"(?:^|[\s-])((?:lower|upper)-?(?:alpha|latin|roman))(?:\s|$)")


@dataclass(slots=True)
class LinePrefixes:
    """Prefixes for the lines of one page.

    Attributes:
        started_items: Items with written content.
        item_numbers: Numbers of the items of ordered lists seen so far.
    """

    page: PageBlocks
    started_items: set[int] = field(default_factory=set)
    item_numbers: dict[int, int] = field(default_factory=dict)

    def build_prefix(self, holders: tuple[int, ...], new_item: int = -1, *, first_line: bool = False) -> str:
        """Return the prefix of a line in these quotes and items. Items without written content have none.

        Args:
            holders: The quotes and items, outer ones first.
            new_item: The item that begins here, or -1.
            first_line: Whether the line is the new item's first.
        """
        prefix = ""
        for holder in holders:
            if self.page.elements[holder][1] == QUOTE_TAG:
                prefix += "> "
            elif holder == new_item and first_line:
                prefix += self.format_bullet(holder)
                parent = self.page.elements[holder][0]
                is_ordered = parent >= 0 and self.page.elements[parent][1] == OL_TAG
                if is_ordered and (numbering := self._get_numbering(parent)):
                    prefix += format_label(self._get_item_number(holder, parent), numbering)
                task = (self.page.attributes.get(holder) or {}).get("task")
                prefix += f"[{task}] " if task in ("x", " ") else ""
            elif holder == new_item or holder in self.started_items:
                prefix += " " * len(self.format_bullet(holder))
        return prefix

    def format_bullet(self, item: int) -> str:
        """Return the bullet or number of an item."""
        elements = self.page.elements
        parent = elements[item][0]
        if parent < 0 or elements[parent][1] != OL_TAG or self._get_numbering(parent):
            return "- "
        return f"{self._get_item_number(item, parent)}. "

    def _get_numbering(self, parent: int) -> str:
        """Return how an ordered list is numbered, or "" for decimal numbers."""
        attributes = self.page.attributes.get(parent)
        return detect_numbering(attributes) if attributes else ""

    def _get_item_number(self, item: int, parent: int) -> int:
        """Return the number of an item in its ordered list."""
        if item not in self.item_numbers:
            elements, element, items = self.page.elements, parent + 1, list[int]()
            while element < len(elements) and elements[element][0] >= parent:
                if elements[element][0] == parent and elements[element][1] == LI_TAG:
                    items.append(element)
                element += 1
            attributes = self.page.attributes.get(parent) or {}
            step = -1 if "reversed" in attributes else 1
            count = _parse_count(attributes.get("start"), len(items) if step < 0 else 1)
            for sibling in items:
                count = _parse_count((self.page.attributes.get(sibling) or {}).get("value"), count)
                self.item_numbers[sibling] = count
                count += step
        return max(0, self.item_numbers.get(item, 1))


def _parse_count(value: str | None, default: int) -> int:
    digits = (value or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else default


def prefix_lines(text: str, prefix: str, first_prefix: str | None = None) -> str:
    """Put a prefix before each line, and another one before the first."""
    first_prefix = prefix if first_prefix is None else first_prefix
    if not prefix and not first_prefix:
        return text
    blank = prefix.rstrip()
    return first_prefix + "\n".join([prefix + line if line else blank for line in text.split("\n")])[len(prefix) :]


def detect_numbering(attributes: Attributes) -> str:
    """Return a list's numbering style from its attributes.

    It is `alpha`, `roman`, either in capitals, `none`, or "" for numbers.
    """
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
