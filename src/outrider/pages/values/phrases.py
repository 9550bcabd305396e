"""Read the values that short texts hold by their own words: prices, counts, ratings, dates and people."""

import re
from collections.abc import Iterator
from typing import Any

from outrider.pages.extraction.metadata.dates import match_dates
from outrider.pages.values.labels import split_range
from outrider.pages.values.offered_value import ELEMENT_BORDER, OfferedValue, tidy_value

CURRENCY = r"(?:[$\u20ac\u00a3\u00a5\u20b9]|(?:USD|EUR|GBP|CHF)\b)"
PRICE = re.compile(rf"{CURRENCY}\s?\d[\d.,]*|\d[\d.,]*\s?{CURRENCY}")
COUNTED_WORD = re.compile(r"(\d[\d.,]*)\s+([^\W\d_]{3,20})")  # 1,243 reviews
# A person's name in words with capitals, of two or more.
PERSON = r"[^\W\d_a-z][\w.'\u2019-]*(?: [\w.'\u2019-]+){0,3} [^\W\d_a-z][\w'\u2019-]+"
NAMED_ROLE = re.compile(rf"({PERSON})\s*\(([^()]{{3,60}})\)")
NO_ROLE = re.compile(r"[\d@.!?$\u20ac\u00a3]")
# The words right before a sum.
PRICE_LEAD = re.compile(
    r"\b(?:(?P<old>was|were|before|regular|list|old|original|rrp|msrp|uvp|statt)"
    r"|(?P<new>now|sale|special|current|our|jetzt|nur)|(?P<saving>saved?|savings?|discount|rabatt))(?: price)?[\s:]*$",
    re.IGNORECASE,
)
# The words right after a sum that make it a saving or a rate.
NO_PRICE_END = re.compile(
    r"\s?(?:/|(?:per|a|pro|par|off|less|savings?|discount|rabatt)\b|monthly|weekly|yearly|annually)", re.IGNORECASE
)
DATED = re.compile(
    r"((?:last |first )?(?:updated|modified|reviewed|published|posted|revised))(?: on| at)?:?\s+"
    r"([^:.!?]{0,15}\d[^()]{0,30})(?: \(\w+\))?",
    re.IGNORECASE,
)
WRITTEN_BY = re.compile(rf"(?:[Bb]y|BY|[Vv]on|[Pp]ar|[Pp]or|[Dd]i)\s+({PERSON})")
HEADING_TAGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
BLOCK_TAGS = HEADING_TAGS | {"p", "div", "ul", "ol", "table", "dl", "li", "dd", "td", "h1"}
LABEL_TAGS = frozenset({"strong", "b", "label", "em"})
STRUCK_TAGS = frozenset({"s", "del", "strike"})
CLASS_BORDER = re.compile(r"__|--|[\s_-]+")
MAX_LABEL_CHARS = 60


def read_prices(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the sums in a short text as prices: those after words like "was" as old ones, and no savings."""
    max_other_chars = 8
    is_old, start = is_struck(node), 0
    is_sentence = len(PRICE.sub("", text)) > max_other_chars and node.tag not in STRUCK_TAGS
    for price in PRICE.finditer(text):
        named, start = PRICE_LEAD.search(text[start : price.start()]), price.end()
        if NO_PRICE_END.match(text, start) or (named and named["saving"]) or (is_sentence and not named):
            continue
        label = "old price" if is_old or (named and named["old"]) else "price"
        weight = 0.6 if named or node.tag == "ins" else 0.55
        yield OfferedValue((label,), price[0], "price", f"{lead}text {text!r}", weight)


def is_struck(node: Any) -> bool:
    """Return whether an element with one price is struck out, or named as the old price."""
    max_levels, max_chars = 4, 40
    old_classes = ("old", "was", "strike", "strikethrough", "striked", "crossed", "rrp", "msrp")
    for _ in range(max_levels):
        if node is None or node.attributes is None or len(tidy_value(node.text())) > max_chars:
            return False
        words = CLASS_BORDER.split((node.attributes.get("class") or "").lower())
        if node.tag in STRUCK_TAGS or any(word in old_classes for word in words):
            return True
        node = node.parent
    return False


def read_price_range(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield a row's only range of money as a price, and as a salary if high."""
    if lead and split_range(text) and PRICE.search(text) and is_one_line(node):
        is_high = re.search(r"\d\d[.,\u202f\u00a0 ]\d{3}|\d\dk\b", text, re.IGNORECASE)
        for label in ("price", *(["salary"] if is_high else [])):
            yield OfferedValue((label,), text, "price", f"{lead}text {text!r}", 0.55)


def read_count(node: Any, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield what an element counts or rates, as in `1,243 reviews` and `4.5 out of 5 stars`."""
    periods = {f"{word}{end}" for word in ("day", "week", "month", "year", "hour") for end in ("", "s")}
    max_chars = 80
    opinions = r"(?<![\d.,])(\d[\d.,]*) (?:\w+ )?(?:reviews|ratings|bewertungen|avis|opiniones)\b"
    rated = r"(?<![\d.,])(?:(\d(?:[.,]\d{1,2})?)\s?(?:out of|von|sur|de|su)|(\d[.,]\d{1,2})\s?/)\s?5\b"
    text = text or tidy_value(node.attributes.get("aria-label"))
    if len(text) > max_chars or not is_innermost(node):
        return
    place = f"{lead}text {text!r}"
    if (count := COUNTED_WORD.fullmatch(text)) and count[2].lower() not in periods:
        yield OfferedValue((count[2],), count[1], "pair", place, 0.6, context)
    elif minutes := re.fullmatch(r"(\d{1,3})[ -]?min(?:ute)?s?[ -]read(?:ing time)?", text, re.IGNORECASE):
        yield OfferedValue(("reading time",), f"{minutes[1]} min", "pair", place, 0.6)
    elif count := re.search(opinions, text, re.IGNORECASE):
        yield OfferedValue(("reviews",), count[1], "pair", place, 0.6, context)
    if rating := re.search(rated, text, re.IGNORECASE):
        yield OfferedValue(("rating",), rating[1] or rating[2], "pair", place, 0.6, context)


def read_date(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the date of a line such as `Last updated on 3 May 2026`, or that is nothing but a date."""
    max_date_chars = 30
    if len(text) > MAX_LABEL_CHARS or not re.search(r"\d{4}", text):
        return
    if (match := DATED.fullmatch(text.rstrip("."))) and is_one_line(node):
        yield OfferedValue((match[1],), match[2], "pair", f"{lead}text {text!r}", 0.7)
    elif len(text) <= max_date_chars and is_innermost(node):
        found = match_dates(text, "en")
        if len(found) == 1 and (found[0][0], found[0][1]) == (0, len(text)):
            yield OfferedValue(("date",), text, "time", f"{lead}text {text!r}", 0.5)


def read_byline(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the author of a line such as `By Ada Berg`."""
    if len(text) <= MAX_LABEL_CHARS and (match := WRITTEN_BY.fullmatch(text)) and is_one_line(node):
        yield OfferedValue(("author",), match[1], "pair", f"{lead}text {text!r}", 0.6)


def is_one_line(node: Any) -> bool:
    """Return whether an element has no lines inside, whose texts would be run together."""
    return all(each.mem_id == node.mem_id for each in node.css("p, div, li")[:2])


def is_label(node: Any) -> bool:
    """Return whether an element is marked text that a colon ends."""
    if node.tag not in LABEL_TAGS:
        return False
    after = node.next.text() if node.next is not None and node.next.is_text_node else ""
    return node.text().rstrip()[-1:] in (":", "\uff1a") or after.lstrip()[:1] in (":", "\uff1a")


def is_innermost(node: Any) -> bool:
    """Return whether an element has at most one child, so that its text is one."""
    return node.child is None or node.child.next is None


def read_role(node: Any, text: str, lead: str) -> Iterator[OfferedValue]:
    """Yield the name and the role of a person in a row: `Ada Berg (Chair)`, or a name as heading of a short line."""
    max_role_words = 6
    if not lead or node.tag not in ("li", "p", "dd", "td", "h2", "h3", "h4", "h5"):
        return
    name, role = text, ""
    if named := NAMED_ROLE.fullmatch(text):
        name, role = named.groups()
    elif node.tag in HEADING_TAGS and (line := find_next_element(node)) is not None:
        role = tidy_value(line.text(separator=ELEMENT_BORDER))
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
