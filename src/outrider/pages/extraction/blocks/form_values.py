"""Read values of form fields: selected, filled in or measured."""

import re
from typing import Any

from outrider.pages.extraction.blocks.page_blocks import Attributes

TEXT_FIELD_TYPES = frozenset({
    "", "text", "number", "email", "tel", "url", "search", "date", "time", "datetime-local", "month", "week",
})  # fmt: skip
MARKUP_PATTERN = re.compile(r"</?[a-z][^<>]*>|\[/?(?:url|img|quote|b)\b", re.IGNORECASE)


def read_selected_options(node: Any) -> str:
    """Return the options that a select element declares as selected, without those that only ask to choose."""
    max_options = 50
    options = [each for each in node.css("option[selected]")[:max_options] if each.attributes.get("value") != ""]
    return ", ".join(filter(None, [" ".join(each.text().split()) for each in options]))


def read_input_value(attributes: Attributes) -> str:
    """Return the value that an input element shows as text."""
    kind = (attributes.get("type") or "").lower()
    return keep_prose(attributes.get("value") or "") if kind in TEXT_FIELD_TYPES else ""


def keep_prose(text: str) -> str:
    """Return a field's text unless it is markup that repeats the page for use on other sites."""
    return "" if MARKUP_PATTERN.search(text) else text.strip()


def read_gauge(attributes: Attributes, tag: str) -> str:
    """Return what a meter or progress element without words shows; progress that has not begun shows nothing."""
    value, most = (attributes.get("value") or "").strip(), (attributes.get("max") or "").strip()
    if not value or (tag == "progress" and not value.strip("0.")):
        return ""
    return f"{value}/{most}" if most else value
