"""What stands before a line: the marks of the quotes and items that hold it."""

from dataclasses import dataclass, field

from outrider.pages.content.walking.blocks import NUMBER, Blocks
from outrider.pages.content.writing.numbering import label_of, numbering_of

LI, QUOTE, OL = (NUMBER[tag] for tag in ("li", "blockquote", "ol"))


@dataclass(slots=True)
class Leads:
    """Of one page.

    Attributes:
        begun: Items of which something was put down.
        numbers: Of items that have been looked at.
    """

    page: Blocks
    begun: set[int] = field(default_factory=set)
    numbers: dict[int, int] = field(default_factory=dict)

    def before(self, holders: tuple[int, ...], begins: int = -1, *, first: bool = False) -> str:
        """What stands before a line in these quotes and items; items of which nothing was put down count for nothing.

        Args:
            holders: The quotes and items.
            begins: The item that begins here.
            first: Whether it is its first line.
        """
        lead = ""
        for each in holders:
            if self.page.elements[each][1] == QUOTE:
                lead += "> "
            elif each == begins:
                lead += self._label(each) if first else " " * len(self.bullet(each))
            elif each in self.begun:
                lead += " " * len(self.bullet(each))
        return lead

    def _label(self, item: int) -> str:
        return self.bullet(item) + self._letter(item) + self._box(item)

    def bullet(self, item: int) -> str:
        """What an item begins with."""
        elements = self.page.elements
        parent = elements[item][0]
        if parent < 0 or elements[parent][1] != OL or self._numbering(parent):
            return "- "
        return f"{self._number(item, parent)}. "

    def _numbering(self, parent: int) -> str:
        """How the items of an ordered list are numbered, if not by numbers."""
        given = self.page.given.get(parent)
        return numbering_of(given) if given else ""

    def _letter(self, item: int) -> str:
        """The letter or the Roman number of an item."""
        parent = self.page.elements[item][0]
        numbering = self._numbering(parent) if parent >= 0 and self.page.elements[parent][1] == OL else ""
        return label_of(self._number(item, parent), numbering) if numbering else ""

    def _box(self, item: int) -> str:
        """The box of a task."""
        task = (self.page.given.get(item) or {}).get("task")
        return f"[{task}] " if task in ("x", " ") else ""

    def _number(self, item: int, parent: int) -> int:
        """The number of an item in its ordered list."""
        if item not in self.numbers:
            given, items = self.page.given.get(parent) or {}, self._items(parent)
            step = -1 if "reversed" in given else 1
            count = _count(given.get("start"), len(items) if step < 0 else 1)
            for each in items:
                count = _count((self.page.given.get(each) or {}).get("value"), count)
                self.numbers[each] = count
                count += step
        return max(0, self.numbers.get(item, 1))

    def _items(self, parent: int) -> list[int]:
        """The items of a list."""
        elements, at, found = self.page.elements, parent + 1, list[int]()
        while at < len(elements) and elements[at][0] >= parent:
            if elements[at][0] == parent and elements[at][1] == LI:
                found.append(at)
            at += 1
        return found


def _count(value: str | None, otherwise: int) -> int:
    """A number that an attribute gives."""
    digits = (value or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 7 else otherwise


def led(text: str, lead: str, first: str | None = None) -> str:
    """The text with this before each line, the first line with that."""
    first = lead if first is None else first
    if not lead and not first:
        return text
    blank = lead.rstrip()
    return first + "\n".join([lead + line if line else blank for line in text.split("\n")])[len(lead) :]
