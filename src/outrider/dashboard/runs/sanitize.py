"""Texts of strangers as a page shows them: short, with nothing in them that hides, and no link that does something."""

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
    """The beginning of a text; `total` is how many characters it has in all, `is_cut` whether more follows.

    Attributes:
        stranger: Where a text that others wrote is from; empty for our own.
    """

    text: str
    total: int
    is_cut: bool
    stranger: str = ""


@dataclass(frozen=True)
class ArgumentView:
    """One argument of a call; `is_code` where it is JSON or has lines of its own."""

    name: str
    value: TextExcerpt
    is_code: bool


def cut_excerpt(text: str, limit: int) -> TextExcerpt:
    """As much of a text as takes `limit` bytes of a page, up to five times fewer characters than that."""
    # What a text may take of a page: every character counts as what it becomes in HTML.
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
    """What a tool gave the agent to read, without the marks around what strangers wrote."""
    match = UNTRUSTED_BLOCK.fullmatch(text.strip())
    if match is None:
        return cut_excerpt(text, limit)
    inner = cut_excerpt(match[3], limit)
    return TextExcerpt(inner.text, inner.total, inner.is_cut, match[2] or "others")


def escape_invisible(text: str) -> str:
    """The text with what cannot be seen spelled out: what turns a line around, joins, or takes no room."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _shows(character) else _escape_character(character) for character in text)


def build_argument_views(arguments: Any, limit: int) -> list[ArgumentView]:
    """Arguments by name, together within `limit` bytes of a page; anything else than an object is one without name."""
    given = arguments if isinstance(arguments, Mapping) else {} if arguments is None else {"": arguments}
    found: list[ArgumentView] = []
    for name, value in given.items():
        shown = cut_excerpt(_format_value(value), max(limit, 40))
        limit -= len(shown.text) + len(str(name))
        found.append(
            ArgumentView(escape_invisible(str(name))[:200], shown, not isinstance(value, str) or "\n" in value)
        )
    return found


def format_arguments(arguments: Any) -> str:
    """Arguments as one text, whole."""
    if not isinstance(arguments, Mapping):
        return escape_invisible(_format_json(arguments))
    return "\n\n".join(f"{escape_invisible(str(name))}:\n{_format_value(value)}" for name, value in arguments.items())


def sanitize_url(address: Any) -> str:
    """The address if it is one of the web, else nothing: a link must not run what stands in it."""
    text = str(address or "")
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc else ""


def _format_value(value: Any) -> str:
    return escape_invisible(value if isinstance(value, str) else _format_json(value))


def _format_json(value: Any) -> str:
    """In one line if it is short."""
    max_line_chars = 90  # characters of JSON that stay in one line
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if len(line) <= max_line_chars else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _shows(character: str) -> bool:
    plain_whitespace = {"\n", "\t"}
    return character in plain_whitespace or unicodedata.category(character) not in (
        "Cc",
        "Cf",
        "Co",
        "Cn",
        "Cs",
        "Zl",
        "Zp",
    )


def _escape_character(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
