"""Choose values for a schema's fields from a page's offers.

Each value comes with its place.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain
from typing import Any
from urllib.parse import unquote

from outrider.pages.document import Document
from outrider.pages.values.convert import NO_VALUES, convert_value
from outrider.pages.values.declared import describe_json_ld, flatten_json, read_json_ld, read_meta, read_microdata
from outrider.pages.values.labels import (
    compare_labels,
    has_other_unit,
    normalize_label,
    select_measure,
    select_range_end,
    split_range,
)
from outrider.pages.values.named_elements import PAIR
from outrider.pages.values.offered_value import OfferedValue, TextReader, split_list, tidy_value
from outrider.pages.values.rows import find_declared_groups, find_row_groups, read_table
from outrider.pages.values.shown import ShownReader, remove_marks
from outrider.pages.values.tables import Row
from outrider.pages.values.value_fields import ValueField, ValuePlan

REMARK = re.compile(r"\((?!\d+\))[^()]+\)")


@dataclass(frozen=True)
class PageLocale:
    """A page's address, which relative ones start from, and its language."""

    url: str
    language: str = ""


@dataclass(frozen=True)
class FoundValue:
    """A value with its evidence.

    Attributes:
        value: The value in the form of the schema.
        quote: The text of the page that it was read from.
        place, source: The location of that text.
        confidence: From 0 to 1.
        others: Different values from other places that match nearly as well.
        rows: If the value is a list of objects, these with the evidence of each.
    """

    value: Any
    quote: str
    place: str
    source: str
    confidence: float
    others: tuple[str, ...] = ()
    rows: tuple["ExtractedRow", ...] = ()

    @classmethod
    def join_rows(cls, plan: ValuePlan, rows: list["ExtractedRow"]) -> "FoundValue":
        """Return a list of objects as one value."""
        found = [each for row in rows for each in row.values.values()]
        place = f"{rows[0].place} to {rows[-1].place}"
        confidence = round(sum(each.confidence for each in found) / len(found), 2)
        data = [row.to_data(plan.fields) for row in rows]
        return cls(data, found[0].quote, place, found[0].source, confidence, rows=tuple(rows))

    def to_evidence(self) -> dict[str, Any]:
        """Return everything but the value, as JSON."""
        evidence: dict[str, Any] = {"quote": self.quote[:300], "place": self.place, "confidence": self.confidence}
        rows = [
            {"place": row.place, "evidence": {name: found.to_evidence() for name, found in row.values.items()}}
            for row in self.rows
        ]
        return evidence | ({"others": list(self.others)} if self.others else {}) | ({"rows": rows} if rows else {})


@dataclass(frozen=True)
class ExtractedRow:
    """The values of one object by field name, and its place."""

    place: str
    values: dict[str, FoundValue] = field(default_factory=dict)

    def to_data(self, fields: Iterable[ValueField]) -> dict[str, Any]:
        """Return the values as an object of the schema; fields without a value are left out."""
        data: dict[str, Any] = {}
        for each in fields:
            if found := self.values.get(each.name):
                inner = data
                for name in each.path[:-1]:
                    inner = inner.setdefault(name, {})
                inner[each.path[-1]] = found.value
        return data


def extract_values(plan: ValuePlan, html: str | None, document: Document, url: str) -> list[ExtractedRow]:
    """Return one row for an object, or all rows of a list.

    The list is the page's best one.

    Args:
        plan: The fields to look for.
        html: The source, if it is a web page.
        document: The page that was read; for documents other than web pages, its tables and lines are used.
        url: What relative addresses start from.
    """
    page = PageLocale(url, document.language or "" if document is not None else "")
    groups: Iterable[list[Row]]
    if html is None:
        groups = [read_table(table, f"table {number}") for number, table in enumerate(document.tables, 1)]
        offers = _read_document(document)
    else:
        from outrider.pages.extraction.main_content import parse_html

        tree = parse_html(html)
        root = tree.css_first("html[lang]")
        language = (root.attributes.get("lang") or "").lower() if root is not None else page.language
        page = PageLocale(url, infer_region(language, html))
        microdata = list(read_microdata(tree))  # pages hide it from readers
        declared = find_declared_groups(tree) if plan.has_rows else []
        remove_marks(tree)
        groups, offers = chain(declared, find_row_groups(tree)), _read_page(tree, microdata)
    if plan.rows_at is not None:
        return _choose_rows(plan, groups, page)
    row = fill_row(plan, ("", list(offers)), page)
    lists = [(each, each.rows) for each in plan.fields if each.rows is not None]
    groups = list(groups) if lists else []
    for each, inner in lists:
        if rows := _choose_rows(inner, groups, page):
            row.values[each.name] = FoundValue.join_rows(inner, rows)
    return [row]


def infer_region(language: str, html: str) -> str:
    """Return the language with the region that orders day and month as the page's dates do."""
    max_chars = 1_000_000
    if language not in ("", "en", "en-ca"):
        return language
    numbers = re.findall(r"(?<![\d/-])(\d{1,2})[/-](\d{1,2})[/-](?:20|19)?\d\d(?![\d/-])", html[:max_chars])
    is_month_first, is_day_first = (any(12 < int(pair[place]) < 32 for pair in numbers) for place in (1, 0))
    if is_month_first == is_day_first:
        return language
    return "en-us" if is_month_first else "en-gb"


def _read_page(tree: Any, microdata: list[OfferedValue]) -> Iterator[OfferedValue]:
    objects = [(describe_json_ld(data), data) for data in read_json_ld(tree)]
    objects = [each for each in objects if each[0] != "JSON-LD SiteNavigationElement"]
    # The page is about none of these if it describes anything else; then a site's name and phone do not count.
    factors = dict.fromkeys(("WebSite", "BreadcrumbList", "ListItem", "Person", "Organization"), 0.75)
    factors |= dict.fromkeys(
        ("ImageObject", "VideoObject", "Review", "Question", "OfferCatalog", "ItemList", "object"), 0.78
    )
    factors = {f"JSON-LD {kind}": factor for kind, factor in factors.items()}
    factors |= {place: 0.78 for place, _ in objects if place.endswith("Page")}
    subject_count = sum(place not in factors for place, _ in objects)
    has_subject, is_only_subject = subject_count > 0, subject_count == 1
    for place, data in objects:
        factor = factors.get(place, 1.0)
        if not has_subject or factor > min(factors.values()):
            yield from (replace(offer, weight=factor * offer.weight) for offer in flatten_json(data, place))
        if is_only_subject and place not in factors and isinstance(name := data.get("name"), str):
            yield OfferedValue(("title",), tidy_value(unescape(name)), "json-ld", f"{place} name", 0.95)
    yield from microdata
    yield from read_meta(tree)
    if tree.body is not None:
        yield from ShownReader(TextReader()).read(tree.body)


def _read_document(document: Document) -> Iterator[OfferedValue]:
    """Yield the labelled values of a document: its facts, tables of two columns, and lines with a colon."""
    max_lines = 20_000
    for name in ("title", "author", "published", "description", "language"):
        if text := getattr(document, name):
            yield OfferedValue((name,), text, "meta", f"the document's {name}", 0.8)
    for number, table in enumerate(document.tables, 1):
        for row in table:
            if len(row) == 2 and all(row):
                yield OfferedValue((row[0].rstrip(" :"),), row[1], "table", f"table {number}, row {row[0]!r}", 0.9)
    for line in document.text.splitlines()[:max_lines]:
        if match := PAIR.fullmatch(line.strip()):
            yield OfferedValue((match[1].strip(),), match[2].strip(), "pair", f"line {line.strip()[:80]!r}", 0.85)


def _choose_rows(plan: ValuePlan, groups: Iterable[list[Row]], page: PageLocale) -> list[ExtractedRow]:
    """Return the rows of the group that fills most fields, best by confidence and number."""
    min_title_fit = 0.85
    best: list[ExtractedRow] = []
    best_score = 0.0
    for group in groups:
        rows = [row for row in (fill_row(plan, each, page) for each in group) if row.values]
        fullest = max((len(row.values) for row in rows), default=0)
        # One text under two names is one value.
        value_counts = [len({(each.place, str(each.value)) for each in row.values.values()}) for row in rows]
        full_count = sum(count >= min(2, len(plan.fields)) for count in value_counts)
        counts = Counter(chain.from_iterable(row.values for row in rows))
        if 2 * full_count <= len(rows) or 2 * max(counts.values()) <= len(rows):
            continue  # values that do not belong to the same object
        # Rows with much less than the others are headings, ads, and links to more.
        rows = [
            row
            for row in rows
            if (2 * len(row.values) >= fullest or row.place.startswith("table ")) and plan.required <= row.values.keys()
        ]
        # Nor is a heading alone an object beside others.
        rows = [
            row for row in rows if len(row.values) > 1 or {each.source for each in row.values.values()} != {"element"}
        ]
        links = {each.name for each in plan.fields if each.schema.get("format") in ("uri", "url")}
        sources = {
            (name, "element" if name in links and found.source == "class" else found.source)
            for row in rows
            for name, found in row.values.items()
            if 2 * counts[name] >= len(rows)  # one row with a date does not make a list of events
        }
        is_guess = len(plan.fields) > 1 and {source for _, source in sources} == {"element"}
        # Links with a title are everywhere on a page.
        titles = {each.name for each in plan.fields if compare_labels(each.path[-1], "title") >= min_title_fit}
        is_table = {source for _, source in sources} == {"table"}
        is_guess |= (
            {name for name, _ in sources} <= links | titles and len(plan.fields) > len(links | titles) and not is_table
        )
        # One value of several under a usual name, and links, are not a list: teasers and menus look like that.
        is_guess |= len({name for name, _ in sources}) < min(2, len(plan.fields))
        # One row under headings of columns is a list of one if it has most fields.
        is_single = is_table and " row " in rows[0].place and 2 * fullest >= len(plan.fields)
        if is_guess or len(rows) < (1 if is_single else 2):
            continue
        filled = sum(found.confidence for row in rows for found in row.values.values()) / (len(rows) * len(plan.fields))
        score = filled**2 * len(rows) ** 0.5
        if score > best_score:
            best, best_score = rows, score
    return best


def fill_row(plan: ValuePlan, row: Row, page: PageLocale) -> ExtractedRow:
    """Return the best value of each field that has one."""
    place, candidates = row
    min_shared_confidence = 0.5
    found = {each.name: choose_value(each, candidates, page) for each in plan.fields if each.rows is None}
    values = {name: value for name, value in found.items() if value is not None}
    # A cell that is faintly like several fields holds none of them, or all in one.
    counts = Counter((value.place, str(value.value)) for value in values.values())
    values = {
        name: value
        for name, value in values.items()
        if counts[value.place, str(value.value)] == 1 or value.confidence >= min_shared_confidence
    }
    return ExtractedRow(place, values)


ScoredOffer = tuple[float, Any, OfferedValue]


def score_offers(value_field: ValueField, candidates: list[OfferedValue], page: PageLocale) -> list[ScoredOffer]:
    """Return the offers that fit a field with their scores and values, none if the best one says that there is none."""
    min_confidence, absence = 0.35, 0.0
    offers: list[ScoredOffer] = []
    range_field = value_field.drop_range_end()
    fits: dict[tuple[str, ...], float] = {}  # many values of a page have the same labels
    for candidate in candidates:
        is_range = range_field is not None and split_range(candidate.text) is not None
        labels = (*candidate.labels, candidate.context, candidate.source, str(is_range))
        if (fit := fits.get(labels)) is None:
            asked = range_field if range_field is not None and is_range else value_field
            fit = fits[labels] = asked.compare_offer(candidate)
        score = candidate.weight * fit
        if score < min_confidence:
            continue
        if (value := _read_offer(value_field, candidate, page)) is not None:
            offers.append((score, value, candidate))
        elif candidate.text.casefold() in NO_VALUES:
            absence = max(absence, score)
    return offers if absence <= max((score for score, _, _ in offers), default=0.0) else []


def choose_value(value_field: ValueField, candidates: list[OfferedValue], page: PageLocale) -> FoundValue | None:
    """Return a field's best value, or None.

    It is None if no place offers a value, or if places differ.
    """
    min_near = 0.97
    first_counts = {"json-ld", "microdata", "meta", "element"}  # other texts contain several values without an order
    offers = score_offers(value_field, candidates, page)
    if not offers or value_field.is_list:
        return _join_values(value_field, offers, page) if offers else None
    offers = _discount_repeated(offers)
    top = max(score for score, _, _ in offers)
    near = [offer for offer in offers if offer[0] >= min_near * top]
    sources: dict[str, set[str]] = {str(value): set() for _, value, _ in near}
    for _, value, offer in offers:
        sources.get(str(value), set()).add(offer.source)
    # Of values that fit nearly as well, the one that most kinds of places name, or the text that it begins with.
    _, value, best = max(near, key=lambda offer: (len(sources[str(offer[1])]), offer[0]))
    text, count = f"{value} ".casefold(), len(sources[str(value)])
    begins = [
        each for each in near if text.startswith(f"{each[1]} ".casefold()) and len(sources[str(each[1])]) >= count
    ]
    score, value, best = min(begins, key=lambda offer: (len(str(offer[1])), -offer[0]))
    confidence = score
    for other_source in sources[str(value)] - {best.source}:
        agreeing = max(each for each, same, candidate in offers if candidate.source == other_source and same == value)
        confidence = 1 - (1 - confidence) * (1 - agreeing / 2)
    others = [str(each) for given, each, _ in offers if given >= 0.9 * score and not _is_same(each, value)]
    # Before the first heading a page tells about its subject, and below the others about parts of it.
    rivals = [
        each
        for given, each, offer in offers
        if given >= 0.99 * score and not _is_same(each, value) and (best.context or not offer.context)
    ]
    if rivals and best.source not in first_counts:
        return None
    confidence *= 0.8 if others else 1.0
    return FoundValue(
        value, best.text, best.place, best.source, round(min(confidence, 0.99), 2), tuple(dict.fromkeys(others))[:2]
    )


def _discount_repeated(offers: list[ScoredOffer]) -> list[ScoredOffer]:
    """Return offers with less for microdata of many values: they belong to the page's parts, as authors of posts do."""
    max_values, factor = 2, 0.6
    values: dict[tuple[str, ...], set[str]] = {}
    for _, value, offer in offers:
        if offer.source == "microdata":
            values.setdefault(offer.labels, set()).add(str(value))
    repeated = {labels for labels, found in values.items() if len(found) > max_values}
    return [
        (score * factor if offer.source == "microdata" and offer.labels in repeated else score, value, offer)
        for score, value, offer in offers
    ]


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values differ at most in punctuation, as phone numbers do, or in more words at the end."""
    if isinstance(value, str) and isinstance(other, str):
        short, long = sorted((value.casefold(), other.casefold()), key=len)
        if long.startswith(f"{short} "):
            return True
        return re.sub(r"[\W_]", "", value).casefold() == re.sub(r"[\W_]", "", other).casefold()
    return bool(value == other)


def _read_offer(value_field: ValueField, offer: OfferedValue, page: PageLocale) -> Any:
    """Return an offer's value for a field: its link for an address, its time for a date, else its text."""
    form, text = value_field.schema.get("format"), offer.text
    if value_field.schema.get("type") in ("number", "integer"):
        text = select_range_end(value_field.path[-1], select_measure(value_field.path[-1], text))
    if form in ("uri", "url"):
        is_declared = offer.source in ("json-ld", "microdata", "meta", "element")
        text = (offer.link or (text if is_declared or "://" in text else "")).strip()
        text = text.replace(" ", "%20") if offer.link or offer.source == "element" else text
    elif form == "email":
        text = unquote(offer.link.removeprefix("mailto:").partition("?")[0]) if offer.link[:7] == "mailto:" else text
    elif form in ("date", "date-time"):
        text = offer.when or text
    elif is_no_value(value_field, offer, text):
        return None
    return convert_value(text, value_field.schema, page.url, page.language)


def is_no_value(value_field: ValueField, offer: OfferedValue, text: str) -> bool:
    """Return whether a text is a label, a remark, several values or one of another kind."""
    max_words, max_label_chars = 4, 60
    kind = value_field.schema.get("type", "string")
    is_label = kind != "boolean" and normalize_label(text) in value_field.list_own_labels()
    is_label |= len(text) <= max_label_chars and (text[-1:] in (":", "\uff1a") or REMARK.fullmatch(text) is not None)
    is_count = value_field.is_list and kind == "string" and text.isdecimal()
    # Several values without a separator.
    is_joined = len(offer.parts) > 1 and not value_field.is_list
    is_joined = is_joined and offer.text.replace(" ", "") == "".join(offer.parts).replace(" ", "")
    is_long = offer.source == "class" and kind in ("number", "integer") and len(text.split()) > max_words
    is_other = is_label or is_count or is_joined or is_long or offer.source == "link"
    return is_other or has_other_unit(value_field.path[-1], text)


def _join_values(value_field: ValueField, offers: list[ScoredOffer], page: PageLocale) -> FoundValue:
    """Return all values of the best place: its items, values under the same label, or values of an enumeration."""
    score, value, best = max(offers, key=lambda offer: offer[0])
    origin = (best.labels, best.source, best.context)
    values = [each for _, each, offer in offers if (offer.labels, offer.source, offer.context) == origin]
    values = list(dict.fromkeys(values))
    if len(best.parts) > 1:
        values = [convert_value(part, value_field.schema, page.url, page.language) for part in best.parts]
    elif len(values) == 1 and isinstance(value, str):
        values = [convert_value(part, value_field.schema, page.url, page.language) for part in split_list(best.text)]
    distinct = list(dict.fromkeys(each for each in values if each is not None))
    return FoundValue(distinct, best.text, best.place, best.source, round(score, 2))
