"""What stands before a line: the marks of the quotes and items that hold it."""

from dataclasses import dataclass, field

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.markdown.numbering import detect_numbering, format_label

LI_TAG, QUOTE_TAG, OL_TAG = (TAG_NUMBERS[tag] for tag in ("li", "blockquote", "ol"))


@dataclass(slots=True)
class LinePrefixes:
    """Of one page.

    Attributes:
        started_items: Items of which something was put down.
        item_numbers: Of items that have been looked at.
    """

    page: PageBlocks
    started_items: set[int] = field(default_factory=set)
    item_numbers: dict[int, int] = field(default_factory=dict)

    def build_prefix(self, holders: tuple[int, ...], new_item: int = -1, *, first_line: bool = False) -> str:
        """What stands before a line in these quotes and items; items of which nothing was put down count for nothing.

        Args:
            holders: The quotes and items.
            new_item: The item that begins here.
            first_line: Whether it is its first line.
        """
        lead = ""
        for each in holders:
            if self.page.elements[each][1] == QUOTE_TAG:
                lead += "> "
            elif each == new_item:
                lead += self._label(each) if first_line else " " * len(self.format_bullet(each))
            elif each in self.started_items:
                lead += " " * len(self.format_bullet(each))
        return lead

    def _label(self, item: int) -> str:
        return self.format_bullet(item) + self._format_letter(item) + self._format_checkbox(item)

    def format_bullet(self, item: int) -> str:
        """What an item begins with."""
        elements = self.page.elements
        parent = elements[item][0]
        if parent < 0 or elements[parent][1] != OL_TAG or self._get_numbering(parent):
            return "- "
        return f"{self._get_item_number(item, parent)}. "

    def _get_numbering(self, parent: int) -> str:
        """How the items of an ordered list are numbered, if not by numbers."""
        attributes = self.page.attributes.get(parent)
        return detect_numbering(attributes) if attributes else ""

    def _format_letter(self, item: int) -> str:
        """The letter or the Roman number of an item."""
        parent = self.page.elements[item][0]
        numbering = self._get_numbering(parent) if parent >= 0 and self.page.elements[parent][1] == OL_TAG else ""
        return format_label(self._get_item_number(item, parent), numbering) if numbering else ""

    def _format_checkbox(self, item: int) -> str:
        """The box of a task."""
        task = (self.page.attributes.get(item) or {}).get("task")
        return f"[{task}] " if task in ("x", " ") else ""

    def _get_item_number(self, item: int, parent: int) -> int:
        """The number of an item in its ordered list."""
        if item not in self.item_numbers:
            attributes, items = self.page.attributes.get(parent) or {}, self._list_items(parent)
            step = -1 if "reversed" in attributes else 1
            count = _parse_count(attributes.get("start"), len(items) if step < 0 else 1)
            for each in items:
                count = _parse_count((self.page.attributes.get(each) or {}).get("value"), count)
                self.item_numbers[each] = count
                count += step
        return max(0, self.item_numbers.get(item, 1))

    def _list_items(self, parent: int) -> list[int]:
        """The items of a list."""
        elements, at, found = self.page.elements, parent + 1, list[int]()
        while at < len(elements) and elements[at][0] >= parent:
            if elements[at][0] == parent and elements[at][1] == LI_TAG:
                found.append(at)
            at += 1
        return found


def _parse_count(value: str | None, default: int) -> int:
    """A number that an attribute gives."""
    digits = (value or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 7 else default


def prefix_lines(text: str, prefix: str, first_prefix: str | None = None) -> str:
    """The text with this before each line, the first line with that."""
    first_prefix = prefix if first_prefix is None else first_prefix
    if not prefix and not first_prefix:
        return text
    blank = prefix.rstrip()
    return first_prefix + "\n".join([prefix + line if line else blank for line in text.split("\n")])[len(prefix) :]
