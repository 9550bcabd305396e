"""Detect template values that were not filled in."""

from typing import Any


def is_placeholder(value: Any) -> bool:
    """Return whether a value is empty or contains the word "replace"."""
    text = "" if value is None or isinstance(value, bool | list | dict) else str(value).strip()
    return not text or "replace" in text.lower()
