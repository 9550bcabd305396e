"""Decide whether text is on the white of an empty page."""

import re
from typing import Any

from outrider.pages.extraction.blocks.hidden_attributes import is_white

BACKGROUND_PATTERN = re.compile(r"background(?:-color|-image)?\s*:\s*([^;}]{0,200})")


class PageBackground:
    """The backgrounds that a page's own source gives to its elements.

    Without a browser only those are known, so a page with other style sheets may be of any color.

    Args:
        body: The page's body node.
    """

    def __init__(self, body: Any) -> None:
        self._root = body.parent or body
        self._is_white_by_rules: bool | None = None
        self._steps_left = 200_000  # up to ancestors, for the whole page

    def is_white_behind(self, node: Any) -> bool:
        """Return whether neither the element nor anything around it has another background than white."""
        if self._is_white_by_rules is None:
            by_others = 'link[rel~="stylesheet" i], [color-scheme], meta[name="color-scheme" i]'
            sources = (node.text() or "" for node in self._root.css("style"))
            self._is_white_by_rules = self._root.css_first(by_others) is None and all(
                "@import" not in source and _is_white_style(source) for source in sources
            )
        if not self._is_white_by_rules:
            return False
        while node is not None and self._steps_left > 0:
            self._steps_left -= 1
            attributes = node.attributes
            if attributes and ("bgcolor" in attributes or "background" in attributes):
                return False
            if not _is_white_style((attributes.get("style") or "") if attributes else ""):
                return False
            node = node.parent
        return self._steps_left > 0


def _is_white_style(source: str) -> bool:
    if "background" not in source and "BACKGROUND" not in source.upper():
        return True
    values = (value.strip().partition(" ")[0] for value in BACKGROUND_PATTERN.findall(source.lower()))
    return all(value in {"none", "transparent", "0"} or is_white(value) for value in values if value)
