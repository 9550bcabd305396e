"""Collect the values that a page shows with a label: tables, definition lists, labelled pairs, named elements."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from outrider.pages.values.itemized import read_named_list, read_section_items
from outrider.pages.values.moments import read_moment
from outrider.pages.values.named_elements import (
    PAIR,
    SKIPPED_TAGS,
    is_hidden,
    read_classes,
    read_element,
    read_spoken_label,
)
from outrider.pages.values.offered_value import ELEMENT_BORDER, OfferedValue, TextReader, tidy_value
from outrider.pages.values.phrases import (
    BLOCK_TAGS,
    CLASS_BORDER,
    HEADING_TAGS,
    MAX_LABEL_CHARS,
    PRICE,
    find_next_element,
    is_label,
    read_byline,
    read_count,
    read_date,
    read_price_range,
    read_role,
)

PAIR_BORDER = re.compile(r"\s[\u00b7\u2022\u30fb|]\s(?=[^:\uff1a\u00b7\u2022\u30fb|]{1,40}[:\uff1a]\s)")
# After a word or a number; a name like "Ana P." keeps its dot.
VALUE_END = re.compile(r"(?<=[^\W_]{3})\.(?:\s+(?=[^\W\d_])|$)")
SENTENCE_BORDER = re.compile(r"\.\s+(?=[^:\uff1a.]{1,40}[:\uff1a]\s)")
PAIR_TAGS = frozenset({"p", "li", "div", "span", "td", "dd", "font", "center"})


def remove_marks(tree: Any) -> None:
    """Remove hidden parts and footnote marks from a page.

    Otherwise they would become part of values.
    """
    max_hidden = 5_000
    for node in tree.css(", ".join(f'{tag} a[href^="#"]' for tag in ("h1", "h2", "h3", "h4", "h5", "h6", "dt"))):
        if not re.search(r"\w", node.text()):  # a link to the heading itself
            node.decompose()
    # Inner ones first, because removing an element also removes its content.
    for node in reversed(tree.css("[hidden], [style]")[:max_hidden]):
        if node.tag not in ("html", "body") and is_hidden(node, 1) and node.css_first("script") is None:
            node.decompose()
    max_mark_chars, max_marks = 4, 5_000
    powered_units = frozenset({"m", "km", "cm", "mm", "dm", "ft", "s", "in", "mi"})
    ordinals = frozenset({"st", "nd", "rd", "th", "er", "e", "o", "a", "tm", "\u00ae", "\u2122"})
    for node in reversed(tree.css("sup")[:max_marks]):
        mark = node.text(strip=True)
        before = (node.prev.text() if node.prev is not None else "").rstrip()
        is_power = before[-1:].isdigit() or before.rpartition(" ")[2].lower() in powered_units
        is_link = node.css_first('a[href^="#"]') is not None
        if len(mark) <= max_mark_chars and (
            is_link or (not is_power and mark[:1] not in "-\u2212" and mark not in ordinals)
        ):
            node.decompose()


@dataclass
class ShownReader:
    """Read the labelled values that an element shows, with the headings above them.

    Attributes:
        texts: Reads the elements' texts.
        lead: The beginning of each place.
        heading, section: The last heading, and the last row of a table that is one.
        counts: Tables and definition lists so far.
    """

    texts: TextReader
    lead: str = ""
    heading: str = ""
    section: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    def read(self, scope: Any) -> Iterator[OfferedValue]:
        """Yield the values in the order of the page."""
        max_nodes = 20_000
        around = _list_ids(scope, 'body > header, body > footer, [role="banner"], [role="contentinfo"]')
        hidden = [each for each in scope.css("[hidden], [style]") if is_hidden(each, 1)]
        skipped = list_menu_ids(scope) | {node.mem_id for each in hidden for node in each.css("*")}
        main = find_priced_part(scope)
        for node in [] if is_hidden(scope) else scope.css("*")[:max_nodes]:
            if self.texts.chars_left <= 0:
                return
            if node.tag in SKIPPED_TAGS or node.mem_id in skipped:
                continue
            text = self.texts.read(node)
            offers = chain(filter(None, self._read_labelled(node, text)), read_date(node, text, self.lead))
            attributes = node.attributes
            address = attributes.get("href") or ""
            # A site's header and footer name their own dates and prices.
            if node.mem_id not in around or node.tag == "h1" or address.startswith(("tel:", "mailto:")):
                offers = chain(
                    offers,
                    read_element(node, text, self.lead, self.heading),
                    read_price_range(node, text, self.lead),
                    read_count(node, text, self.lead, self.heading),
                    read_role(node, text, self.lead),
                    read_moment(node, text, self.lead, self.heading),
                    read_byline(node, text, self.lead),
                    read_spoken_label(attributes, text, self.lead),
                    read_classes(node, text, self.texts, self.lead),
                    read_named_list(node, self.texts, self.lead),
                )
            for offer in offers:
                is_price = offer.source == "price" or (offer.source == "class" and "price" in offer.labels[-1].lower())
                if is_price and node.mem_id in main:
                    yield replace(offer, weight=1.05 * offer.weight)
                elif offer.source != "price" or not main:
                    yield offer

    def _read_labelled(self, node: Any, text: str) -> Iterator[OfferedValue | None]:
        """Yield the values that have a label.

        A label may be in a row, a term, a heading, a line or two elements.
        """
        tag = node.tag
        if tag in ("table", "dl"):
            self.counts[tag], self.section = self.counts.get(tag, 0) + 1, ""
        elif tag == "tr":
            cells = [cell for cell in node.iter() if cell.tag in ("th", "td")]
            self.section = text[:MAX_LABEL_CHARS] if len(cells) == 1 else self.section
            place = f"{self.lead}table {self.counts.get('table', 1)}"
            yield from _read_row(cells, self.texts, place, self.section or self.heading)
        elif tag == "dt":
            place = f"{self.lead}definition list {self.counts.get('dl', 1)}"
            yield from _read_term(node, self.texts, place, self.heading)
        elif tag in HEADING_TAGS or tag == "summary":
            if tag != "summary":
                self.heading, self.section = text[:MAX_LABEL_CHARS], ""
            place = f"{self.lead}under {text[:60]!r}"
            yield from chain(_read_section(node, self.texts, place), read_section_items(node, text, self.texts, place))
        elif tag in PAIR_TAGS:
            following = find_next_element(node) if tag == "p" and text[-1:] not in ".!?" else None
            if following is not None and following.tag in ("ul", "ol"):
                yield from _read_section(node, self.texts, f"{self.lead}under {text[:60]!r}")
            yield from _read_lines(node, text, self.lead, self.heading)
            yield from _read_pair(node, text, self.texts, self.lead, self.heading)


def list_menu_ids(scope: Any) -> set[int]:
    """Return the ids of everything in menus."""
    return _list_ids(scope, 'nav, [role="navigation"], [role="menu"]')


def is_menu(nodes: list[Any], menus: set[int]) -> bool:
    """Return whether elements are entries of a menu, by where they are or by their class, with nothing beside links."""
    menu_words = {"menu", "submenu", "megamenu", "nav", "navbar", "navigation", "breadcrumb", "dropdown", "pagination"}
    if nodes[0].mem_id in menus:
        return True
    words = CLASS_BORDER.split(f"{nodes[0].attributes.get('class') or ''}".lower())
    if menu_words.isdisjoint(word.removesuffix("s") for word in words):
        return False
    sample = nodes[:10]
    linked = sum(len(link.text(strip=True)) for node in sample for link in (node, *node.css("a")) if link.tag == "a")
    return linked >= 0.9 * sum(len(node.text(strip=True)) for node in sample)


def _list_ids(scope: Any, selector: str) -> set[int]:
    """Return the ids of everything in the elements that match a selector."""
    return {node.mem_id for part in scope.css(selector) for node in part.css("*")}


def find_priced_part(scope: Any) -> set[int]:
    """Return the ids in the smallest part with heading and price.

    Everything in it belongs to one product.
    """
    max_levels = 6
    part = scope.css_first("h1")
    for _ in range(max_levels):
        part = part.parent if part is not None else None
        if part is not None and PRICE.search(part.text()):
            return {node.mem_id for node in part.css("*")}
    return set()


def _read_row(cells: list[Any], texts: TextReader, place: str, context: str) -> Iterator[OfferedValue | None]:
    """Yield the values of a row that alternates labels and values."""
    kinds = [(cell.tag, cell.attributes.get("class")) for cell in cells]
    is_repeated = len(cells) in (4, 6, 8) and kinds[::2] == kinds[:1] * (len(cells) // 2) and kinds[0] != kinds[1]
    is_repeated |= len(cells) == 4 and any(map(str.isdigit, "".join(texts.read(cell) for cell in cells[1::2])))
    if not (is_repeated or len(cells) == 2) or any(cell.tag == "th" for cell in cells[1::2]):
        return
    for name, value in zip(cells[::2], cells[1::2], strict=True):
        label = texts.read(name).rstrip(" :\uff1a")
        if label and len(label) <= MAX_LABEL_CHARS:
            weight = 0.93 if name.tag == "th" else 0.88
            yield texts.offer(value, (label,), "table", f"{place}, row {label!r}", weight, context=context)


def _read_term(term: Any, texts: TextReader, place: str, context: str) -> Iterator[OfferedValue | None]:
    label, detail = texts.read(term).rstrip(" :\uff1a"), term.next
    details = []
    while detail is not None and detail.tag != "dt":
        details += [detail] if detail.tag == "dd" else []
        detail = detail.next
    for each in details if label and len(label) <= MAX_LABEL_CHARS else ():
        yield texts.offer(each, (label,), "definition list", f"{place}, {label!r}", 0.93, context=context)


def _read_section(heading: Any, texts: TextReader, place: str) -> Iterator[OfferedValue | None]:
    """Yield the list under a heading, or the only paragraph before the next one."""
    label, part = texts.read(heading).rstrip(" :\uff1a"), find_next_element(heading)
    if part is None or not label or len(label) > MAX_LABEL_CHARS:
        return
    after = find_next_element(part)
    if part.tag in ("ul", "ol"):
        offer = texts.offer(part, (label,), "heading", place, 0.8)
        if offer and len(items := tuple(texts.read(each) for each in part.css("li")[:100])) > 1:
            yield replace(offer, parts=items)
    elif part.tag == "p" and (after is None or after.tag in HEADING_TAGS):
        yield texts.offer(part, (label,), "heading", place, 0.7)


def _read_lines(node: Any, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the values of lines like `Price: 12`."""
    max_line_chars = 360
    children = [*node.iter()]
    has_breaks = any(child.tag == "br" for child in children)  # then there are lines beside the parts
    if (
        not text
        or not re.search("[:\uff1a]", text)
        or (
            any(child.tag in PAIR_TAGS - {"span", "font"} and ":" in child.text() for child in children)
            and not has_breaks
        )
    ):
        return  # the pair is further inside
    if sum(child.tag == "span" and PAIR.fullmatch(tidy_value(child.text())) is not None for child in children) > 1:
        return  # each of them is a pair
    for line in _split_lines(node, text):
        if len(line) <= max_line_chars and (match := PAIR.fullmatch(line)):
            label, value = match[1].strip(" -\u2013*"), VALUE_END.split(match[2].strip(" \u2022\u00b7|"), maxsplit=1)[0]
            yield OfferedValue((label,), value, "pair", f"{lead}line {line[:80]!r}", 0.85, context)


def _read_pair(node: Any, text: str, texts: TextReader, lead: str, context: str) -> Iterator[OfferedValue | None]:
    """Yield a label's value, each in an element or one of them as text."""
    max_pair_chars = 360
    parts = [each for each in node.iter(include_text=True) if each.tag not in ("br", "wbr") and texts.read(each)][:3]
    if len(parts) != 2 or len(text) > max_pair_chars:
        return
    value_text = texts.read(parts[1])
    label_text, min_sentence_words = texts.read(parts[0]), 5
    is_sentence = value_text[:1].islower() or (label_text[-1:] == "." and len(value_text.split()) >= min_sentence_words)
    if text[-1:] == "." and is_sentence and label_text[-1:] not in (":", "\uff1a"):
        return  # sentences with marked words
    place = f"{lead}line {text[:80]!r}"
    for name, value, weight in ((parts[0], parts[1], 0.7), (parts[1], parts[0], 0.6)):
        label = texts.read(name).strip(" :\uff1a\u2013-")
        has_pairs = value.is_element_node and len(value.css("label, dt, th")) > 1
        if has_pairs or name.css_first("li") is not None:
            continue
        if label and len(label) <= MAX_LABEL_CHARS and not PAIR.fullmatch(label):
            yield texts.offer(value, (label,), "pair", place, weight, context=context)


def _split_lines(node: Any, text: str) -> list[str]:
    """Return the lines of an element's text, which breaks end, or dots and bars between pairs.

    Each of several labels begins a line, too.
    """
    lines, children = [text], list(node.iter(include_text=True))
    labels = {child.mem_id for child in children if is_label(child)}
    if len(labels) > 1 or node.css_first("br") is not None:
        source = ""
        for child in children:
            is_break = child.tag == "br" or child.tag in BLOCK_TAGS or (len(labels) > 1 and child.mem_id in labels)
            source += "\x00" if is_break else ELEMENT_BORDER
            source += "" if child.tag in BLOCK_TAGS else child.text(separator=ELEMENT_BORDER)
        lines = [tidy_value(line) for line in source.split("\x00")]
    for border in (PAIR_BORDER, SENTENCE_BORDER):
        lines = [part.strip() for line in lines for part in border.split(line)]
    return lines


def read_body(row: Any, texts: TextReader, place: str) -> list[OfferedValue]:
    """Return the paragraphs that belong together and are the most of a row, as in a post."""
    min_body_chars, max_paragraphs = 60, 100
    bodies: dict[int, list[str]] = {}
    for paragraph in row.css("p")[:max_paragraphs]:
        if paragraph.parent is not None and (text := texts.read(paragraph)):
            bodies.setdefault(paragraph.parent.mem_id, []).append(text)
    body = " ".join(max(bodies.values(), key=lambda each: sum(map(len, each)), default=[]))
    labels = ("text", "content") if len(body) >= min_body_chars else ()
    return [OfferedValue((label,), body, "element", f"{place}, paragraphs", 0.65) for label in labels]
