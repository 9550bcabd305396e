"""Decide what noscript elements add: text, or images that a script would load later."""

from typing import Any

from outrider.pages.extraction.blocks.hidden_attributes import is_hidden_by_attributes
from outrider.pages.extraction.blocks.page_blocks import Attributes


class NoscriptReader:
    """Judge the noscript elements of a page.

    Args:
        body: The page's body node.
    """

    def __init__(self, body: Any) -> None:
        self._body = body
        self._checks_left = 20  # each reads the text of the whole page
        self._page_text = ""

    def has_own_text(self, node: Any) -> bool:
        """Return whether a noscript element has text that is not elsewhere on the page.

        Messages about scripts, and short texts that belong to forms or trackers, do not count.
        """
        min_page_chars, min_text_chars = 400, 40  # a text this long is the page itself, as in some forums
        text = " ".join(_list_words(node))
        if len(text) < min_text_chars:
            return False
        is_page = len(text) >= min_page_chars
        if not is_page and ("script" in text.lower() or "cookie" in text.lower() or node.css_first("form, input")):
            return False
        return not self._is_repeated(text)

    def _is_repeated(self, text: str) -> bool:
        sample_chars = 60
        if self._checks_left <= 0:
            return False
        self._checks_left -= 1
        self._page_text = self._page_text or " ".join(self._body.text(separator=" ").split())
        middle = (len(text) - sample_chars) // 2  # beginnings are often titles
        sample = text[max(middle, 0) :][:sample_chars]
        return self._page_text.count(sample) > text.count(sample)


def find_lazy_image(node: Any) -> Attributes | None:
    """Return a noscript element's image, unless shown next to it.

    An image is a visitor counter if it has no size, no set of sizes and no placeholder next to it.
    """
    image = node.css_first("img[src]")
    if image is None or node.css_first("iframe") is not None:
        return None
    attributes = image.attributes
    if is_hidden_by_attributes(attributes):
        return None
    beside = _list_images_beside(node)
    if any(map(_loads_image, beside)):
        return None
    is_sized = "srcset" in attributes or (attributes.get("width") or "0").rstrip("px") not in ("0", "1")
    return attributes if beside or is_sized else None


def _list_words(node: Any) -> list[str]:
    """Return the words of a noscript element without those of its style sheets and scripts."""
    texts: list[str] = [
        inner.text_content or ""
        for inner in node.traverse(include_text=True, skip_empty=True)
        if inner.is_text_node and inner.parent.tag not in ("style", "script", "template", "option")
    ]
    return " ".join(texts).split()


def _list_images_beside(node: Any) -> list[Any]:
    """Return the images in the elements right before and after a node."""
    max_texts = 3  # white space and comments between them
    images = []
    for step in ("prev", "next"):
        sibling = getattr(node, step)
        for _ in range(max_texts):
            if sibling is None or sibling.is_element_node:
                break
            sibling = getattr(sibling, step)
        if sibling is not None and sibling.is_element_node:
            images.append(sibling if sibling.tag in ("img", "amp-img") else sibling.css_first("img"))
    return [image for image in images if image is not None]


def _loads_image(image: Any) -> bool:
    """Return whether an image has an address, possibly one for a script."""
    return any(
        value and value[:5] != "data:" and "/" in value and name not in ("alt", "title", "class", "style")
        for name, value in image.attributes.items()
    )
