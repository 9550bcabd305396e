"""Replace secrets in what a run says and stores."""

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from outrider.core.result import Result, TextBlock


class SecretFilter:
    """Replaces the values of secrets in texts.

    Args:
        values: The name of each value.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = frozenset(value for value in values if value)
        # The longest first, because one secret may be a part of another.
        ordered = sorted(self.values, key=len, reverse=True)
        self._patterns = [(_build_pattern(value), f"[secret {values[value]}]") for value in ordered]

    def hide(self, text: str) -> str:
        """Return a text without them."""
        for pattern, mark in self._patterns:
            text = pattern.sub(lambda _, mark=mark: mark, text)
        return text

    def hide_in(self, value: Any) -> Any:
        """Return JSON without them."""
        if isinstance(value, dict):
            return {self.hide(str(key)): self.hide_in(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide_in(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            hidden = self.hide(str(value))
            return value if hidden == str(value) else hidden
        return self.hide(value) if isinstance(value, str) else value

    def hide_in_result(self, result: Result) -> Result:
        """Return a result without them."""
        return Result((TextBlock(self.hide(result.text)),), self.hide_in(result.data), is_error=result.is_error)


def _build_pattern(value: str) -> re.Pattern[str]:
    """Return the pattern of a value in plain form, or as addresses, JSON, HTML or a mix of them write it."""
    # Pages collapse white space; one pattern for a run of it, because several would try all ways to share it.
    space = r"(?:\s|%20|%0[AaDd]|%09|\+|&nbsp;|\\[nrt])+"
    pieces = re.split(r"(\s+)", value)
    return re.compile(
        "".join(space if piece.isspace() else "".join(map(_build_character_pattern, piece)) for piece in pieces)
    )


def _build_character_pattern(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    forms = {character, html.escape(character), json.dumps(character)[1:-1], repr(character)[1:-1]}
    forms |= {f"&#{ord(character)};", f"&#x{ord(character):x};"}
    quoted = "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
    forms |= {quoted, quoted.lower()}
    return f"(?:{'|'.join(sorted(map(re.escape, forms), reverse=True))})"
