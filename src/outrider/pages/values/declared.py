"""Collect the values that a page declares for machines: JSON-LD, microdata, Open Graph and other meta elements."""

from collections.abc import Iterator
from typing import Any

from outrider.pages.extraction.metadata.page_facts import parse_json_ld
from outrider.pages.values.offered_value import OfferedValue, tidy_value

JSON_LD_WEIGHT, MICRODATA_WEIGHT, META_WEIGHT = 0.97, 0.96, 0.85
MICRODATA_ATTRIBUTES = ("content", "datetime", "href", "src")
META_PREFIXES = ("og:", "article:", "product:", "book:", "twitter:", "dc.", "dcterms.")


def read_json_ld(tree: Any) -> list[dict[str, Any]]:
    """Return the objects of a page's JSON-LD, those of lists of items as objects of their own."""
    max_objects = 500
    objects: list[dict[str, Any]] = []
    for script in tree.css('script[type="application/ld+json"]')[:50]:
        for found in parse_json_ld(script.text(), max_objects):
            objects.append(found)
            entries = found.get("itemListElement")
            for entry in entries[:max_objects] if isinstance(entries, list) else ():
                item = entry.get("item", entry) if isinstance(entry, dict) else None
                objects += [item] if isinstance(item, dict) else []
    return objects[:max_objects]


def flatten_json(data: dict[str, Any], place: str, labels: tuple[str, ...] = ()) -> Iterator[OfferedValue]:
    """Yield the values of a JSON-LD object. One that is an object with a name counts as that name, too."""
    max_depth, max_members = 4, 30
    for key, value in list(data.items())[:200]:
        if key.startswith("@"):
            continue
        path = (*labels, key)
        for member in (value if isinstance(value, list) else [value])[:max_members]:
            if isinstance(member, dict):
                if name := tidy_value(str(member.get("name") or "")):
                    yield OfferedValue(path, name, "json-ld", f"{place} {'.'.join(path)}.name", JSON_LD_WEIGHT)
                if len(path) < max_depth:
                    yield from flatten_json(member, place, path)
            elif isinstance(member, str | int | float) and (text := tidy_value(str(member))):
                yield OfferedValue(path, text, "json-ld", f"{place} {'.'.join(path)}", JSON_LD_WEIGHT)


def describe_json_ld(data: dict[str, Any]) -> str:
    """Return the place of a JSON-LD object: its type."""
    kind = data.get("@type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    return f"JSON-LD {kind if isinstance(kind, str) else 'object'}"


def read_microdata(scope: Any) -> Iterator[OfferedValue]:
    """Yield the values of the microdata in an element."""
    for node in scope.css("[itemprop]")[:1_000]:
        names = (node.attributes.get("itemprop") or "").split()
        text = next((each for name in MICRODATA_ATTRIBUTES if (each := node.attributes.get(name))), None)
        if text is None and "itemscope" in node.attributes:
            inner = node.css_first('[itemprop~="name"]')
            text = inner.text(separator=" ") if inner is not None else None
        elif text is None:
            text = node.text(separator=" ")
        if value := tidy_value(text):
            inside = _find_scope_name(node, scope)
            for name in names[:3]:
                yield OfferedValue((*inside, name), value, "microdata", f"itemprop {name}", MICRODATA_WEIGHT)


def _find_scope_name(node: Any, scope: Any) -> tuple[str, ...]:
    """Return the property whose object an item's property belongs to, if it is not the scope itself."""
    max_levels = 30
    for _ in range(max_levels):
        node = node.parent
        if node is None or node.mem_id == getattr(scope, "mem_id", None):
            break
        if node.attributes and "itemscope" in node.attributes:
            name = node.attributes.get("itemprop")
            return (name,) if name else ()
    return ()


def read_meta(tree: Any) -> Iterator[OfferedValue]:
    """Yield the values of a page's meta elements, its canonical address and its title."""
    for node in tree.css("meta[content]")[:300]:
        property_name = node.attributes.get("property") or node.attributes.get("name") or ""
        label = property_name.lower()
        for prefix in META_PREFIXES:
            label = label.removeprefix(prefix)
        if label and (value := tidy_value(node.attributes.get("content"))):
            labels = tuple(label.replace(":", ".").split("."))
            yield OfferedValue(labels, value, "meta", f"meta {property_name}", META_WEIGHT)
            if len(labels) > 1:  # og:price:amount is a price
                yield OfferedValue((" ".join(labels[:-1]),), value, "meta", f"meta {property_name}", META_WEIGHT * 0.9)
    canonical = tree.css_first("link[rel=canonical][href]")
    if canonical is not None and (address := tidy_value(canonical.attributes.get("href"))):
        yield OfferedValue(("url",), address, "meta", "link rel=canonical", META_WEIGHT)
    title = tree.css_first("title")
    if title is not None and (value := tidy_value(title.text())):
        yield OfferedValue(("title",), value, "element", "title element", 0.55)
