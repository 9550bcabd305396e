"""Replace lone surrogates, which JSON cannot encode.

One in a result would end the whole connection, and a message with one would be dropped, so that its client would wait
forever. They come from file names that are not UTF-8, and from clients that cut a text within a character.
"""

import re
from typing import Any

SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Matches every escape as a whole, so that none is mistaken for the end of another.
JSON_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def replace_surrogate_escapes(line: str) -> str:
    """Replace escaped lone surrogates, which RFC 8259 allows, by U+FFFD in a line of JSON."""
    if not SURROGATE_ESCAPE.search(line):
        return line
    return JSON_ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], line)


def replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates in JSON-able data; other values stay unchanged."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {replace_surrogates(name): replace_surrogates(item) for name, item in value.items()}
    return [replace_surrogates(item) for item in value] if isinstance(value, list | tuple) else value
