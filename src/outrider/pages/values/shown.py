"""Collect the values that a page shows with a label: tables, definition lists, labelled pairs, named elements."""

import re
from collections.abc import Iterator
from typing import Any

from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value

PAIR = re.compile(r"([^:\uff1a.!?]{1,40})\s*[:\uff1a]\s+(\S.{0,300})")
PAIR_BORDER = re.compile(r"\s[\u00b7\u2022|]\s(?=[^:\uff1a\u00b7\u2022|]{1,40}[:\uff1a]\s)")
CURRENCY = r"(?:[$\u20ac\u00a3\u00a5\u20b9]|(?:USD|EUR|GBP|CHF)\b)"
PRICE = re.compile(rf"{CURRENCY}\s?\d[\d.,]*|\d[\d.,]*\s?{CURRENCY}")
HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
SKIPPED_TAGS = frozenset({"script", "style", "template", "noscript", "svg", "nav", "select", "option"})
PAIR_TAGS = frozenset({"p", "li", "div", "span", "td", "dd"})
STRUCK_TAGS = frozenset({"s", "del", "strike"})
CLASS_BORDER = re.compile(r"__|--|[\s_-]+")
MAX_LABEL_CHARS, MAX_CELL_CHARS = 60, 500


def read_shown(scope: Any, texts: TextReader, place: str = "") -> Iterator[OfferedValue]:
    """Yield the labelled values that an element shows, in the order of the page."""
    max_nodes = 20_000
    lead = f"{place}, " if place else ""
    counts: dict[str, int] = {}
    for node in scope.css("*")[:max_nodes]:
        tag = node.tag
        if tag in SKIPPED_TAGS or is_hidden(node):
            continue
        if tag in ("table", "dl"):
            counts[tag] = counts.get(tag, 0) + 1
        if tag == "tr":
            yield from _read_row(node, f"{lead}table {counts.get('table', 1)}")
        elif tag == "dt":
            yield from _read_term(node, f"{lead}definition list {counts.get('dl', 1)}")
        text = texts.read(node)
        if tag in PAIR_TAGS:
            yield from _read_pair(node, text, lead)
        yield from _read_element(node, text, lead)
        yield from _read_classes(node, text, lead)


def is_hidden(node: Any) -> bool:
    """Return whether an element or one of those around it is hidden."""
    max_levels = 12
    for _ in range(max_levels):
        if node is None:
            return False
        attributes = node.attributes
        if attributes and ("hidden" in attributes or HIDING_STYLE.search(attributes.get("style") or "")):
            return True
        node = node.parent
    return False


def _read_row(row: Any, place: str) -> Iterator[OfferedValue]:
    """Yield the value of a table's row of a label and a value."""
    cells = [cell for cell in row.iter() if cell.tag in ("th", "td")]
    if len(cells) != 2 or cells[1].tag == "th":
        return
    label, value = (tidy_value(cell.text(separator=" ")) for cell in cells)
    if label and value and len(label) <= MAX_LABEL_CHARS and len(value) <= MAX_CELL_CHARS:
        weight = 0.93 if cells[0].tag == "th" else 0.88
        yield OfferedValue((label.rstrip(" :"),), value, "table", f"{place}, row {label!r}", weight)


def _read_term(term: Any, place: str) -> Iterator[OfferedValue]:
    label, detail = tidy_value(term.text(separator=" ")), term.next
    while detail is not None and detail.tag != "dt":
        if detail.tag == "dd" and (value := tidy_value(detail.text(separator=" "))) and len(label) <= MAX_LABEL_CHARS:
            yield OfferedValue((label.rstrip(" :"),), value, "definition list", f"{place}, {label!r}", 0.93)
        detail = detail.next


def _read_pair(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the value of a line like `Price: 12`, or of a label and a value as two elements."""
    max_line_chars = 360
    children = [child for child in node.iter() if child.tag not in ("br", "wbr")]
    if not text or any(child.tag in PAIR_TAGS and ":" in child.text() for child in children):
        return  # the pair is further inside
    for line in _split_lines(node, text):
        if len(line) <= max_line_chars and (match := PAIR.fullmatch(line)):
            label = match[1].strip(" -\u2013*")
            yield OfferedValue((label,), match[2].strip(), "pair", f"{lead}line {line[:80]!r}", 0.85)
            children = []
    if len(children) == 2 and text == " ".join(tidy_value(each.text(separator=" ")) for each in children):
        label = tidy_value(children[0].text(separator=" "))
        if label and len(label) <= MAX_LABEL_CHARS and len(text) <= max_line_chars:
            value = tidy_value(children[1].text(separator=" "))
            yield OfferedValue((label.rstrip(" :"),), value, "pair", f"{lead}line {text[:80]!r}", 0.7)


def _split_lines(node: Any, text: str) -> list[str]:
    """Return the lines of an element's text, which breaks end, or dots and bars between pairs."""
    lines = [text]
    if node.css_first("br") is not None:
        parts = [(each.tag == "br", each.text(separator=" ")) for each in node.iter(include_text=True)]
        source = "".join("\x00" if is_break else f" {words} " for is_break, words in parts)
        lines = [tidy_value(line) for line in source.split("\x00")]
    if PAIR_BORDER.search(text):
        lines = [part.strip() for line in lines for part in PAIR_BORDER.split(line)]
    return lines


def _read_element(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield what an element means by its tag: a heading, a link, a picture, a date, a price."""
    tag, attributes = node.tag, node.attributes
    if tag in ("h1", "h2", "h3", "h4") and text:
        weight = 0.85 if tag == "h1" else 0.6
        yield OfferedValue(("title",), text, "element", f"{lead}{tag} {text[:60]!r}", weight)
    elif tag == "time" and (when := tidy_value(attributes.get("datetime") or text)):
        yield OfferedValue(("date",), when, "element", f"{lead}time element", 0.65)
    elif tag == "a" and (address := attributes.get("href")) and address[:1] != "#":
        yield OfferedValue(("url",), address, "element", f"{lead}link {text[:60]!r}", 0.5)
        if text:
            yield OfferedValue(("title",), text, "element", f"{lead}link {text[:60]!r}", 0.45)
    elif tag == "img" and (address := attributes.get("src")) and address[:5] != "data:":
        yield OfferedValue(("image",), address, "element", f"{lead}image", 0.5)
    elif len(text) <= MAX_LABEL_CHARS and (price := PRICE.search(text)) and node.child.next is None:
        label = "old price" if tag in STRUCK_TAGS else "price"
        yield OfferedValue((label,), price[0], "element", f"{lead}text {text!r}", 0.55)


def _read_classes(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the text of a small element under the names of its classes and its id."""
    max_names = 4
    attributes = node.attributes
    names = (attributes.get("class") or "").split()[:max_names] if attributes else []
    if not names or node.tag in ("body", "html", "table", "ul", "ol"):
        return
    if text and len(text) <= MAX_CELL_CHARS and not _has_named_parts(node):
        for name in names:
            words = " ".join(filter(None, CLASS_BORDER.split(name))) + " old" * (node.tag in STRUCK_TAGS)
            weight = 0.72 if len(text) <= 120 else 0.5
            yield OfferedValue((words,), text, "class", f"{lead}class {name!r}", weight)
            if "__" in name:  # BEM: card__price
                part = name.rpartition("__")[2] + " old" * (node.tag in STRUCK_TAGS)
                yield OfferedValue((part,), text, "class", f"{lead}class {name!r}", weight)


def _has_named_parts(node: Any) -> bool:
    """Return whether two parts of an element have classes, so that its text is several values."""
    max_parts, max_wrappers = 20, 3
    part, named = node.first_child, 0
    for _ in range(max_wrappers):
        if part is not None and part.is_element_node and part.next is None:  # it only wraps the parts
            part = part.first_child
    for _ in range(max_parts):
        if part is None or named > 1:
            break
        named += part.is_element_node and bool(part.attributes.get("class")) and bool(part.text(strip=True))
        part = part.next
    return named > 1
