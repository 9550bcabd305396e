"""Sanitize untrusted texts for display."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

UNTRUSTED_BLOCK = re.compile(r"<untrusted-(\w+) from='([^'\n]*)'>\n(.*)\n</untrusted-\1>", re.DOTALL)


@dataclass(frozen=True)
class TextExcerpt:
    """The beginning of a text; `total` is its length in characters, `is_cut` whether more follows.

    Attributes:
        stranger: The origin of an untrusted text; empty for our own.
    """

    text: str
    total: int
    is_cut: bool
    stranger: str = ""


@dataclass(frozen=True)
class ArgumentView:
    """One argument of a call; `is_code` for JSON and texts of several lines."""

    name: str
    value: TextExcerpt
    is_code: bool


def cut_excerpt(text: str, limit: int) -> TextExcerpt:
    """Return as much of a text as fits into `limit` bytes of HTML."""
    # Limits apply to HTML, so each character counts in its escaped form.
    escaped_sizes = {"&": 5, "<": 4, ">": 4, '"': 5, "'": 5}
    if len(text) * 5 <= limit:
        return TextExcerpt(text, len(text), is_cut=False)
    spent = 0
    for at, character in enumerate(text[: limit + 1]):
        spent += escaped_sizes.get(character) or len(character.encode("utf-8", "replace"))
        if spent > limit:
            return TextExcerpt(text[:at], len(text), is_cut=True)
    return TextExcerpt(text[:limit], len(text), is_cut=len(text) > limit)


def excerpt_result(text: str, limit: int) -> TextExcerpt:
    """Return a tool result as the agent read it, without the boundary marks."""
    match = UNTRUSTED_BLOCK.fullmatch(text.strip())
    if match is None:
        return cut_excerpt(text, limit)
    inner = cut_excerpt(match[3], limit)
    return TextExcerpt(inner.text, inner.total, inner.is_cut, match[2] or "others")


def escape_invisible(text: str) -> str:
    """Spell out invisible and bidirectional characters."""
    invisible = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")
    if text.isascii() and text.isprintable():
        return text
    escaped: list[str] = []
    for character in text:
        number = ord(character)
        if character in "\n\t" or unicodedata.category(character) not in invisible:
            escaped.append(character)
        else:
            escaped.append(f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
    return "".join(escaped)


def build_argument_views(arguments: Any, limit: int) -> list[ArgumentView]:
    """List arguments by name within `limit` bytes; anything but an object is one unnamed argument."""
    named_arguments = arguments if isinstance(arguments, Mapping) else {} if arguments is None else {"": arguments}
    found: list[ArgumentView] = []
    for name, value in named_arguments.items():
        excerpt = cut_excerpt(_format_value(value), max(limit, 40))
        limit -= len(excerpt.text) + len(str(name))
        found.append(
            ArgumentView(escape_invisible(str(name))[:200], excerpt, not isinstance(value, str) or "\n" in value)
        )
    return found


def format_arguments(arguments: Any) -> str:
    """Return all arguments as one text."""
    if not isinstance(arguments, Mapping):
        return escape_invisible(_format_json(arguments))
    return "\n\n".join(f"{escape_invisible(str(name))}:\n{_format_value(value)}" for name, value in arguments.items())


def sanitize_url(address: Any) -> str:
    """Return the URL if its scheme is http or https, else ""."""
    text = str(address or "")
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc else ""


def _format_value(value: Any) -> str:
    return escape_invisible(value if isinstance(value, str) else _format_json(value))


def _format_json(value: Any) -> str:
    """Format JSON, in one line if it is short."""
    max_line_chars = 90  # characters that still fit on one line
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if len(line) <= max_line_chars else json.dumps(value, ensure_ascii=False, indent=2, default=str)
