"""Read the items of lists that a heading or a class names, such as ingredients and steps."""

from collections.abc import Iterator
from typing import Any

from outrider.pages.values.offered_value import OfferedValue, TextReader
from outrider.pages.values.phrases import CLASS_BORDER, HEADING_TAGS, MAX_LABEL_CHARS, find_next_element

MAX_ITEMS = 100


def read_named_list(node: Any, texts: TextReader, lead: str) -> Iterator[OfferedValue]:
    """Yield the items of a list under the names of its class, as in `<ul class="ingredient-list">`."""
    max_names, weight = 3, 0.62
    names = (node.attributes.get("class") or "").split()[:max_names] if node.tag in ("ul", "ol") else []
    items = _read_items(_list_items([node]), texts) if names else ()
    if len(items) > 1:
        for name in names:
            label = " ".join(filter(None, CLASS_BORDER.split(name)))
            yield OfferedValue((label,), " ".join(items), "class", f"{lead}class {name!r}", weight, parts=items)


def read_section_items(heading: Any, text: str, texts: TextReader, place: str) -> Iterator[OfferedValue]:
    """Yield all items under a heading, or all paragraphs if there are none, up to the next heading of its rank."""
    weight, min_share = 0.68, 0.6
    label = text.rstrip(" :\uff1a")
    if not 0 < len(label) <= MAX_LABEL_CHARS or heading.tag not in HEADING_TAGS:
        return
    parts = list(_list_section(heading))
    found = _list_items(parts) or [each for part in parts for each in part.css("p")[:MAX_ITEMS]]
    items = _read_items(found, texts)
    if len(items) < 2 or sum(map(len, items)) < min_share * sum(len(texts.read(part)) for part in parts):
        return
    yield OfferedValue((label,), " ".join(items), "heading", place, weight, parts=items)


def _read_items(nodes: list[Any], texts: TextReader) -> tuple[str, ...]:
    """Return the texts of items without drawn bullets and boxes."""
    bullets = " \u2022\u00b7\u25aa\u25a0\u25a1\u25a2\u2610\u2013-"
    return tuple(filter(None, (texts.read(node).lstrip(bullets) for node in nodes)))


def _list_items(parts: list[Any]) -> list[Any]:
    """Return the items of the lists in some elements, without lists inside items and hidden items."""
    found = [item for part in parts for item in part.css("li")[:MAX_ITEMS]]
    return [item for item in found if item.css_first("li li, ul, ol") is None][:MAX_ITEMS]


def _list_section(heading: Any) -> Iterator[Any]:
    """Yield the elements between a heading and the next one of its rank or a higher one."""
    max_wrappers, max_parts = 2, 40
    ranks = [f"h{number}" for number in range(1, int(heading.tag[1]) + 1)]
    above = heading
    for _ in range(max_wrappers):  # a heading may have a wrapper of its own
        if above.parent is None or find_next_element(above) is not None or above.parent.tag in ("body", "li", "td"):
            break
        above = above.parent
    part = find_next_element(above)
    for _ in range(max_parts):
        if part is None or part.tag in ranks or part.css_first(", ".join(ranks)) is not None:
            return
        yield part
        part = find_next_element(part)
