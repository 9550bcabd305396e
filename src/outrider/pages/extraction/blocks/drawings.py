"""Read the text of inline drawings (SVG): the labels of charts and diagrams, and the drawing's title."""

from collections.abc import Callable, Iterator
from typing import Any

from outrider.pages.extraction.blocks.page_blocks import Attributes

HiddenTest = Callable[[Any, str, Attributes], bool]
# Presentation attributes, which style sheets can set too (SVG 2, "Presentation attributes"), and positions of text.
STYLE_PROPERTIES = {
    "display": "display", "visibility": "visibility", "opacity": "opacity", "fill-opacity": "opacity",
    "fill": "color", "font-size": "font-size", "transform": "transform", "x": "left", "y": "top",
}  # fmt: skip
TEXT_TAGS = frozenset({"text", "foreignObject"})
MAX_DEPTH = 100  # of elements in a drawing
# Elements whose content is drawn elsewhere or never.
UNDRAWN_TAGS = frozenset({
    "defs", "symbol", "clipPath", "mask", "pattern", "marker", "metadata", "desc", "title", "style", "script",
})  # fmt: skip


def read_drawing(drawing: Any, is_hidden: HiddenTest) -> list[str]:
    """Return the texts that a drawing shows, its title first; nothing if it shows none, as icons do."""
    max_texts = 2_000
    texts: list[str] = []
    for text in _iter_texts(drawing, is_hidden):
        if text and text != (texts[-1] if texts else ""):  # a shadow has the same text
            texts.append(text)
        if len(texts) >= max_texts:
            break
    title = next((node for node in drawing.iter() if node.tag == "title"), None) if texts else None
    name = " ".join(title.text().split()) if title is not None else ""
    return [name, *texts] if name and name not in texts else texts


def _iter_texts(node: Any, is_hidden: HiddenTest, depth: int = 0) -> Iterator[str]:
    """Yield the words of each text element and each piece of HTML in a part of a drawing."""
    for child in node.iter():
        if depth > MAX_DEPTH or not _is_drawn(child, is_hidden):
            continue
        if child.tag in TEXT_TAGS:
            yield " ".join("".join(_iter_words(child, is_hidden, depth)).split())
        else:
            yield from _iter_texts(child, is_hidden, depth + 1)


def _iter_words(node: Any, is_hidden: HiddenTest, depth: int) -> Iterator[str]:
    """Yield the text of an element, with spaces before separately placed parts."""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            yield child.text_content
        elif depth <= MAX_DEPTH and _is_drawn(child, is_hidden):
            yield " " if child.tag != "a" and child.attributes else ""
            yield from _iter_words(child, is_hidden, depth + 1)


def _is_drawn(node: Any, is_hidden: HiddenTest) -> bool:
    tag = node.tag
    if tag in UNDRAWN_TAGS:
        return False
    attributes = node.attributes
    if not attributes:
        return True
    said = [f"{name}:{attributes[key]}" for key, name in STYLE_PROPERTIES.items() if attributes.get(key)]
    if not said:
        return not is_hidden(node, tag, attributes)
    style = ";".join([*said, attributes.get("style") or ""]).replace("color:none", "color:transparent")
    return not is_hidden(node, tag, {**attributes, "style": style})
