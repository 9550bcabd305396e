"""Match addresses by a part or by a pattern with stars."""

import re

from outrider.core.errors import InvalidInput


class UrlPattern:
    """A part of an address, or a pattern of its end (with a scheme: of all of it) in which `*` is any text.

    Raises InvalidInput if it is empty or too long.
    """

    def __init__(self, text: str) -> None:
        max_chars = 500
        if not text.strip() or len(text) > max_chars:
            hint = "a part of the address, for instance /api/, or with stars https://*.example.com/*"
            raise InvalidInput(f"pattern: 1 to {max_chars} characters are needed", hint=hint)
        self.text = text.strip()
        full_pattern = self.text if self.text.startswith(("http://", "https://")) else f"*{self.text}"
        full_pattern = full_pattern if "*" in self.text else f"{full_pattern}*"
        self._pattern = re.compile(".*".join(map(re.escape, re.split(r"\*+", full_pattern))), re.DOTALL)
        # The browser's own patterns know `?` (one character) and escape with a backslash.
        self.for_browser = re.sub(r"([\\?])", r"\\\1", re.sub(r"\*+", "*", full_pattern))

    def matches_url(self, url: str) -> bool:
        """Return whether an address matches."""
        return self._pattern.fullmatch(url) is not None
