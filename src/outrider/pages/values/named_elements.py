"""Collect the values that elements show without a label: by their tag, or by the name of their class."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from outrider.pages.values.labels import KIND_WORDS, compare_labels
from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value
from outrider.pages.values.phrases import (
    BLOCK_TAGS,
    CLASS_BORDER,
    HEADING_TAGS,
    MAX_LABEL_CHARS,
    PRICE,
    STRUCK_TAGS,
    is_struck,
    read_prices,
)

PAIR = re.compile(r"([^:\uff1a.!?]{1,40}(?:\.[^:\uff1a.!?]{0,20})?)(?:\s*:\s+|\s*\uff1a\s*)(\S.{0,300})")
BYLINE = re.compile(r"[^\W\d_]+ed by (?=\w)", re.IGNORECASE)
HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
SKIPPED_TAGS = frozenset({"script", "style", "template", "noscript", "svg", "nav", "select", "option"})
SHARING_ADDRESS = re.compile(r"(?:https?:)?//[^?]+\?(?:.*&)?(?:url|u|link)=https?(?::|%3A)", re.IGNORECASE)
LARGE_TAGS = frozenset({"body", "html", "table", "ul", "ol", "tr", "section", "nav", "form", "article"})
MAX_CELL_CHARS = 500


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
    tag, attributes = node.tag, node.attributes
    if tag in ("h1", "h2", "h3", "h4") and text:
        weight = 0.85 if tag == "h1" else 0.6
        yield OfferedValue(("title",), text, "element", f"{lead}{tag} {text[:60]!r}", weight)
    elif tag == "time" and (timestamp := tidy_value(attributes.get("datetime") or text)):
        yield OfferedValue(("date",), timestamp, "time", f"{lead}time element", 0.65)
    elif tag == "a" and (address := attributes.get("href")) and address[:1] != "#":
        if "author" in (attributes.get("rel") or "").split() and text:
            yield OfferedValue(("author",), text, "element", f"{lead}link rel=author", 0.8)
        picture = node.css_first("img[alt]") if not text else None
        text = text or (tidy_value(picture.attributes.get("alt")) if picture is not None else "")
        is_card = len(node.css("div, p, h2, h3, h4")[:2]) > 1  # with several values
        yield from _read_link(address, "" if is_card else text, lead, context)
    elif tag == "img" and (address := attributes.get("src")) and address[:5] != "data:":
        yield OfferedValue(("image",), address, "element", f"{lead}image", 0.5)
    elif len(text) <= MAX_LABEL_CHARS and PRICE.search(text) and (node.child.next is None or tag in STRUCK_TAGS):
        yield from read_prices(node, text, lead)


def read_spoken_label(attributes: dict[str, str | None], text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield an element's text under the label of its tooltip, as in `<b title="Level: Easy">Easy</b>`."""
    given = attributes.get("title") or attributes.get("aria-label") or ""
    if text and ":" in given and (pair := PAIR.fullmatch(tidy_value(given))) and pair[2] == text:
        yield OfferedValue((pair[1],), text, "pair", f"{lead}title {given[:60]!r}", 0.8)


def _read_link(address: str, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the address of a link, under its text and under its kind."""
    min_phone_digits = 5
    place = f"{lead}link {text[:60]!r}"
    kind = {"mailto": "email", "tel": "phone"}.get(address.partition(":")[0])
    if kind:
        link_text = unquote(address.partition(":")[2].partition("?")[0]).strip()
        if kind == "phone" and sum(map(str.isdigit, text)) >= min_phone_digits:
            link_text = re.sub(r"^[^+(\d]+", "", text)  # after "Call"
        yield OfferedValue((kind,), link_text, "link to " + kind, place, 0.6, context)
        return
    if not SHARING_ADDRESS.match(address):
        yield OfferedValue(("url",), address, "element", place, 0.5 if text else 0.42)
    if text:
        if re.search(r"[^\W\d_]", text):
            yield OfferedValue(("title",), text, "element", place, 0.45)
        if len(text) <= MAX_LABEL_CHARS:
            yield OfferedValue((text,), address, "link", place, 0.7, context, link=address)


def read_classes(node: Any, text: str, texts: TextReader, lead: str) -> Iterator[OfferedValue]:
    """Yield a small element's text under its classes and its id."""
    max_names = 4
    attributes = node.attributes
    names = (attributes.get("class") or "").split()[:max_names] if attributes else []
    is_large = len(text) > MAX_LABEL_CHARS or node.tag not in ("section", "article")
    if not names or (is_large and node.tag in LARGE_TAGS):
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
        is_old = PRICE.search(text) is not None and is_struck(node)
        around = list_classes_around(node)
        for name in names:
            for words in _list_class_words(name, around):
                label = words + " old" * (is_old and "old" not in words.lower().split())
                yield replace(offer, labels=(label,), place=f"{lead}class {name!r}")


def list_classes_around(node: Any) -> set[str]:
    """Return the classes of the elements around one, without the parts that `__` begins."""
    max_levels = 6
    around: set[str] = set()
    above = node.parent
    for _ in range(max_levels):
        attributes = above.attributes if above is not None else None
        if attributes is None:
            break
        if names := attributes.get("class"):
            around.update(each.split("__")[0] for each in names.split())
        above = above.parent
    return around


def _list_class_words(name: str, around: set[str]) -> list[str]:
    """Return a class's words without its block's name.

    For instance without `card` in `card-price`.
    """
    words = [word for word in CLASS_BORDER.split(name) if word]
    block = max((len(each) for each in around if name.startswith((f"{each}-", f"{each}_"))), default=0)
    rest = [word for word in CLASS_BORDER.split(name[block:]) if word] if block else words
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
