"""What stands in a template for a value that nobody has filled in yet."""

from typing import Any


def is_placeholder(value: Any) -> bool:
    """Whether a value stands where a real one should: empty, or with the word "replace" in it."""
    text = "" if value is None or isinstance(value, bool | list | dict) else str(value).strip()
    return not text or "replace" in text.lower()
