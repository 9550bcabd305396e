"""A value that a page offers, with its labels and its place."""

import re
from dataclasses import dataclass, field
from typing import Any

from outrider.core.untrusted import clean_untrusted

# Between the texts of two elements; str.split takes it for a space.
ELEMENT_BORDER = "\x1f"
# No space is shown before a full stop or within brackets only because another element begins there: `$<b>9</b>.`
TIGHT_BORDER = re.compile(
    f"(?<=[(\\[{{/$\u20ac\u00a3\u201c]){ELEMENT_BORDER}(?=\\S)|(?<=\\S){ELEMENT_BORDER}(?=[.,;!?)\\]}}/%\u2019\u201d]|\\(\\))"
)


@dataclass(frozen=True, slots=True)
class OfferedValue:
    """A value that a page offers.

    Attributes:
        labels: Names that lead to it, outer ones first: `("offers", "price")`.
        text: The value as the page has it.
        source: `json-ld`, `microdata`, `meta`, `table`, `definition list`, `pair`, `class`, `heading`, `link` or
            `element`.
        place: Where it is, for people.
        weight: How much a value of this source is trusted, from 0 to 1.
        context: The heading above it.
        link: The only address in it.
        when: The only date and time in it that is written for machines.
        parts: Its items, if it is a list.
    """

    labels: tuple[str, ...]
    text: str
    source: str
    place: str
    weight: float
    context: str = ""
    link: str = ""
    when: str = ""
    parts: tuple[str, ...] = ()


def tidy_value(text: str | None) -> str:
    """Return a value on one line, or "" if it is too long.

    Invisible characters are removed.
    """
    max_chars = 5_000
    text = (text or "")[: 4 * max_chars]
    text = TIGHT_BORDER.sub("", text) if ELEMENT_BORDER in text else text
    line = " ".join(text.split()).replace(": , ", ": ").replace(" , ", ", ")
    return clean_untrusted(line) if len(line) <= max_chars else ""


@dataclass
class TextReader:
    """Read the texts of elements, all together within a budget.

    The budget is needed because nested elements repeat their texts.

    Attributes:
        chars_left: Characters to read before all further texts are empty.
        offers_left: The remaining number of values to offer, because each is compared with every field.
        known_texts: Short texts by the ids of their elements.
    """

    chars_left: int = 40_000_000
    offers_left: int = 30_000
    known_texts: dict[int, str] = field(default_factory=dict)

    def read(self, node: Any) -> str:
        """Return the text of an element as `tidy_value` does."""
        max_known_chars = 500
        if self.chars_left <= 0:
            return ""
        self.chars_left -= 400  # an element costs time, too
        if (known := self.known_texts.get(node.mem_id)) is not None:
            return known
        text = node.text(separator=ELEMENT_BORDER)
        self.chars_left -= len(text)
        text = tidy_value(text)
        if len(text) <= max_known_chars:  # each is read again as part of other elements and groups
            self.known_texts[node.mem_id] = text
        return text

    def offer(
        self, node: Any, labels: tuple[str, ...], source: str, place: str, weight: float, *, context: str = ""
    ) -> OfferedValue | None:
        """Return an element's labelled value with its items, address and date, or None."""
        max_chars, max_parts = 2_000 if source in ("table", "definition list") else 500, 100
        # An element without words may have a text for those who do not see it.
        pictures = [] if (text := self.read(node)) else [node, *node.css("img[alt], [aria-label], [title]")[:2]]
        alternatives = (each.attributes.get(name) for each in pictures for name in ("alt", "aria-label", "title"))
        text = text or next(filter(None, map(tidy_value, alternatives)), "")
        if not text or len(text) > max_chars or self.offers_left <= 0:
            return None
        self.offers_left -= 1
        if node.css_first("select, button, table, nav, [role=menu]") is not None:
            return None
        if (struck := node.css_first("s, del, strike")) is not None and (
            rest := text.replace(self.read(struck), "", 1)
        ):
            text = rest.strip() or text
        items = [each for tag in ("li", "a", "abbr") if len(each := node.css(tag)[:max_parts]) > 1][:1]
        parts = tuple(filter(None, (self.read(item) for item in items[0]))) if items else ()
        links = {address for each in node.css("a[href]")[:3] if (address := each.attributes.get("href"))}
        times = {timestamp for each in node.css("time[datetime]")[:3] if (timestamp := each.attributes.get("datetime"))}
        link, timestamp = (each.pop() if len(each) == 1 else "" for each in (links, times))
        return OfferedValue(labels, text, source, place, weight, context, link, timestamp, parts)


def split_list(text: str) -> list[str]:
    """Return the items of an enumeration in one line; the line itself if it is not one."""
    max_item_words = 6
    for border in (r"\s*;\s+", r"\s*[\u00b7\u2022|]\s*", r"\s*[,\u3001\u060c]\s+", r"\s*\u3001\s*"):
        parts = [part for part in re.split(border, text) if part]
        if len(parts) > 1:
            is_prose = any(len(part.split()) > max_item_words for part in parts)
            return [text] if is_prose else parts
    return [text]
