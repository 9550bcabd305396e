"""Collect the values that a page declares for machines: JSON-LD, microdata, Open Graph and other meta elements."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from outrider.pages.extraction.metadata.page_facts import parse_json_ld
from outrider.pages.values.labels import normalize_label
from outrider.pages.values.offered_value import ELEMENT_BORDER, OfferedValue, tidy_value

JSON_LD_WEIGHT, MICRODATA_WEIGHT, META_WEIGHT = 0.97, 0.96, 0.85
MICRODATA_ATTRIBUTES = ("content", "datetime", "href", "src")
MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
META_PREFIXES = ("og:", "article:", "product:", "book:", "twitter:", "dc.", "dcterms.", "citation_")


def read_json_ld(tree: Any) -> list[dict[str, Any]]:
    """Return the objects of a page's JSON-LD, including the objects in lists of items."""
    max_objects = 500
    objects: list[dict[str, Any]] = []
    for script in tree.css('script[type="application/ld+json"]')[:50]:
        for found in parse_json_ld(script.text(), max_objects):
            objects.append(found)
            entries = found.get("itemListElement") if found.get("@type") != "BreadcrumbList" else None
            for entry in entries[:max_objects] if isinstance(entries, list) else ():
                item = entry.get("item", entry) if isinstance(entry, dict) else None
                objects += [item] if isinstance(item, dict) else []
    return objects[:max_objects]


def flatten_json(data: dict[str, Any], place: str, labels: tuple[str, ...] = ()) -> Iterator[OfferedValue]:
    """Yield the values of a JSON-LD object; for an object, also its text or name."""
    max_depth, max_members = 4, 30
    is_old_price = str(data.get("priceType")).endswith(("ListPrice", "StrikethroughPrice", "SRP"))
    for key, value in list(data.items())[:200]:
        if key.startswith("@") or key == "position":  # an ordinal
            continue
        path = (*labels, "old price" if key == "price" and is_old_price else key)
        for member in (value if isinstance(value, list) else [value])[:max_members]:
            if isinstance(member, dict) and member.get("@type") == "HowToSection" != data.get("@type"):
                yield from flatten_json({"@type": "HowToSection", key: member.get("itemListElement")}, place, labels)
                continue
            inner, text = summarize_object(member) if isinstance(member, dict) else ("", member)
            if isinstance(text, str | int | float) and (text := tidy_value(unescape(unescape(str(text))))):
                yield OfferedValue(path, text, "json-ld", f"{place} {'.'.join((*labels, key))}{inner}", JSON_LD_WEIGHT)
            if isinstance(member, dict) and len(path) < max_depth:
                yield from flatten_json(member, place, path)


def summarize_object(data: dict[str, Any], max_levels: int = 3) -> tuple[str, str]:
    """Return an object as one text, and the property with that text: text, name, address or hours."""
    for key in ("text", "name"):
        if isinstance(value := data.get(key), str) and value:
            return f".{key}", value
    if isinstance(address := data.get("address"), dict) and max_levels:
        return ".address", summarize_object(address, max_levels - 1)[1]
    if "opens" in data and "closes" in data:
        given = data.get("dayOfWeek") or []
        days = [str(day).rpartition("/")[2] for day in (given if isinstance(given, list) else [given])]
        return "", f"{'/'.join(days)} {data['opens']}-{data['closes']}"
    parts = [data.get(f"address{part}") for part in ("Locality", "Region", "Country")]
    parts = [data.get("streetAddress"), *parts[:2], data.get("postalCode"), parts[2]]
    parts = [part.get("name") if isinstance(part, dict) else part for part in parts]
    return "", ", ".join(str(part).strip(" ,") for part in parts if part)


def describe_json_ld(data: dict[str, Any]) -> str:
    """Return the place of a JSON-LD object: its type."""
    kind = data.get("@type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    return f"JSON-LD {kind if isinstance(kind, str) else 'object'}"


def read_microdata(scope: Any) -> Iterator[OfferedValue]:
    """Yield the values of the microdata in an element."""
    menus = ", ".join(f'[itemtype*="{kind}"] [itemprop]' for kind in ("Breadcrumb", "SiteNavigationElement"))
    menu_ids = {node.mem_id for node in scope.css(menus)}
    for node in scope.css("[itemprop]")[:1_000]:
        if node.mem_id in menu_ids:
            continue
        names = (node.attributes.get("itemprop") or "").split()
        text = next((each for name in MICRODATA_ATTRIBUTES if (each := node.attributes.get(name))), None)
        if text is None and "itemscope" in node.attributes:
            inner = node.css_first('[itemprop~="name"]')
            text = inner.text(separator=ELEMENT_BORDER) if inner is not None else None
            is_address = "PostalAddress" in (node.attributes.get("itemtype") or "")
            text = node.text(separator=ELEMENT_BORDER) if text is None and is_address else text
        elif text is None:
            text = node.text(separator=ELEMENT_BORDER)
        if value := tidy_value(text):
            inside = _list_scope_names(node, scope)
            for name in [each for each in names[:3] if each != "position"]:
                yield OfferedValue((*inside, name), value, "microdata", f"itemprop {name}", MICRODATA_WEIGHT)


def _list_scope_names(node: Any, scope: Any) -> tuple[str, ...]:
    """Return the properties whose objects a property belongs to.

    Outer ones come first, and the scope itself is left out.
    """
    max_levels = 30
    names: list[str] = []
    for _ in range(max_levels):
        node = node.parent
        if node is None or node.mem_id == getattr(scope, "mem_id", None):
            break
        if node.attributes and "itemscope" in node.attributes:
            if not (name := node.attributes.get("itemprop")):
                break
            names.insert(0, name)
    return tuple(names)


def read_meta(tree: Any) -> Iterator[OfferedValue]:
    """Yield the values of a page's meta elements, its canonical address and its title."""
    for node in tree.css("meta[content]")[:300]:
        property_name = node.attributes.get("property") or node.attributes.get("name") or ""
        label = property_name.lower()
        for prefix in META_PREFIXES:
            label = label.removeprefix(prefix)
        value = tidy_value(MARKUP.sub(" ", node.attributes.get("content") or ""))
        is_account = label in ("author", "creator") and value.startswith(("http", "@"))
        is_account |= property_name.lower() in ("twitter:creator", "twitter:site") and " " not in value
        if label and value and not is_account:
            labels = tuple(label.replace(":", ".").split("."))
            yield OfferedValue(labels, value, "meta", f"meta {property_name}", META_WEIGHT)
            if len(labels) > 1 and labels[-1] not in ("created", "modified"):  # og:price:amount is a price
                yield OfferedValue((" ".join(labels[:-1]),), value, "meta", f"meta {property_name}", META_WEIGHT * 0.9)
    canonical = tree.css_first("link[rel=canonical][href]")
    if canonical is not None and (address := tidy_value(canonical.attributes.get("href"))):
        yield OfferedValue(("url",), address, "meta", "link rel=canonical", META_WEIGHT)
    yield from _read_title(tree)


def _read_title(tree: Any) -> Iterator[OfferedValue]:
    """Yield a page's title, and the main heading that is in it."""
    min_title_chars, trade_mark = 3, "\u2122"  # headings have it more often than titles
    title = tree.css_first("title")
    if title is None or not (value := tidy_value(title.text())):
        return
    yield OfferedValue(("title",), value, "element", "title element", 0.55)
    title_words = f" {normalize_label(value.replace(trade_mark, ' '))} "
    headings = tree.css("h1")[:3]
    # A heading that links to a page of its own is the site's name.
    headings = [each for each in headings if len(headings) == 1 or each.css_first("a[href]") is None]
    texts = [tidy_value(heading.text(separator=ELEMENT_BORDER)) for heading in headings]
    words = {text: normalize_label(text.replace(trade_mark, " ")) for text in texts if len(text) > min_title_chars}
    places = {text: title_words.find(f" {each} ") for text, each in words.items()}
    # The rest of the title is the site's name, mostly at its end.
    found = [text for text, place in places.items() if place >= 0]
    for text in sorted(found, key=lambda text: places[text])[:1]:
        yield OfferedValue(("title",), text, "element", f"h1 {text[:60]!r}", 0.9)
