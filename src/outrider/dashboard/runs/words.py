"""Texts of strangers as a page shows them: short, with nothing in them that hides, and no link that does something."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

# What a text may take of a page: every character counts as what it becomes in HTML.
COST = {"&": 5, "<": 4, ">": 4, '"': 5, "'": 5}
PLAIN = {"\n", "\t"}
LINE = 90  # characters of JSON that stay in one line
WRAPPED = re.compile(r"<untrusted-(\w+) from='([^'\n]*)'>\n(.*)\n</untrusted-\1>", re.DOTALL)


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a text; `total` is how many characters it has in all, `is_cut` whether more follows.

    Attributes:
        stranger: Where a text that others wrote is from; empty for our own.
    """

    text: str
    total: int
    is_cut: bool
    stranger: str = ""


@dataclass(frozen=True)
class Argument:
    """One argument of a call; `is_code` where it is JSON or has lines of its own."""

    name: str
    value: Excerpt
    is_code: bool


def excerpt(text: str, limit: int) -> Excerpt:
    """As much of a text as takes `limit` bytes of a page, up to five times fewer characters than that."""
    if len(text) * 5 <= limit:
        return Excerpt(text, len(text), is_cut=False)
    spent = 0
    for at, character in enumerate(text[: limit + 1]):
        spent += COST.get(character) or len(character.encode("utf-8", "replace"))
        if spent > limit:
            return Excerpt(text[:at], len(text), is_cut=True)
    return Excerpt(text[:limit], len(text), is_cut=len(text) > limit)


def read_by_agent(text: str, limit: int) -> Excerpt:
    """What a tool gave the agent to read, without the marks around what strangers wrote."""
    match = WRAPPED.fullmatch(text.strip())
    if match is None:
        return excerpt(text, limit)
    inner = excerpt(match[3], limit)
    return Excerpt(inner.text, inner.total, inner.is_cut, match[2] or "others")


def visible(text: str) -> str:
    """The text with what cannot be seen spelled out: what turns a line around, joins, or takes no room."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _shows(character) else _spelled(character) for character in text)


def spelled_out(arguments: Any, limit: int) -> list[Argument]:
    """Arguments by name, together within `limit` bytes of a page; anything else than an object is one without name."""
    given = arguments if isinstance(arguments, Mapping) else {} if arguments is None else {"": arguments}
    found: list[Argument] = []
    for name, value in given.items():
        shown = excerpt(_in_words(value), max(limit, 40))
        limit -= len(shown.text) + len(str(name))
        found.append(Argument(visible(str(name))[:200], shown, not isinstance(value, str) or "\n" in value))
    return found


def as_text(arguments: Any) -> str:
    """Arguments as one text, whole."""
    if not isinstance(arguments, Mapping):
        return visible(_in_json(arguments))
    return "\n\n".join(f"{visible(str(name))}:\n{_in_words(value)}" for name, value in arguments.items())


def web_address(address: Any) -> str:
    """The address if it is one of the web, else nothing: a link must not run what stands in it."""
    text = str(address or "")
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc else ""


def _in_words(value: Any) -> str:
    return visible(value if isinstance(value, str) else _in_json(value))


def _in_json(value: Any) -> str:
    """In one line if it is short."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if len(line) <= LINE else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _shows(character: str) -> bool:
    return character in PLAIN or unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")


def _spelled(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
