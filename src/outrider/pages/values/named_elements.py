"""Collect the values that elements show without a label: by their tag, or by the name of their class."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from outrider.pages.values.labels import KIND_WORDS, compare_labels, split_range
from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value

PAIR = re.compile(r"([^:\uff1a.!?]{1,40}(?:\.[^:\uff1a.!?]{0,20})?)(?:\s*:\s+|\s*\uff1a\s*)(\S.{0,300})")
BYLINE = re.compile(r"[^\W\d_]+ed by (?=\w)", re.IGNORECASE)
CURRENCY = r"(?:[$\u20ac\u00a3\u00a5\u20b9]|(?:USD|EUR|GBP|CHF)\b)"
PRICE = re.compile(rf"{CURRENCY}\s?\d[\d.,]*|\d[\d.,]*\s?{CURRENCY}")
COUNTED_WORD = re.compile(r"(\d[\d.,]*)\s+([^\W\d_]{3,20})")  # 1,243 reviews
# A person's name in words with capitals, of two or more.
PERSON = r"[^\W\d_a-z][\w.'\u2019-]*(?: [\w.'\u2019-]+){0,3} [^\W\d_a-z][\w'\u2019-]+"
NAMED_ROLE = re.compile(rf"({PERSON})\s*\(([^()]{{3,60}})\)")
NO_ROLE = re.compile(r"[\d@.!?$\u20ac\u00a3]")
PERIOD_PRICE = re.compile(r"\s?(?:/|(?:per|a|pro|par)\b|monthly|weekly|yearly|annually)", re.IGNORECASE)
HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
SKIPPED_TAGS = frozenset({"script", "style", "template", "noscript", "svg", "nav", "select", "option"})
HEADING_TAGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
BLOCK_TAGS = HEADING_TAGS | {"p", "div", "ul", "ol", "table", "dl", "li", "dd", "td", "h1"}
STRUCK_TAGS = frozenset({"s", "del", "strike"})
CLASS_BORDER = re.compile(r"__|--|[\s_-]+")
MAX_LABEL_CHARS, MAX_CELL_CHARS = 60, 500


def is_hidden(node: Any, max_levels: int = 12) -> bool:
    """Return whether an element or one of those around it is hidden."""
    for _ in range(max_levels):
        if node is None:
            return False
        attributes = node.attributes
        if attributes and ("hidden" in attributes or HIDING_STYLE.search(attributes.get("style") or "")):
            return True
        node = node.parent
    return False


def read_element(node: Any, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the values that an element has by its tag: a heading, a link, a picture, a date, a price."""
    max_other_chars = 8
    tag, attributes = node.tag, node.attributes
    if tag in ("h1", "h2", "h3", "h4") and text:
        weight = 0.85 if tag == "h1" else 0.6
        yield OfferedValue(("title",), text, "element", f"{lead}{tag} {text[:60]!r}", weight)
    elif tag == "time" and (timestamp := tidy_value(attributes.get("datetime") or text)):
        yield OfferedValue(("date",), timestamp, "time", f"{lead}time element", 0.65)
    elif tag == "a" and (address := attributes.get("href")) and address[:1] != "#":
        if "author" in (attributes.get("rel") or "").split() and text:
            yield OfferedValue(("author",), text, "element", f"{lead}link rel=author", 0.8)
        yield from _read_link(address, text, lead, context)
    elif tag == "img" and (address := attributes.get("src")) and address[:5] != "data:":
        yield OfferedValue(("image",), address, "element", f"{lead}image", 0.5)
    elif (
        len(text) <= MAX_LABEL_CHARS
        and (price := PRICE.search(text))
        and (node.child.next is None or tag in STRUCK_TAGS)
    ):
        is_sentence = len(text) - len(price[0]) > max_other_chars and tag not in STRUCK_TAGS
        label = "old price" if tag in STRUCK_TAGS else "price" if not PERIOD_PRICE.match(text, price.end()) else ""
        if label and not is_sentence:
            yield OfferedValue((label,), price[0], "price", f"{lead}text {text!r}", 0.6 if tag == "ins" else 0.55)


def read_price_range(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield a row's only range of money as a price, and as a salary if high."""
    is_alone = node.css_first("p, div, li") in (None, node)
    if lead and split_range(text) and PRICE.search(text) and is_alone:
        is_high = re.search(r"\d\d[.,\u202f\u00a0 ]\d{3}|\d\dk\b", text, re.IGNORECASE)
        for label in ("price", *(["salary"] if is_high else [])):
            yield OfferedValue((label,), text, "price", f"{lead}text {text!r}", 0.55)


def read_count(node: Any, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the number of an element that counts something, as in `1,243 reviews`."""
    periods = {f"{word}{end}" for word in ("day", "week", "month", "year", "hour") for end in ("", "s")}
    if (count := COUNTED_WORD.fullmatch(text)) and node.child.next is None and count[2].lower() not in periods:
        yield OfferedValue((count[2],), count[1], "pair", f"{lead}text {text!r}", 0.6, context)


def read_role(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the name and the role of a person in a row: `Ada Berg (Chair)`, or a name as heading of a short line."""
    max_role_words = 6
    if not lead or node.tag not in ("li", "p", "dd", "td", "h2", "h3", "h4", "h5"):
        return
    name, role = text, ""
    if named := NAMED_ROLE.fullmatch(text):
        name, role = named.groups()
    elif node.tag in HEADING_TAGS and (line := find_next_element(node)) is not None:
        role = tidy_value(line.text(separator=" "))
    if not re.fullmatch(PERSON, name) or not 0 < len(role.split()) <= max_role_words or NO_ROLE.search(role):
        return
    if named:
        yield OfferedValue(("name",), name, "pair", f"{lead}text {text[:60]!r}", 0.7)
    yield OfferedValue(("role",), role, "pair", f"{lead}text {role[:60]!r}", 0.6)


def find_next_element(node: Any) -> Any:
    """Return the element after another one, or None."""
    following = node.next
    while following is not None and not following.is_element_node:
        following = following.next
    return following


def _read_link(address: str, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the address of a link, under its text and under its kind."""
    place = f"{lead}link {text[:60]!r}"
    kind = {"mailto": "email", "tel": "phone"}.get(address.partition(":")[0])
    if kind:
        link_text = text if kind == "phone" else unquote(address.partition(":")[2].partition("?")[0]).strip()
        yield OfferedValue((kind,), link_text, "link to " + kind, place, 0.6, context)
        return
    yield OfferedValue(("url",), address, "element", place, 0.5 if text else 0.42)
    if text:
        yield OfferedValue(("title",), text, "element", place, 0.45)
        if len(text) <= MAX_LABEL_CHARS:
            yield OfferedValue((text,), address, "link", place, 0.7, context, link=address)


def read_classes(node: Any, text: str, texts: TextReader, lead: str) -> Iterator[OfferedValue]:
    """Yield a small element's text under its classes and its id."""
    max_names = 4
    attributes = node.attributes
    names = (attributes.get("class") or "").split()[:max_names] if attributes else []
    if not names or node.tag in ("body", "html", "table", "ul", "ol", "tr", "section", "nav", "form", "article"):
        return
    if (
        len(text) <= MAX_CELL_CHARS
        and not _has_named_parts(node)
        and len(node.css("p, div, li, dd, td, h2, h3")) < 2 + (node.tag in BLOCK_TAGS)
    ):
        offer = texts.offer(node, ("",), "class", "", 0.72 if len(text) <= 120 else 0.5)
        if offer is None:
            return
        if (pair := PAIR.fullmatch(offer.text)) and any(compare_labels(name, pair[1]) for name in names):
            offer = replace(offer, text=pair[2])
        elif (byline := BYLINE.match(offer.text)) and node.tag not in HEADING_TAGS:
            offer = replace(offer, text=offer.text[byline.end() :])
        for name in names:
            for words in _list_class_words(node, name):
                label = words + " old" * (node.tag in STRUCK_TAGS)
                yield replace(offer, labels=(label,), place=f"{lead}class {name!r}")


def _list_class_words(node: Any, name: str) -> list[str]:
    """Return a class's words without its block's name.

    For instance without `card` in `card-price`.
    """
    max_levels = 3
    words = [word for word in CLASS_BORDER.split(name) if word]
    around: set[str] = set()
    above = node.parent
    for _ in range(max_levels):
        if above is None or above.attributes is None:
            break
        around.update(each.split("__")[0] for each in (above.attributes.get("class") or "").split())
        above = above.parent
    rest = words[1:] if len(words) > 1 and words[0] in around else words
    if "__" in name:
        rest = [word for word in CLASS_BORDER.split(name.rpartition("__")[2]) if word] or rest
    is_general = {*map(str.lower, rest)} <= KIND_WORDS
    return list(dict.fromkeys([" ".join(rest), *([" ".join(words)] if is_general else [])]))


def _has_named_parts(node: Any) -> bool:
    """Return whether two parts of an element have classes.

    The text of such an element is several values.
    """
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
