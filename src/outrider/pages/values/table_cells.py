"""Read the cells of HTML tables, with their labels and links."""

from dataclasses import dataclass, replace
from typing import Any

from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value

MAX_COLUMNS = 100


@dataclass(frozen=True, eq=False, slots=True)
class TableCell:
    """A cell of a table.

    Attributes:
        node: Its element.
        text: Its text.
        is_head: Whether it is the head of a column or row.
        width, height: Columns and rows that it spans.
    """

    node: Any
    text: str
    is_head: bool
    width: int = 1
    height: int = 1

    @classmethod
    def from_node(cls, node: Any, texts: TextReader) -> "TableCell":
        """Read a cell; a heading such as P has its full form Played."""
        attributes = node.attributes
        is_head = node.tag == "th" or attributes.get("role") in ("columnheader", "rowheader")
        full = node.css_first("abbr[title]") if is_head else None
        text = tidy_value(full.attributes.get("title")) if full is not None else texts.read(node)
        spans = [attributes.get(name) or "" for name in ("colspan", "rowspan")]
        width, height = (int(each) if each.isdecimal() and len(each) < 4 else 1 for each in spans)
        return cls(node, text, is_head, min(max(width, 1), MAX_COLUMNS), max(height, 1))

    def list_full_forms(self) -> list[str]:
        """Return what a short heading such as W stands for, as its attributes say."""
        max_short_chars = 8
        nodes = [self.node, *self.node.css("[title], [aria-label]")[:2]] if len(self.text) <= max_short_chars else []
        given = [tidy_value(node.attributes.get(name)) for node in nodes for name in ("title", "aria-label", "abbr")]
        return [each for each in dict.fromkeys(given) if each[:1].isalpha() and each != self.text]

    def offer_value(
        self, label: str, around: tuple[str, str], names: list[tuple[str, float]], texts: TextReader
    ) -> list[OfferedValue]:
        """Return the cell's value under its label, with what is around, and under its column's further names."""
        outer, where = around
        # Without a heading, the label for narrow screens or for screen readers counts.
        given = [tidy_value(self.node.attributes.get(f"data-{name}")) for name in ("label", "th", "title")]
        given.append(tidy_value(self.node.attributes.get("headers")).partition(" ")[0])
        label = label or next(filter(None, given), "")
        place = f"{where}, {label!r}"
        offer = texts.offer(self.node, (label,), "table", place, 0.93, context=outer) if label else None
        return [offer, *(replace(offer, labels=(name,), weight=weight) for name, weight in names)] if offer else []


def offer_links(cells: list[TableCell], where: str) -> list[OfferedValue]:
    """Return the links of a row under their texts, and the only one as the row's address."""
    max_links, max_chars = 10, 60
    nodes = [node for cell in cells for node in cell.node.css("a[href]")[:max_links]][:max_links]
    links = [(tidy_value(node.text()), node.attributes.get("href") or "") for node in nodes]
    links = [each for each in links if not each[1].startswith(("#", "javascript:", "mailto:", "tel:"))]
    offers = [
        OfferedValue((text,), address, "link", f"{where}, link {text!r}", 0.7, link=address)
        for text, address in links
        if 0 < len(text) <= max_chars
    ]
    if len({address for _, address in links}) == 1:
        offers.append(OfferedValue(("url",), links[0][1], "element", f"{where}, link", 0.5))
    return offers


def is_repeated_head(line: list[TableCell | None], heads: list[TableCell | None]) -> bool:
    """Return whether a row repeats the table's headings, as long tables do."""
    pairs = [(cell.text, head.text) for cell, head in zip(line, heads, strict=False) if cell and head and head.text]
    return len(pairs) > 1 and 2 * sum(text == head for text, head in pairs) > len(pairs)
