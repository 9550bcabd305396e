"""A value that a page offers, with its labels and its place."""

from dataclasses import dataclass
from typing import Any

from outrider.core.untrusted import clean_untrusted


@dataclass(frozen=True, slots=True)
class OfferedValue:
    """A value that a page offers.

    Attributes:
        labels: Names that lead to it, outer ones first: `("offers", "price")`.
        text: The value as the page has it.
        source: `json-ld`, `microdata`, `meta`, `table`, `definition list`, `pair`, `class` or `element`.
        place: Where it is, for people.
        weight: How much a value of this source is trusted, from 0 to 1.
    """

    labels: tuple[str, ...]
    text: str
    source: str
    place: str
    weight: float


def tidy_value(text: str | None) -> str:
    """Return a text on one line, without invisible characters, or "" if it is too long for a value."""
    max_chars = 5_000
    line = " ".join((text or "")[: 4 * max_chars].split())
    return clean_untrusted(line) if len(line) <= max_chars else ""


@dataclass
class TextReader:
    """Read the texts of elements, all together within a budget, because nested elements repeat their texts.

    Attributes:
        chars_left: Characters to read before all further texts are empty.
    """

    chars_left: int = 40_000_000

    def read(self, node: Any) -> str:
        """Return the text of an element as `tidy_value` does."""
        if self.chars_left <= 0:
            return ""
        text = node.text(separator=" ")
        self.chars_left -= len(text) + 100  # an element costs time, too
        return tidy_value(text)
